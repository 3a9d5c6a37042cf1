/* SPDX-License-Identifier: MIT */
/* Kinds of files by their first bytes, and images by their names. */

#include "unit.h"

#include "base/own.h"
#include "workspace/text.h"

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
		assert_string_equal(text_describe(bytes), rows[i].want);
		guarded_free(bytes);
	}
}

static void a_tar_is_known_by_bytes_far_from_its_start(void **state)
{
	char tar[512] = "name";

	(void)state;
	memcpy(tar + 257, "ustar", 5);
	assert_string_equal(text_describe((struct str){ tar, sizeof tar }), "tar archive");
	assert_string_equal(text_describe((struct str){ tar, 261 }), "unknown type");
}

static void images(void **state)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "a.png", "image/png" },
		{ "a.PNG", "image/png" },
		{ "d/a.jpg", "image/jpeg" },
		{ "a.JPeg", "image/jpeg" },
		{ "a.gif", "image/gif" },
		{ "a.webp", "image/webp" },
		{ "a.png.txt", NULL },
		{ "apng", NULL },
		{ "a.svg", NULL },
		{ "", NULL },
		{ "png", NULL },
		{ "a.b.png", "image/png" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = text_image(str_of(rows[i].name));
		if (!rows[i].want)
			assert_null(got);
		else
			assert_string_equal(got, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(a_tar_is_known_by_bytes_far_from_its_start),
		cmocka_unit_test(images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
