/* SPDX-License-Identifier: MIT */
/*
 * utf8_naive: UTF-8 told by decoding, to judge base/utf8.h, which tells it by ranges.
 *
 * A character is well-formed when encoding the number it decodes to gives the same bytes again.
 */
#ifndef TESTS_UTF8_NAIVE_H
#define TESTS_UTF8_NAIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

/* Length of the well-formed character at the start of s, or 0. */
static inline size_t naive_character(struct str s)
{
	static const unsigned char marks[] = { 0, 0x00, 0xc0, 0xe0, 0xf0 };
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	for (size_t n = 1; n <= 4 && n <= s.n; n++) {
		const unsigned keep = n == 1 ? 7 : 7 - (unsigned)n;
		const unsigned char first = (unsigned char)s.p[0];
		uint32_t c = first & ((1u << keep) - 1);
		bool good = (first & ~((1u << keep) - 1) & 0xff) == marks[n];
		for (size_t i = 1; i < n; i++) {
			good = good && ((unsigned char)s.p[i] & 0xc0) == 0x80;
			c = c << 6 | ((unsigned char)s.p[i] & 0x3f);
		}
		if (good && c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff))
			return n;
	}
	return 0;
}

/* Could these bytes, all of them, be the start of a longer well-formed character? */
static inline bool naive_begins(struct str s)
{
	/* All continuations that matter: the ends of every range of table 3-7. */
	static const unsigned char tails[] = { 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf };
	char c[4];

	if (s.n == 0 || s.n > 3)
		return false;
	memcpy(c, s.p, s.n);
	for (size_t n = s.n + 1; n <= 4; n++) {
		for (size_t i = 0; i < sizeof tails; i++) {
			memset(c + s.n, 0x80, 4 - s.n);
			c[s.n] = (char)tails[i];
			if (naive_character((struct str){ c, n }) == n)
				return true;
		}
	}
	return false;
}

/* The maximal subpart at the start of s, which starts no well-formed character. */
static inline size_t naive_bad(struct str s)
{
	size_t n = 1;

	while (n < s.n && n < 3 && naive_begins((struct str){ s.p, n + 1 }))
		n++;
	return n;
}

#endif
