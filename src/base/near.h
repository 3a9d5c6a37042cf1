/* SPDX-License-Identifier: MIT */
/*
 * near: the word that was probably meant.
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
	const char *best; /* the nearest so far; NULL if none is near enough */
	size_t distance;  /* of the best, or the smallest that is too far */
};

/* How many letters must be changed, added, removed or swapped with the next one to turn one word
 * into the other. Different words are 32 apart if one of them is longer than 32 bytes. */
size_t near_distance(struct str a, struct str b);

/* Begin a search for the nearest word. About a third of the letters may be wrong. */
struct near near_to(struct str word);

/* Offer a word, which must outlive the search. */
void near_try(struct near *n, const char *known);

#endif
