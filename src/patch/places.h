/* SPDX-License-Identifier: MIT */
/*
 * places: where the hunks of one file were found, in the order of the file.
 *
 * Lines are numbered from 0. No two places overlap. A place without lines is an insertion between
 * two lines; several at the same line keep the order in which they were added.
 */
#ifndef PATCH_PLACES_H
#define PATCH_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patch/match.h"
#include "patch/hunk.h"

struct place {
	size_t at, n; /* first line and number of lines that the hunk replaces or confirms */
	const struct patch_hunk *hunk;
	enum match_level level;
	int64_t grown; /* lines that this place and those before it add, less the removed */
};

struct places {
	struct place *item; /* room for every hunk of the file */
	size_t count;
};

/* Whether n lines from `at` are in no place, and none is an insertion between them. */
bool places_free(const struct places *p, size_t at, size_t n);

void places_add(struct places *p, struct place new);

/* The number that a line of the old file has once the hunks so far are applied. */
int64_t places_moved(const struct places *p, size_t line);

#endif
