/* SPDX-License-Identifier: MIT */
/* rules: all shapes that a scrub looks for, and the finder of their keys; for scrub.c. */
#ifndef SCRUB_RULES_H
#define SCRUB_RULES_H

#include "base/arena.h"
#include "base/err.h"
#include "scrub/shape.h"

struct scrub {
	struct arena memory;  /* of everything the shapes point to */
	struct shape *shapes; /* configured secrets, patterns, known shapes; the first wins */
	size_t count;
	struct literals keys;	/* finds the keys; needle k is that of shapes[k] */
	size_t reach;		/* the largest offset of a key in its shape */
	struct byteset initial; /* the first bytes of all shapes */
};

/* *r is zeroed, and released with rules_done even when this fails. */
int rules_init(struct scrub *r, const struct str *secrets, size_t secret_count, struct str patterns,
	       struct err *e);
void rules_done(struct scrub *r);

/* The first place at or after from where a shape may have begun whose key is cut off by the end of
 * the text, or the start of the character that this place is inside of; text.n if there is no such
 * place. */
size_t rules_tail(const struct scrub *r, struct str text, size_t from);

#endif
