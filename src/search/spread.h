/* SPDX-License-Identifier: MIT */
/*
 * spread: hits from everywhere, when there are more than an answer holds.
 *
 * The first hits in byte order may all be of one directory. Of a directory with more hits than may be
 * shown, each entry therefore gets an equal share; what an entry does not need is for the others. In
 * the entries it is the same again. Which hits these are depends on nothing but the tree.
 */
#ifndef SEARCH_SPREAD_H
#define SEARCH_SPREAD_H

#include "search/visit.h"

/*
 * As walk_run, and of every directory that would get most of the answer there are enough hits of
 * each of its entries. The paths of the hits begin with `prefix` bytes that are not of the walk.
 */
int spread_run(const struct walk_request *r, const struct walk_visitor *v, size_t prefix,
	       struct found *ret, struct err *e);

/* Keep at most n hits. Where that leaves some out, and not just the last, f->spread becomes true and
 * f->left gets the entries that have more. */
void spread_keep(struct found *f, size_t prefix, size_t n);

#endif
