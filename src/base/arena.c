/* SPDX-License-Identifier: MIT */
/* arena: blocks that are filled front to back and freed together. */

#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>

/* Under AddressSanitizer bytes that are not part of a piece cannot be touched, so that an overrun
 * is found here as it would be on the heap. Without it these do nothing. */
#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)	  ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)0)
#endif

enum {
	BLOCK_FIRST = 4096,
	BLOCK_KEEP = 64 << 10, /* a reset keeps a block up to this size */
	BLOCK_LARGEST = 1 << 20,
};

struct arena_block {
	struct arena_block *older;
	size_t size;
	alignas(max_align_t) char bytes[];
};

static bool add_block(struct arena *a, size_t need)
{
	/* A block that a reset has kept and that is too small now would count against the maximum:
	 * what a request may use must not depend on the one before it. */
	if (a->block && a->used == 0 && !a->block->older)
		arena_done(a);

	size_t size = a->block ? a->block->size * 2 : BLOCK_FIRST;

	if (size > BLOCK_LARGEST)
		size = BLOCK_LARGEST;
	if (size < need)
		size = need;
	if (a->total > a->max || need > a->max - a->total)
		return false;
	if (size > a->max - a->total)
		size = a->max - a->total;
	size_t bytes;
	struct arena_block *b;
	if (__builtin_add_overflow(sizeof *b, size, &bytes))
		return false;
	b = malloc(bytes);
	if (!b)
		return false;
	b->older = a->block;
	b->size = size;
	ASAN_POISON_MEMORY_REGION(b->bytes, size);
	a->block = b;
	a->total += size;
	a->used = 0;
	return true;
}

void *arena_alloc(struct arena *a, size_t size)
{
	const size_t align = alignof(max_align_t) - 1;
	size_t rounded;

	if (a->failed)
		return NULL;
	if (__builtin_add_overflow(size, align, &rounded)) {
		a->failed = true;
		return NULL;
	}
	rounded &= ~align;
	if ((!a->block || a->block->size - a->used < rounded) && !add_block(a, rounded)) {
		a->failed = true;
		return NULL;
	}
	void *p = a->block->bytes + a->used;
	a->used += rounded;
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total)) {
		a->failed = true;
		return NULL;
	}
	void *p = arena_alloc(a, total);
	return p ? memset(p, 0, total) : NULL;
}

bool arena_grow(struct arena *a, void *array, size_t *room, size_t size)
{
	enum { FIRST = 4096 }; /* bytes of the first array */
	const size_t first = FIRST / size;
	const size_t more = *room ? *room * 2 : first < 2 ? 2 : first < 64 ? first : 64;
	void *p = arena_array(a, more, size), *old;

	if (!p)
		return false;
	memcpy(&old, array, sizeof old);
	if (*room)
		memcpy(p, old, *room * size);
	memcpy(array, &p, sizeof p);
	*room = more;
	return true;
}

struct str arena_dup(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.n + 1);

	if (!p)
		return (struct str){ NULL, 0 };
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return (struct str){ p, s.n };
}

/* Free all blocks; with `keep` all but the newest one of moderate size. */
static void free_blocks(struct arena *a, bool keep)
{
	struct arena_block *kept = NULL;

	for (struct arena_block *b = a->block, *older; b; b = older) {
		older = b->older;
		if (keep && !kept && b->size <= BLOCK_KEEP)
			kept = b;
		else
			free(b);
	}
	if (kept) {
		kept->older = NULL;
		ASAN_POISON_MEMORY_REGION(kept->bytes, kept->size);
	}
	*a = (struct arena){ .block = kept, .total = kept ? kept->size : 0, .max = a->max };
}

void arena_reset(struct arena *a)
{
	free_blocks(a, true);
}

void arena_done(struct arena *a)
{
	free_blocks(a, false);
}
