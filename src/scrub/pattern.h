/* SPDX-License-Identifier: MIT */
/*
 * pattern: the operator's own shapes of secrets.
 *
 *	acme-token: acme_[A-Za-z0-9]{32}
 *	ticket:     TCK-[0-9A-F-]{8,64}		# at least 8, at most 64
 *	session:    sess\[[a-z]{20,}		# at least 20, and all that follow
 *
 * A name for the mark (lower-case letters, digits, dashes), a colon, at least three literal
 * characters, a class of ASCII characters, and how many of them follow. If there is a maximum, one
 * more character of the class means that it is something else. A backslash makes the next character
 * literal; # begins a comment at the start of a line and after a pattern; a newline or a semicolon
 * ends a pattern.
 */
#ifndef SCRUB_PATTERN_H
#define SCRUB_PATTERN_H

#include "base/arena.h"
#include "base/err.h"
#include "scrub/shape.h"

/* Take the next pattern from the front of *rest. 1: *ret is set, its memory is the arena's; 0:
 * there is no further pattern; -1: it is invalid. */
int pattern_next(struct str *rest, struct arena *a, struct shape *ret, struct err *e);

#endif
