/* SPDX-License-Identifier: MIT */
/* places: a mark on each line says which place it is in, a tree counts the lines that are added. */

#include "patch/places.h"

#include <stdlib.h>

bool places_init(struct places *p, size_t lines, size_t places, struct arena *a)
{
	*p = (struct places){
		.item = arena_array(a, places + 1, sizeof *p->item),
		.lines = lines,
		.owner = arena_array(a, lines + 1, sizeof *p->owner),
		.inserted = arena_array(a, lines + 1, sizeof *p->inserted),
		.growth = arena_array(a, lines + 2, sizeof *p->growth),
	};
	return p->item && p->owner && p->inserted && p->growth;
}

bool places_free(const struct places *p, size_t at, size_t n)
{
	if (n == 0)
		return at == 0 || at >= p->lines || p->owner[at] == 0 ||
		       p->owner[at] != p->owner[at - 1];
	for (size_t i = at; i < at + n; i++)
		if (p->owner[i] || (i > at && p->inserted[i]))
			return false;
	return true;
}

void places_add(struct places *p, struct place new)
{
	const int64_t growth = (int64_t) new.hunk->new_count - (int64_t) new.hunk->old_count;

	new.added = p->count;
	p->item[p->count++] = new;
	for (size_t i = new.at; i < new.at + new.n; i++)
		p->owner[i] = (uint32_t)p->count;
	if (new.n == 0)
		p->inserted[new.at] = true;
	for (size_t i = new.at + 1; i <= p->lines + 1; i += i & -i)
		p->growth[i] += growth;
}

int64_t places_moved(const struct places *p, size_t line)
{
	int64_t moved = (int64_t)line;

	for (size_t i = line + 1; i > 0; i -= i & -i)
		moved += p->growth[i];
	return moved;
}

/* Insertions come before the lines that they are in front of. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if ((x->n == 0) != (y->n == 0))
		return x->n == 0 ? -1 : 1;
	return x->added < y->added ? -1 : x->added > y->added;
}

void places_sort(struct places *p)
{
	qsort(p->item, p->count, sizeof *p->item, compare_places);
}
