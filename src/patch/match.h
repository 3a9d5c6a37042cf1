/* SPDX-License-Identifier: MIT */
/*
 * match: when a line of a patch and a line of a file are the same.
 *
 * There are three levels, each looser than the one before. Equality on a level is transitive, and
 * equal lines have the same hash on that level.
 */
#ifndef PATCH_MATCH_H
#define PATCH_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum match_level {
	MATCH_EXACT,	/* byte for byte */
	MATCH_TRAILING, /* white space at the end is ignored */
	MATCH_LOOSE, /* also at the start; typographic quotes, dashes and spaces are ASCII ones */
	MATCH_LEVELS,
};

bool match_equal(struct str a, struct str b, enum match_level level);
uint32_t match_hash(struct str s, enum match_level level);

#endif
