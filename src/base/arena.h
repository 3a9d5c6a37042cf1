/* SPDX-License-Identifier: MIT */
/*
 * arena: memory that lives exactly as long as one request.
 *
 * Pieces are never freed one by one: arena_reset or arena_done frees all of them. The zero value
 * with a maximum is ready for use. Failure is sticky, as in buf: the caller may check `failed`
 * once, at the end.
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
	size_t used;		   /* bytes in use of the newest block */
	size_t total;		   /* bytes in all blocks */
	size_t max;		   /* never more than this many bytes in all blocks */
	bool failed;
};

#define AUTO_ARENA CLEANUP(arena_done) struct arena

/* Get `size` bytes, aligned for any object, not zeroed; or NULL. */
void *arena_alloc(struct arena *a, size_t size);

/* Get room for count objects, zeroed; or NULL (also when the product overflows). */
void *arena_array(struct arena *a, size_t count, size_t size);

/* Make more room in a full array of *room objects, which `array` is the address of: twice as much,
 * at first some kilobytes. False if there is no memory: then everything stays as it is. */
bool arena_grow(struct arena *a, void *array, size_t *room, size_t size);

/* A copy with a NUL after it, for system calls; { NULL, 0 } if there is no memory. */
struct str arena_dup(struct arena *a, struct str s);

/* Free every piece; one block of moderate size is kept for the next request. */
void arena_reset(struct arena *a);

void arena_done(struct arena *a);

#endif
