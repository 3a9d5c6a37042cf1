/* SPDX-License-Identifier: MIT */
/* magic: two small tables. */

#include "workspace/magic.h"

#include "base/own.h"

static const struct {
	size_t at;
	struct str bytes;
	const char *what;
} kinds[] = {
	{ 0,
	  { "\x7f"
	    "ELF",
	    4 },
	  "ELF executable" },
	{ 0, { "\x89PNG\r\n\x1a\n", 8 }, "PNG image" },
	{ 0, { "\xff\xd8\xff", 3 }, "JPEG image" },
	{ 0, { "GIF8", 4 }, "GIF image" },
	{ 8, { "WEBP", 4 }, "WebP image" },
	{ 8, { "WAVE", 4 }, "WAVE audio" },
	{ 0, { "BM", 2 }, "BMP image" },
	{ 0, { "\x00\x00\x01\x00", 4 }, "icon" },
	{ 0, { "%PDF-", 5 }, "PDF document" },
	{ 0, { "PK\x03\x04", 4 }, "ZIP archive (also jar, docx, wheel)" },
	{ 0, { "\x1f\x8b", 2 }, "gzip archive" },
	{ 0, { "BZh", 3 }, "bzip2 archive" },
	{ 0,
	  { "\xfd"
	    "7zXZ\x00",
	    6 },
	  "xz archive" },
	{ 0, { "\x28\xb5\x2f\xfd", 4 }, "zstd archive" },
	{ 0, { "7z\xbc\xaf\x27\x1c", 6 }, "7z archive" },
	{ 257, { "ustar", 5 }, "tar archive" },
	{ 0, { "SQLite format 3\x00", 16 }, "SQLite database" },
	{ 0,
	  { "\x00"
	    "asm",
	    4 },
	  "WebAssembly module" },
	{ 0, { "\xca\xfe\xba\xbe", 4 }, "Java class or Mach-O file" },
	{ 0, { "\xcf\xfa\xed\xfe", 4 }, "Mach-O executable" },
	{ 0, { "MZ", 2 }, "Windows executable" },
	{ 0, { "!<arch>\n", 8 }, "static library" },
	{ 0, { "OggS", 4 }, "Ogg media" },
	{ 0, { "ID3", 3 }, "MP3 audio" },
	{ 4, { "ftyp", 4 }, "MP4 media" },
	{ 0, { "\xff\xfe", 2 }, "UTF-16 text" },
	{ 0, { "\xfe\xff", 2 }, "UTF-16 text" },
	{ 0, { "wOFF", 4 }, "web font" },
	{ 0, { "wOF2", 4 }, "web font" },
};

static const struct {
	struct str extension;
	const char *type;
} images[] = {
	{ { ".jpg", 4 }, "image/jpeg" },  { { ".jpeg", 5 }, "image/jpeg" },
	{ { ".png", 4 }, "image/png" },	  { { ".gif", 4 }, "image/gif" },
	{ { ".webp", 5 }, "image/webp" },
};

const char *magic_describe(struct str first_bytes)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_starts(str_from(first_bytes, kinds[i].at), kinds[i].bytes))
			return kinds[i].what;
	return "unknown type";
}

const char *magic_image(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(images); i++) {
		const struct str want = images[i].extension;
		if (name.n > want.n && str_eq_nocase(str_from(name, name.n - want.n), want))
			return images[i].type;
	}
	return NULL;
}
