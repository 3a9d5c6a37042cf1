/* SPDX-License-Identifier: MIT */
/*
 * ends: both ends of an output of any length, in bounded memory.
 *
 * A command says what it is about to do at the start of its output and what went wrong at the end:
 * the first quarter of LIMIT_COMMAND_OUTPUT bytes and the last three quarters are kept. Between
 * them stands a line with the exact number of bytes left out. No character is cut in two, and of a
 * secret that lies across a cut nothing is kept: so that it can be known as one, a little more is
 * remembered than given out.
 *
 *	struct ends out = { 0 };
 *	if (ends_init(&out, arena, e) < 0)
 *		return -1;
 *	ends_add(&out, piece);		as often as there is one
 *	struct str text = ends_text(&out, rules, arena);
 */
#ifndef TOOLS_ENDS_H
#define TOOLS_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/str.h"
#include "scrub/scrub.h"

enum {
	ENDS_HEAD = LIMIT_COMMAND_OUTPUT / 4,
	ENDS_TAIL = LIMIT_COMMAND_OUTPUT - ENDS_HEAD,
};

struct ends {
	char *bytes;   /* the head and more, and behind it the tail and more, a ring */
	int64_t total; /* bytes added */
};

/* The memory is the arena's. */
int ends_init(struct ends *o, struct arena *a, struct err *e);

void ends_add(struct ends *o, struct str piece);

/* Whether something had to be left out. */
bool ends_cut(const struct ends *o);

/* The text, in the arena, cut without showing half a secret (rules NULL: it has none), but not
 * scrubbed; { NULL, 0 } when there is no memory. */
struct str ends_text(const struct ends *o, const struct scrub *rules, struct arena *a);

#endif
