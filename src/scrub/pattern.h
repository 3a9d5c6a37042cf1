/* SPDX-License-Identifier: MIT */
/*
 * pattern: the operator's own shapes of secrets.
 *
 *	acme-token: acme_[A-Za-z0-9]{32}
 *	ticket:     TCK-[0-9A-F-]{8,64}		# at least 8, at most 64
 *	session:    sess\[[a-z]{20,}		# 20 and all that follow
 *
 * A name for the mark (lower-case letters, digits, dashes), a colon, at least three characters that
 * stand at the beginning as they are, a class of ASCII characters, and how many of them follow.
 * With a largest number, one character more of the class means that it is something else. A
 * backslash takes the next character as it is; # begins a comment at the start of a line and behind
 * a pattern; a newline or a semicolon ends a pattern.
 */
#ifndef SCRUB_PATTERN_H
#define SCRUB_PATTERN_H

#include "base/arena.h"
#include "base/err.h"
#include "scrub/shape.h"

/* Read the next pattern off the front of *rest. 1: *ret is one, in memory of the arena; 0: there is
 * none left; -1: it cannot be understood. */
int pattern_next(struct str *rest, struct arena *a, struct shape *ret, struct err *e);

#endif
