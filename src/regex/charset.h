/* SPDX-License-Identifier: MIT */
/*
 * charset: a set of characters, as sorted ranges of code points.
 *
 * Besides the Unicode scalar values there is one more member, CHARSET_ILL: "a piece of text that is
 * not UTF-8", as long as one U+FFFD replaces it. Complements contain it, so `.` and [^x] step over
 * bytes of other encodings and a line is never lost because of one of them.
 *
 * The zero value is the empty set. Memory comes from the arena; when that fails, the set stays
 * what it was and arena->failed tells.
 */
#ifndef REGEX_CHARSET_H
#define REGEX_CHARSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { CHARSET_LAST = 0x10ffff, CHARSET_ILL = 0x110000 };

struct char_range {
	uint32_t lo, hi; /* both inclusive */
};

struct charset {
	struct char_range *ranges; /* sorted, disjoint, not adjacent */
	uint32_t n, cap;
};

void charset_add(struct charset *s, uint32_t lo, uint32_t hi, struct arena *a);
void charset_add_all(struct charset *s, const struct charset *other, struct arena *a);
void charset_remove(struct charset *s, uint32_t c, struct arena *a);

/* Everything that was not in the set, CHARSET_ILL included. */
void charset_negate(struct charset *s, struct arena *a);

/* Add the other case of every letter: ASCII, Latin-1, Latin Extended-A, Greek, Cyrillic. */
void charset_fold(struct charset *s, struct arena *a);

/* The largest member; 0 when there is none. */
uint32_t charset_last(const struct charset *s);

bool charset_has(const struct charset *s, uint32_t c);

/* Whether all of lo to hi is in the set. */
bool charset_covers(const struct charset *s, uint32_t lo, uint32_t hi);

#endif
