/* SPDX-License-Identifier: MIT */
/*
 * charset: a set of characters, as sorted ranges of code points, and how an automaton reads them.
 *
 * Besides the Unicode scalar values there is one more member, CHARSET_ILL: "a piece of text that is
 * not UTF-8", as long as what one U+FFFD would replace. Complements contain it, so `.` and [^x]
 * step over bytes of other encodings and a line is never lost because of one of them.
 *
 * The zero value is the empty set. Memory comes from the arena; when that fails, the set stays
 * as it was and arena->failed is set.
 *
 * For an automaton, ranges of characters are split into sequences of byte ranges (utf8_split), and
 * a decoder (utf8_state) has only a number below 16 to remember, which fits into a state.
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

/* The largest member; 0 when the set is empty. */
uint32_t charset_last(const struct charset *s);

bool charset_has(const struct charset *s, uint32_t c);

/* Whether all of lo to hi is in the set. */
bool charset_covers(const struct charset *s, uint32_t lo, uint32_t hi);

struct utf8_sequence {
	struct {
		uint8_t lo, hi;
	} bytes[4];
	unsigned n;
};

/* The sequences of lo to hi without ASCII, which callers handle as single bytes: call
 * utf8_split_next until it returns false. */
struct utf8_split {
	uint32_t lo, hi; /* what is left */
};

struct utf8_split utf8_split(uint32_t lo, uint32_t hi);
bool utf8_split_next(struct utf8_split *s, struct utf8_sequence *ret);

enum utf8_state {
	UTF8_WHOLE, /* after a whole character; the start */
	UTF8_STRAY, /* after a byte that is valid nowhere */
	UTF8_ONE,   /* in a character; one, two or three bytes are missing */
	UTF8_TWO,
	UTF8_THREE,
	UTF8_E0, /* two or three are missing and the next one has a smaller range */
	UTF8_ED,
	UTF8_F0,
	UTF8_F4,
};

enum { UTF8_END = 256 }; /* no byte follows */

/* The state after one more byte. */
enum utf8_state utf8_state_next(enum utf8_state s, unsigned byte);

/* Whether the byte continues the character that has begun. */
bool utf8_state_inside(enum utf8_state s, unsigned next);

/* Whether a piece of text that is not UTF-8 ends here. */
bool utf8_state_ill(enum utf8_state s, unsigned next);

#endif
