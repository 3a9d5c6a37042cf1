/* SPDX-License-Identifier: MIT */
/* places: a sorted array. Hunks nearly always come in order, so adding is usually appending. */

#include "patch/places.h"

/* How many places begin before this line or at it. */
static size_t places_upto(const struct places *p, size_t line)
{
	size_t low = 0, high = p->count;

	if (high && p->item[high - 1].at <= line)
		return high;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (p->item[middle].at <= line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool places_free(const struct places *p, size_t at, size_t n)
{
	const size_t i = places_upto(p, at);

	/* Of the places up to here the last one reaches furthest. */
	if (i > 0 && p->item[i - 1].at + p->item[i - 1].n > at)
		return false;
	return i == p->count || p->item[i].at >= at + n;
}

void places_add(struct places *p, struct place new)
{
	const int64_t growth = (int64_t) new.hunk->new_count - (int64_t) new.hunk->old_count;
	const size_t i = places_upto(p, new.at);

	memmove(&p->item[i + 1], &p->item[i], (p->count - i) * sizeof *p->item);
	new.grown = i > 0 ? p->item[i - 1].grown : 0;
	p->item[i] = new;
	p->count++;
	for (size_t k = i; k < p->count; k++)
		p->item[k].grown += growth;
}

int64_t places_moved(const struct places *p, size_t line)
{
	const size_t i = places_upto(p, line);

	return (int64_t)line + (i > 0 ? p->item[i - 1].grown : 0);
}
