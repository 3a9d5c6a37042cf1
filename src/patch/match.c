/* SPDX-License-Identifier: MIT */
/* match: compare lines byte for byte, or without what models often get wrong. */

#include "patch/match.h"

#include "patch/hunk.h"

/* The ASCII character for a typographic one at the start of s, and its length in *n; 0 if it is
 * none of those. */
static char ascii_of(struct str s, size_t *n)
{
	const unsigned char *p = (const unsigned char *)s.p;

	if (s.n >= 2 && p[0] == 0xc2 && p[1] == 0xa0) {
		*n = 2;
		return ' '; /* U+00A0 */
	}
	if (s.n < 3 || (p[0] != 0xe2 && p[0] != 0xe3))
		return 0;
	const unsigned code = (p[0] & 15U) << 12 | (p[1] & 63U) << 6 | (p[2] & 63U);
	*n = 3;
	if ((p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
		return 0;
	if ((code >= 0x2010 && code <= 0x2015) || code == 0x2212)
		return '-';
	if (code >= 0x2018 && code <= 0x201b)
		return '\'';
	if (code >= 0x201c && code <= 0x201f)
		return '"';
	if ((code >= 0x2002 && code <= 0x200a) || code == 0x202f || code == 0x205f ||
	    code == 0x3000)
		return ' ';
	return 0;
}

/* The next byte of the line on the loosest level; -1 at its end. */
static int next_loose(struct str *s)
{
	size_t n = 1;

	if (s->n == 0)
		return -1;
	const char ascii = ascii_of(*s, &n);
	const int byte = (unsigned char)(ascii ? ascii : s->p[0]);
	*s = str_from(*s, ascii ? n : 1);
	return byte;
}

static bool is_space(int byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Without white space at both ends, typographic spaces included. */
static struct str trim_loose(struct str s)
{
	for (struct str next = s; is_space(next_loose(&next));)
		s = next;
	for (;;) {
		size_t n = 0;
		s = patch_right_trim(s);
		/* A typographic space has two or three bytes. */
		if (s.n >= 2 && ascii_of(str_from(s, s.n - 2), &n) == ' ' && n == 2)
			s.n -= 2;
		else if (s.n >= 3 && ascii_of(str_from(s, s.n - 3), &n) == ' ' && n == 3)
			s.n -= 3;
		else
			return s;
	}
}

static struct str trimmed(struct str s, enum match_level level)
{
	return level == MATCH_EXACT	 ? s
	       : level == MATCH_TRAILING ? patch_right_trim(s)
					 : trim_loose(s);
}

bool match_equal(struct str a, struct str b, enum match_level level)
{
	a = trimmed(a, level);
	b = trimmed(b, level);
	if (level != MATCH_LOOSE)
		return str_eq(a, b);
	for (;;) {
		const int x = next_loose(&a), y = next_loose(&b);
		if (x != y)
			return false;
		if (x < 0)
			return true;
	}
}

uint32_t match_hash(struct str s, enum match_level level)
{
	uint64_t hash = 0xcbf29ce484222325;

	s = trimmed(s, level);
	if (level == MATCH_LOOSE) {
		for (int byte; (byte = next_loose(&s)) >= 0;)
			hash = (hash ^ (unsigned)byte) * 0x100000001b3;
	} else {
		for (size_t i = 0; i < s.n; i++)
			hash = (hash ^ (unsigned char)s.p[i]) * 0x100000001b3;
	}
	return (uint32_t)(hash ^ hash >> 32);
}
