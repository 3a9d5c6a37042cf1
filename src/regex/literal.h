/* SPDX-License-Identifier: MIT */
/*
 * literal: one text, found fast.
 *
 * The two rarest bytes of the needle are compared at all places of a vector at once; the whole
 * needle only where both stand. Ignoring case means ASCII letters.
 *
 * The needle is borrowed and must be lower case already when case is ignored. It is not empty.
 */
#ifndef REGEX_LITERAL_H
#define REGEX_LITERAL_H

#include "base/str.h"
#include "regex/kernels.h"

void literal_init(struct literal *l, struct str needle, bool nocase);

/* The first place at or behind `from`, or text.n when there is none. */
size_t literal_find(const struct literal *l, struct str text, size_t from);

#endif
