/* SPDX-License-Identifier: MIT */
/*
 * arena: memory that lives exactly as long as one request.
 *
 * Pieces are handed out and never given back singly; all of them go at once with arena_reset or
 * arena_done. The zero value with a maximum is ready for use. Failure is sticky, as in buf: the
 * one who uses the result may check `failed` once.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/own.h"
#include "base/str.h"

struct arena_block;

struct arena {
	struct arena_block *block; /* newest block; it links to the older ones */
	size_t used;		   /* bytes handed out of the newest block */
	size_t total;		   /* bytes in all blocks */
	size_t max;		   /* never more than this many bytes in all blocks */
	bool failed;
};

#define AUTO_ARENA CLEANUP(arena_done) struct arena

/* size bytes, aligned for any object, not zeroed; or NULL. */
void *arena_alloc(struct arena *a, size_t size);

/* Room for count objects, zeroed; or NULL (also when the product overflows). */
void *arena_array(struct arena *a, size_t count, size_t size);

/* An array that has become full, in a new place with room for twice as many objects, at least 64;
 * *room says how many. Or NULL: the old one stays as it is. */
void *arena_grow(struct arena *a, const void *old, size_t *room, size_t size);

/* A copy, NUL behind it for system calls; { NULL, 0 } when there is no memory. */
struct str arena_dup(struct arena *a, struct str s);

/* Forget every piece; one block of moderate size is kept for the next request. */
void arena_reset(struct arena *a);

void arena_done(struct arena *a);

#endif
