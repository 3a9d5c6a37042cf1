/* SPDX-License-Identifier: MIT */
/*
 * literals: one text, or one of several, found fast.
 *
 * For one needle, its two rarest bytes are compared at all places of a vector at once, and the
 * whole needle only where both match. Several needles are spread over eight buckets. Small tables
 * tell for each of the first bytes which buckets have a needle with that byte there; combined for
 * 16 or 32 places at once, they leave few places at which needles are compared (an idea known as
 * Teddy).
 *
 * No needle is empty. When case is ignored, which applies to ASCII letters, needles are lower case.
 * The finders return the first place at or after `from` where a needle begins, or text.n.
 */
#ifndef REGEX_LITERALS_H
#define REGEX_LITERALS_H

#include "base/str.h"
#include "regex/kernels.h"

/* The needle is borrowed. */
void literal_init(struct literal *l, struct str needle, bool nocase);
size_t literal_find(const struct literal *l, struct str text, size_t from);

/* 1 to LITERALS_MAX needles, which are copied. Returns 0, or -1 when there is no memory. */
int literals_init(struct literals *l, const struct str *needles, unsigned n, bool nocase);
void literals_done(struct literals *l);
size_t literals_find(const struct literals *l, struct str text, size_t from);

/* How many needles will have to be compared per byte of ordinary text: the more needles there are,
 * the less selective the tables. */
double literals_compared(const struct literals *l);

#endif
