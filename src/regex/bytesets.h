/* SPDX-License-Identifier: MIT */
/*
 * bytesets: a run of byte sets, found fast: the first place where each of the bytes is in its set.
 *
 * [A-Z]{3}_ is four sets. A single set finds the next byte that ends a skip. Vector instructions
 * test 16 or 32 places at once with two small tables per set, each indexed by half a byte. The
 * tables may widen a complicated set of non-ASCII bytes, so a place found is only a candidate.
 */
#ifndef REGEX_BYTESETS_H
#define REGEX_BYTESETS_H

#include "base/str.h"
#include "regex/kernels.h"

/* How often each byte occurs in source code and prose, so that a search can look for the rare one.
 * Only speed depends on it. */
enum { BYTEFREQ_ALL = 1 << 16 }; /* approximately the sum of all entries */

extern const uint16_t bytefreq[256];

/* How often a byte of the set occurs, out of BYTEFREQ_ALL. */
unsigned byteset_frequency(const struct byteset *s);

/* A run of 1 to 64 sets; of more than BYTESETS_MAX only the rarest are tested. */
void bytesets_init(struct bytesets *b, const struct byteset *sets, unsigned n);

/* The first place at or after `from`, or text.n when there is none. */
size_t bytesets_find(const struct bytesets *b, struct str text, size_t from);

#endif
