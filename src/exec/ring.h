/* SPDX-License-Identifier: MIT */
/*
 * ring: the end of a text of any length.
 *
 * It keeps the last `size` bytes that were added. Its memory grows with the text, so a short text
 * costs little; if there is no memory to grow, it keeps fewer bytes. A position is how many bytes
 * came before it, counted from the start of the text.
 *
 *	struct ring r = { .size = 1 << 20 };
 *	ring_add(&r, text);
 *	ring_copy(&r, ring_start(&r), r.total, &out);
 *	ring_done(&r);
 */
#ifndef EXEC_RING_H
#define EXEC_RING_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct ring {
	size_t size;   /* the most it keeps */
	int64_t total; /* bytes added */
	char *bytes;   /* the byte at position n is bytes[n % room] */
	size_t room;
};

void ring_add(struct ring *r, struct str text);

/* The position of the oldest byte that is kept. */
int64_t ring_start(const struct ring *r);

/* Add what lies between the two positions, which must be kept, to the buf. */
void ring_copy(const struct ring *r, int64_t from, int64_t to, struct buf *out);

/* Nothing will be added any more: give back the memory that is not used. */
void ring_fit(struct ring *r);

void ring_done(struct ring *r);

#endif
