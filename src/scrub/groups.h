/* SPDX-License-Identifier: MIT */
/*
 * groups: the tables by which a finder leaves out most places.
 *
 * The keys of all shapes are spread over eight groups, alike ones together. For each of four bytes,
 * the key and the one behind it, a bit tells whether the group has a key with this lower or this
 * upper half of a byte there. A place where no group has all eight halves is none. Keys of a group
 * lend their halves to one another, so more places pass than there are keys.
 */
#ifndef SCRUB_GROUPS_H
#define SCRUB_GROUPS_H

#include "scrub/shape.h"

enum { GROUPS = 8, GROUPS_BYTES = SHAPE_KEY + 1 };

struct groups {
	uint8_t low[GROUPS_BYTES][16];
	uint8_t high[GROUPS_BYTES][16];
};

void groups_fill(const struct shape *shapes, size_t count, struct groups *ret);

#endif
