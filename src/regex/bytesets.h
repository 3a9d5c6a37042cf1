/* SPDX-License-Identifier: MIT */
/*
 * bytesets: a run of byte sets, found fast: the first place where each of the bytes is in its set.
 *
 * [A-Z]{3}_ is four sets. One set alone finds the next byte that ends a skip. Vector instructions
 * test 16 or 32 places at once, through two small tables a set, indexed by half a byte each; a
 * rich set of non-ASCII bytes may be widened for that, so a place found is a candidate.
 */
#ifndef REGEX_BYTESETS_H
#define REGEX_BYTESETS_H

#include "base/str.h"
#include "regex/kernels.h"

/* How often a byte of the set is to be expected, out of BYTEFREQ_ALL. */
unsigned byteset_frequency(const struct byteset *s);

/* A run of 1 to 64 sets; of more than BYTESETS_MAX only the rarest are tested. */
void bytesets_init(struct bytesets *b, const struct byteset *sets, unsigned n);

/* The first place at or behind `from`, or text.n when there is none. */
size_t bytesets_find(const struct bytesets *b, struct str text, size_t from);

#endif
