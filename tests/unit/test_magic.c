/* SPDX-License-Identifier: MIT */
/* Kinds of files by their first bytes, and images by their names. */

#include "unit.h"

#include "base/own.h"
#include "workspace/magic.h"

#define S(text)                                                                                    \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static void kinds(void **state)
{
	static const struct {
		struct str bytes;
		const char *want;
	} rows[] = {
		{ S(""), "unknown type" },
		{ S("\0"), "unknown type" },
		{ S("\177ELF\2\1\1\0"), "ELF executable" },
		{ S("\177EL"), "unknown type" },
		{ S("\x89PNG\r\n\x1a\n\0\0"), "PNG image" },
		{ S("\xff\xd8\xff\xe0"), "JPEG image" },
		{ S("GIF89a"), "GIF image" },
		{ S("RIFF\x10\0\0\0WEBPVP8 "), "WebP image" },
		{ S("RIFF\x10\0\0\0WAVEfmt "), "WAVE audio" },
		{ S("%PDF-1.7"), "PDF document" },
		{ S("PK\3\4\x14\0"), "ZIP archive (also jar, docx, wheel)" },
		{ S("\x1f\x8b\x08"), "gzip archive" },
		{ S("SQLite format 3\0"), "SQLite database" },
		{ S("\0asm\1\0\0\0"), "WebAssembly module" },
		{ S("\xff\xfeh\0i\0"), "UTF-16 text" },
		{ S("\0\0\0\x18"
		    "ftypmp42"),
		  "MP4 media" },
		{ S("hello\0world"), "unknown type" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct str bytes = guarded(rows[i].bytes);
		assert_string_equal(magic_of(bytes)->what, rows[i].want);
		guarded_free(bytes);
	}
}

static void a_tar_is_known_by_bytes_far_from_its_start(void **state)
{
	char tar[512] = "name";

	(void)state;
	memcpy(tar + 257, "ustar", 5);
	assert_string_equal(magic_of((struct str){ tar, sizeof tar })->what, "tar archive");
	assert_string_equal(magic_of((struct str){ tar, 261 })->what, "unknown type");
}

static void sizes_of_images(void **state)
{
	static const struct {
		struct str bytes;
		uint32_t width, height; /* 0: unknown */
	} rows[] = {
		{ S("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xe0\x08\2\0\0\0"), 640, 480 },
		{ S("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1"), 0, 0 },
		{ S("GIF89a\x2c\1\x0a\0"), 300, 10 },
		{ S("GIF89a\x2c\1\x0a"), 0, 0 },
		{ S("\xff\xd8\xff\xe0\0\4ab\xff\xff\xc0\0\x0b\x08\1\xe0\2\x80\1"), 640, 480 },
		{ S("\xff\xd8\xff\xc4\0\4ab\xff\xc2\0\x0b\x08\0\2\0\3\1"), 3, 2 },
		{ S("\xff\xd8\xff\xe0\0\4ab\xff\xda\0\x0b\x08\1\xe0\2\x80\1"), 0, 0 },
		{ S("\xff\xd8\xff\xe0\xff\xff"
		    "ab"),
		  0, 0 },
		{ S("\xff\xd8\xff\xe0\0\0ab\xff\xc0"), 0, 0 },
		{ S("RIFF\x10\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\1\x2a\x80\2\xe0\1"), 640, 480 },
		{ S("RIFF\x10\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\0\0\0\0\0\0"), 640, 480 },
		{ S("RIFF\x10\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\2\0\xdf\1\0"), 640, 480 },
		{ S("RIFF\x10\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x7f\2\0\xdf\1"), 0, 0 },
		{ S("RIFF\x10\0\0\0WEBPVP9 \0\0\0\0\0\0\0\0\x7f\2\0\xdf\1\0"), 0, 0 },
		{ S("%PDF-1.7 and some more bytes to be sure"), 0, 0 },
		{ S(""), 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct str bytes = guarded(rows[i].bytes);
		uint32_t width = 0, height = 0;
		const bool known = magic_image_size(bytes, &width, &height);
		if (known != (rows[i].width > 0) || width != rows[i].width ||
		    height != rows[i].height)
			fail_msg("row %zu: %u x %u", i, width, height);
		guarded_free(bytes);
	}
}

static void media_types(void **state)
{
	(void)state;
	assert_string_equal(magic_of(STR("GIF89a"))->mime, "image/gif");
	assert_true(magic_of(STR("GIF89a"))->image);
	assert_string_equal(magic_of(STR("\177ELF"))->mime, "application/x-elf");
	assert_false(magic_of(STR("\177ELF"))->image);
	assert_string_equal(magic_of(STR("\0\0\0"))->mime, "application/octet-stream");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(a_tar_is_known_by_bytes_far_from_its_start),
		cmocka_unit_test(sizes_of_images),
		cmocka_unit_test(media_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
