/* SPDX-License-Identifier: MIT */
/* regex_look: decide about a position by the bytes beside it. */

#include "regex/regex_look.h"

static bool asks(const struct nfa *n, unsigned looks)
{
	return n->looks & looks;
}

enum side side_of(const struct nfa *n, unsigned byte)
{
	const unsigned line = 1u << LOOK_LINE_START | 1u << LOOK_LINE_END;
	const unsigned text = 1u << LOOK_TEXT_START | 1u << LOOK_TEXT_END;
	const unsigned word = 1u << LOOK_WORD | 1u << LOOK_NOT_WORD;
	const bool letter = (byte | 32) >= 'a' && (byte | 32) <= 'z';

	if (byte == UTF8_END && asks(n, text))
		return SIDE_EDGE;
	if ((byte == '\n' || byte == UTF8_END) && asks(n, line))
		return SIDE_NEWLINE;
	if ((byte == '_' || (byte >= '0' && byte <= '9') || letter) && asks(n, word))
		return SIDE_WORD;
	return SIDE_OTHER;
}

bool look_holds(const struct nfa *n, enum look look, enum side read, enum utf8_state utf8,
		unsigned next)
{
	const enum side coming = side_of(n, next);
	const enum side before = n->reverse ? coming : read;
	const enum side behind = n->reverse ? read : coming;

	switch (look) {
	case LOOK_LINE_START:
		return before >= SIDE_NEWLINE;
	case LOOK_LINE_END:
		return behind >= SIDE_NEWLINE;
	case LOOK_TEXT_START:
		return before == SIDE_EDGE;
	case LOOK_TEXT_END:
		return behind == SIDE_EDGE;
	case LOOK_WORD:
		return (before == SIDE_WORD) != (behind == SIDE_WORD);
	case LOOK_NOT_WORD:
		return (before == SIDE_WORD) == (behind == SIDE_WORD);
	case LOOK_CHAR:
		return !utf8_state_inside(utf8, next);
	case LOOK_INSIDE:
		return utf8_state_inside(utf8, next);
	case LOOK_ILL:
		return utf8_state_ill(utf8, next);
	}
	return false;
}
