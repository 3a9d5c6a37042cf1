/* SPDX-License-Identifier: MIT */
/*
 * finder: where any of many shapes may begin, at several GB/s.
 *
 * Each shape is known by three of its bytes, its key, ASCII letters without case. Small tables tell
 * which halves of bytes stand first, second and third in a key, and which may follow it; combined
 * for 16 or 32 places at once by vectors, they leave few places. There the three bytes lead, by
 * their hash, to a list of shapes to be tried, the most important first.
 */
#ifndef SCRUB_FINDER_H
#define SCRUB_FINDER_H

#include "scrub/groups.h"
#include "scrub/shape.h"

enum { FINDER_SLOTS = 4096, FINDER_NONE = 0xffff };

struct finder {
	const struct shape *shapes;
	size_t count;
	uint16_t *next;		      /* of each shape: the next with this hash */
	uint16_t first[FINDER_SLOTS]; /* or FINDER_NONE */
	struct groups tables;
	size_t reach;		/* the largest place of a key in its shape */
	struct byteset initial; /* how shapes may begin */
	size_t (*next_place)(const struct finder *f, struct str text, size_t from);
};

/* The shapes must outlive the finder; fewer than FINDER_NONE. 0, or -1 without memory. */
int finder_init(struct finder *f, const struct shape *shapes, size_t count);
void finder_done(struct finder *f);

static inline unsigned finder_hash(const char *key)
{
	const uint32_t k = (uint32_t)(unsigned char)key[0] | (uint32_t)(unsigned char)key[1] << 8 |
			   (uint32_t)(unsigned char)key[2] << 16 | 0x202020;

	return k * UINT32_C(2654435761) >> 20;
}

/* The first shape to be tried where the key stands; the others follow by next. */
static inline unsigned finder_first(const struct finder *f, const char *key)
{
	return f->first[finder_hash(key)];
}

/* The first place at or behind from where a key may stand, or text.n. Of a short text, as names of
 * files are, each place is looked at. */
static inline size_t finder_next(const struct finder *f, struct str text, size_t from)
{
	enum { SHORT = 20 };

	if (text.n - from >= SHORT)
		return f->next_place(f, text, from);
	for (; from + SHAPE_KEY <= text.n; from++)
		if (finder_first(f, text.p + from) != FINDER_NONE)
			return from;
	return text.n;
}

/* Where at the end of text, not before from, a shape may have begun whose key is not complete yet;
 * text.n when nowhere. */
size_t finder_tail(const struct finder *f, struct str text, size_t from);

#endif
