/* SPDX-License-Identifier: MIT */
/* magic: a table of beginnings, and the headers of four kinds of images. */

#include "workspace/magic.h"

#include "base/own.h"

static const struct {
	size_t at;
	struct str bytes;
	struct magic kind;
} kinds[] = {
	{ 0, STR("\177ELF"), { "ELF executable", "application/x-elf" } },
	{ 0, STR("\x89PNG\r\n\x1a\n"), { "PNG image", "image/png", true } },
	{ 0, STR("\xff\xd8\xff"), { "JPEG image", "image/jpeg", true } },
	{ 0, STR("GIF8"), { "GIF image", "image/gif", true } },
	{ 8, STR("WEBP"), { "WebP image", "image/webp", true } },
	{ 8, STR("WAVE"), { "WAVE audio", "audio/wav" } },
	{ 0, STR("BM"), { "BMP image", "image/bmp" } },
	{ 0, STR("\x00\x00\x01\x00"), { "icon", "image/vnd.microsoft.icon" } },
	{ 0, STR("%PDF-"), { "PDF document", "application/pdf" } },
	{ 0, STR("PK\x03\x04"), { "ZIP archive (also jar, docx, wheel)", "application/zip" } },
	{ 0, STR("\x1f\x8b"), { "gzip archive", "application/gzip" } },
	{ 0, STR("BZh"), { "bzip2 archive", "application/x-bzip2" } },
	{ 0, STR("\3757zXZ\0"), { "xz archive", "application/x-xz" } },
	{ 0, STR("\x28\xb5\x2f\xfd"), { "zstd archive", "application/zstd" } },
	{ 0, STR("7z\xbc\xaf\x27\x1c"), { "7z archive", "application/x-7z-compressed" } },
	{ 257, STR("ustar"), { "tar archive", "application/x-tar" } },
	{ 0, STR("SQLite format 3\x00"), { "SQLite database", "application/vnd.sqlite3" } },
	{ 0, STR("\0asm"), { "WebAssembly module", "application/wasm" } },
	{ 0, STR("\xca\xfe\xba\xbe"), { "Java class or Mach-O file", "application/octet-stream" } },
	{ 0, STR("\xcf\xfa\xed\xfe"), { "Mach-O executable", "application/x-mach-binary" } },
	{ 0, STR("MZ"), { "Windows executable", "application/vnd.microsoft.portable-executable" } },
	{ 0, STR("!<arch>\n"), { "static library", "application/x-archive" } },
	{ 0, STR("OggS"), { "Ogg media", "application/ogg" } },
	{ 0, STR("ID3"), { "MP3 audio", "audio/mpeg" } },
	{ 4, STR("ftyp"), { "MP4 media", "video/mp4" } },
	{ 0, STR("\xff\xfe"), { "UTF-16 text", "text/plain; charset=utf-16" } },
	{ 0, STR("\xfe\xff"), { "UTF-16 text", "text/plain; charset=utf-16" } },
	{ 0, STR("wOFF"), { "web font", "font/woff" } },
	{ 0, STR("wOF2"), { "web font", "font/woff2" } },
};

const struct magic *magic_of(struct str first_bytes)
{
	static const struct magic unknown = { "unknown type", "application/octet-stream", false };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_starts(str_from(first_bytes, kinds[i].at), kinds[i].bytes))
			return &kinds[i].kind;
	return &unknown;
}

/* A number of n bytes at an offset, which the caller has checked. */
static uint32_t big(struct str s, size_t at, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | (unsigned char)s.p[at + i];
	return v;
}

static uint32_t little(struct str s, size_t at, size_t n)
{
	uint32_t v = 0;

	for (size_t i = n; i > 0; i--)
		v = v << 8 | (unsigned char)s.p[at + i - 1];
	return v;
}

/* A JPEG is a list of segments; the one that starts a frame has the size. */
static bool jpeg_size(struct str s, uint32_t *width, uint32_t *height)
{
	for (size_t at = 2; at + 9 <= s.n;) {
		const unsigned char mark = (unsigned char)s.p[at + 1];
		if ((unsigned char)s.p[at] != 0xff)
			return false;
		if (mark == 0xff) { /* filling */
			at++;
			continue;
		}
		/* C4, C8 and CC are tables. */
		if (mark >= 0xc0 && mark <= 0xcf && mark != 0xc4 && mark != 0xc8 && mark != 0xcc) {
			*height = big(s, at + 5, 2);
			*width = big(s, at + 7, 2);
			return true;
		}
		if (mark == 0xda || mark == 0xd9)
			return false;
		at += 2 + big(s, at + 2, 2);
	}
	return false;
}

static bool webp_size(struct str s, uint32_t *width, uint32_t *height)
{
	const struct str form = str_upto(str_from(s, 12), 4);

	if (s.n < 30)
		return false;
	if (str_eq(form, STR("VP8 "))) {
		*width = little(s, 26, 2) & 0x3fff;
		*height = little(s, 28, 2) & 0x3fff;
	} else if (str_eq(form, STR("VP8L"))) {
		const uint32_t bits = little(s, 21, 4);
		*width = (bits & 0x3fff) + 1;
		*height = (bits >> 14 & 0x3fff) + 1;
	} else if (str_eq(form, STR("VP8X"))) {
		*width = little(s, 24, 3) + 1;
		*height = little(s, 27, 3) + 1;
	} else {
		return false;
	}
	return true;
}

bool magic_image_size(struct str bytes, uint32_t *width, uint32_t *height)
{
	const struct str mime = str_of(magic_of(bytes)->mime);

	if (str_eq(mime, STR("image/jpeg")))
		return jpeg_size(bytes, width, height);
	if (str_eq(mime, STR("image/webp")))
		return webp_size(bytes, width, height);
	if (str_eq(mime, STR("image/png")) && bytes.n >= 24) {
		*width = big(bytes, 16, 4);
		*height = big(bytes, 20, 4);
		return true;
	}
	if (str_eq(mime, STR("image/gif")) && bytes.n >= 10) {
		*width = little(bytes, 6, 2);
		*height = little(bytes, 8, 2);
		return true;
	}
	return false;
}
