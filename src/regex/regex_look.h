/* SPDX-License-Identifier: MIT */
/*
 * regex_look: whether a position is one that a pattern asks for.
 *
 * An automaton remembers of the byte it has read last only which side of a position it makes, and
 * where the UTF-8 decoder is; the byte that comes next it sees.
 */
#ifndef REGEX_REGEX_LOOK_H
#define REGEX_REGEX_LOOK_H

#include "regex/regex_nfa.h"
#include "regex/regex_utf8.h"

enum side { SIDE_OTHER, SIDE_WORD, SIDE_NEWLINE, SIDE_EDGE };

/* The side a byte (UTF8_END: the text's edge) makes, SIDE_OTHER when the graph does not ask. */
enum side side_of(const struct nfa *n, unsigned byte);

/* Whether the position holds between what was read and the next byte. */
bool look_holds(const struct nfa *n, enum look look, enum side read, enum utf8_state utf8,
		unsigned next);

#endif
