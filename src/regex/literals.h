/* SPDX-License-Identifier: MIT */
/*
 * literals: one text, or one of several, found fast.
 *
 * For one needle, its two rarest bytes are compared at all places of a vector at once, and the
 * whole needle only where both match. Several needles are spread over eight buckets. Small tables
 * tell for each of the first bytes which buckets have a needle with that byte there; combined for
 * 16 or 32 places at once, they leave few places (an idea known as Teddy). At these, the hash of
 * the first bytes leads to the needles that may be there.
 *
 * Needles are borrowed and must outlive the finder. Ignoring case means ASCII letters; such a
 * needle is lower case. The finders return the first place at or after `from`, or text.n.
 */
#ifndef REGEX_LITERALS_H
#define REGEX_LITERALS_H

#include "regex/kernels.h"

/* One needle, which is not empty. */
void literal_init(struct literal *l, struct str needle, bool nocase);
size_t literal_find(const struct literal *l, struct str text, size_t from);

/* Any of 1 to LITERALS_MAX needles. Returns 0, or -1 when there is no memory. */
enum { LITERALS_MAX = 0xfffe };

int literals_init(struct literals *l, const struct needle *needles, size_t n);
void literals_done(struct literals *l);

/* Where a needle begins. */
size_t literals_find(const struct literals *l, struct str text, size_t from);

/*
 * Where the first bytes of a needle (l->key of them) may be, also when the text ends before the
 * needle does; text.n when there is no such place. For callers that compare by rules of their own:
 *
 *	at = literals_candidate(&l, text, from, &k);
 *	for (; at < text.n && k; k = l.next[k - 1])
 *		… l.needles[k - 1] may begin at `at` …
 *
 * The needles come in the order in which they were given.
 */
static inline size_t literals_candidate(const struct literals *l, struct str text, size_t from,
					unsigned *ret)
{
	enum { SHORT = 20 }; /* names of files, mostly: not worth a call */
	const uint8_t *p = (const uint8_t *)text.p;

	return text.n - from < SHORT ? literals_next(l, p, text.n, from, ret)
				     : l->kernels->literals(l, p, text.n, from, ret);
}

/* How many places per byte of ordinary text the tables will leave: the more needles there are, the
 * less selective the tables. */
double literals_left(const struct literals *l);

#endif
