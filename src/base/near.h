/* SPDX-License-Identifier: MIT */
/*
 * near: the word somebody probably meant.
 *
 *	struct near near = near_to(STR("workspcae"));
 *	for (each known word)
 *		near_try(&near, word);
 *	if (near.best) … did you mean near.best?
 */
#ifndef BASE_NEAR_H
#define BASE_NEAR_H

#include "base/str.h"

struct near {
	struct str word;
	const char *best; /* the nearest so far; NULL: none is near enough */
	size_t distance;  /* its distance, or the first that is too far */
};

/* How many letters must be changed, added, removed or swapped with their neighbour to make one
 * word the other; words longer than 32 bytes are 32 apart. */
size_t near_distance(struct str a, struct str b);

/* A search for the nearest of some words; a third of the word's letters may be wrong. */
struct near near_to(struct str word);

/* Offer a word, which must live as long as the answer is used. */
void near_try(struct near *n, const char *known);

#endif
