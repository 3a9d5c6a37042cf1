/* SPDX-License-Identifier: MIT */
/* magic: two small tables. */

#include "workspace/magic.h"

#include "base/own.h"

static const struct {
	size_t at;
	struct str bytes;
	const char *what;
} kinds[] = {
	{ 0, STR("\177ELF"), "ELF executable" },
	{ 0, STR("\x89PNG\r\n\x1a\n"), "PNG image" },
	{ 0, STR("\xff\xd8\xff"), "JPEG image" },
	{ 0, STR("GIF8"), "GIF image" },
	{ 8, STR("WEBP"), "WebP image" },
	{ 8, STR("WAVE"), "WAVE audio" },
	{ 0, STR("BM"), "BMP image" },
	{ 0, STR("\x00\x00\x01\x00"), "icon" },
	{ 0, STR("%PDF-"), "PDF document" },
	{ 0, STR("PK\x03\x04"), "ZIP archive (also jar, docx, wheel)" },
	{ 0, STR("\x1f\x8b"), "gzip archive" },
	{ 0, STR("BZh"), "bzip2 archive" },
	{ 0, STR("\3757zXZ\0"), "xz archive" },
	{ 0, STR("\x28\xb5\x2f\xfd"), "zstd archive" },
	{ 0, STR("7z\xbc\xaf\x27\x1c"), "7z archive" },
	{ 257, STR("ustar"), "tar archive" },
	{ 0, STR("SQLite format 3\x00"), "SQLite database" },
	{ 0, STR("\0asm"), "WebAssembly module" },
	{ 0, STR("\xca\xfe\xba\xbe"), "Java class or Mach-O file" },
	{ 0, STR("\xcf\xfa\xed\xfe"), "Mach-O executable" },
	{ 0, STR("MZ"), "Windows executable" },
	{ 0, STR("!<arch>\n"), "static library" },
	{ 0, STR("OggS"), "Ogg media" },
	{ 0, STR("ID3"), "MP3 audio" },
	{ 4, STR("ftyp"), "MP4 media" },
	{ 0, STR("\xff\xfe"), "UTF-16 text" },
	{ 0, STR("\xfe\xff"), "UTF-16 text" },
	{ 0, STR("wOFF"), "web font" },
	{ 0, STR("wOF2"), "web font" },
};

static const struct {
	struct str extension;
	const char *type;
} images[] = {
	{ STR(".jpg"), "image/jpeg" }, { STR(".jpeg"), "image/jpeg" }, { STR(".png"), "image/png" },
	{ STR(".gif"), "image/gif" },  { STR(".webp"), "image/webp" },
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
