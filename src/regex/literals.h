/* SPDX-License-Identifier: MIT */
/*
 * literals: several texts, found at once.
 *
 * The needles are spread over eight buckets. Small tables tell for each of the first bytes which
 * buckets have a needle with that byte there; combined for 16 or 32 places at once, they leave few
 * places at which needles are compared (an idea known as Teddy).
 */
#ifndef REGEX_LITERALS_H
#define REGEX_LITERALS_H

#include "base/str.h"
#include "regex/kernels.h"

/* 1 to LITERALS_MAX needles, none empty, copied; lower case when case is ignored. 0, or -1 when
 * there is no memory. */
int literals_init(struct literals *l, const struct str *needles, unsigned n, bool nocase);
void literals_done(struct literals *l);

/* The first place at or behind `from` where a needle begins, or text.n when there is none. */
size_t literals_find(const struct literals *l, struct str text, size_t from);

/* How many needles will have to be compared for each byte of ordinary text: the more needles there
 * are, the less the tables tell. */
double literals_compared(const struct literals *l);

#endif
