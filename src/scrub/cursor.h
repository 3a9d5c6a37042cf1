/* SPDX-License-Identifier: MIT */
/*
 * cursor: reads a place byte by byte and remembers whether it looked beyond what is known.
 *
 * A judge is written as if the whole text were there and ends with cursor_verdict: a verdict that
 * rests on bytes that have not come yet becomes MORE.
 */
#ifndef SCRUB_CURSOR_H
#define SCRUB_CURSOR_H

#include "scrub/shape.h"

struct cursor {
	struct str text;
	size_t i;
	bool final;
	bool beyond;
};

static inline struct cursor cursor_behind(const struct place *at, size_t i)
{
	return (struct cursor){ .text = at->text, .i = i, .final = at->final };
}

/* The next byte, as an unsigned char; -1 at the end. */
static inline int cursor_peek(struct cursor *c)
{
	if (c->i < c->text.n)
		return (unsigned char)c->text.p[c->i];
	c->beyond |= !c->final;
	return -1;
}

/* Skip one byte if it is this one. */
static inline bool cursor_skip(struct cursor *c, char byte)
{
	if (cursor_peek(c) != (unsigned char)byte)
		return false;
	c->i++;
	return true;
}

/* Skip bytes of the set, at most max; how many they were. */
static inline size_t cursor_run(struct cursor *c, const struct byteset *set, size_t max)
{
	const size_t from = c->i;

	while (c->i - from < max && cursor_peek(c) >= 0 && byteset_has(set, c->text.p[c->i]))
		c->i++;
	return c->i - from;
}

/* Blanks and tabs; false when there are more than anybody would write. */
static inline bool cursor_blanks(struct cursor *c)
{
	enum { MANY = 32 };
	const struct byteset blanks = { { BYTE(' ') | BYTE('\t') } };

	return cursor_run(c, &blanks, MANY) < MANY;
}

static inline enum verdict cursor_verdict(const struct cursor *c, enum verdict v)
{
	return c->beyond ? MORE : v;
}

#endif
