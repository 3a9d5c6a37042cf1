/* SPDX-License-Identifier: MIT */
/*
 * regex_utf8: UTF-8 for automata: ranges of characters as sequences of byte ranges, and a decoder
 * whose whole memory is a number below 16, so that it fits into an automaton's state.
 */
#ifndef REGEX_REGEX_UTF8_H
#define REGEX_REGEX_UTF8_H

#include <stdbool.h>
#include <stdint.h>

struct utf8_sequence {
	struct {
		uint8_t lo, hi;
	} bytes[4];
	unsigned n;
};

/* The sequences of lo to hi without ASCII, which callers handle as single bytes: call
 * utf8_split_next until it says false. */
struct utf8_split {
	uint32_t lo, hi; /* what is left */
};

struct utf8_split utf8_split(uint32_t lo, uint32_t hi);
bool utf8_split_next(struct utf8_split *s, struct utf8_sequence *ret);

enum utf8_state {
	UTF8_WHOLE, /* behind a whole character; the start */
	UTF8_STRAY, /* behind a byte that can stand nowhere */
	UTF8_ONE,   /* a character began; so many bytes are missing */
	UTF8_TWO,
	UTF8_THREE,
	UTF8_E0, /* two or three are missing and the next one has a smaller range */
	UTF8_ED,
	UTF8_F0,
	UTF8_F4,
};

enum { UTF8_END = 256 }; /* no byte follows */

/* The state behind one more byte. */
enum utf8_state utf8_state_next(enum utf8_state s, unsigned byte);

/* Whether the byte continues the character that has begun. */
bool utf8_state_inside(enum utf8_state s, unsigned next);

/* Whether a piece that is not UTF-8 ends here. */
bool utf8_state_ill(enum utf8_state s, unsigned next);

#endif
