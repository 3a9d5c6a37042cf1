/* SPDX-License-Identifier: MIT */
/*
 * places: where the hunks of one file were found.
 *
 * Lines are numbered from 0. No two places overlap. A place without lines is an insertion between
 * two lines; several before the same line keep the order in which they were added. Hunks can be
 * added in any order: each costs time in proportion to its lines.
 */
#ifndef PATCH_PLACES_H
#define PATCH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "patch/hunk.h"
#include "patch/match.h"

struct place {
	size_t at, n; /* first line and number of lines that the hunk replaces or confirms */
	const struct patch_hunk *hunk;
	enum match_level level;
	size_t added; /* how many places were added before it */
};

struct places {
	struct place *item;
	size_t count;
	size_t lines;	 /* of the file */
	uint32_t *owner; /* of each line: the place that it is in, from 1; 0: none */
	bool *inserted;	 /* before each line, and at the end: there is an insertion */
	int64_t *growth; /* a Fenwick tree: lines that the places before each line add */
};

/* Make room for this many places in a file of so many lines; false if there is no memory. */
bool places_init(struct places *p, size_t lines, size_t places, struct arena *a);

/* Whether n lines from `at` are in no place, and none is an insertion between them. With n 0:
 * whether something can be inserted before `at`. */
bool places_free(const struct places *p, size_t at, size_t n);

void places_add(struct places *p, struct place new);

/* The number that a line of the old file has once the hunks so far are applied. */
int64_t places_moved(const struct places *p, size_t line);

/* Put the places into the order of the file. Afterwards none can be added. */
void places_sort(struct places *p);

#endif
