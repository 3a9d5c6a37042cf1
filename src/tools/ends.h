/* SPDX-License-Identifier: MIT */
/*
 * ends: both ends of a text of any length, in bounded memory.
 *
 * A command says what it is about to do at the start of its output and what went wrong at the end.
 * So much of the start and of the end is remembered as was asked for. What is shown of them is
 * decided when the text has ended: all of it if it fits; else its start and its end, cut where a
 * line ends if that is possible, and never inside a character.
 */
#ifndef TOOLS_ENDS_H
#define TOOLS_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct ends {
	char *bytes;	      /* the head; after it the tail, which is a ring */
	size_t head, tail;    /* how many bytes of each are remembered */
	int64_t total, lines; /* bytes and newlines that were added */
};

/* Remember the first `head` and the last `tail` bytes. The memory is the arena's. */
int ends_init(struct ends *o, size_t head, size_t tail, struct arena *a, struct err *e);

void ends_add(struct ends *o, struct str piece);

/* How much may be shown. Of a text that does not fit, the head gets `head` percent. */
struct ends_limit {
	int64_t bytes, lines;
	unsigned head;
	bool at_lines; /* cut where lines end */
};

struct ends_shown {
	struct str head, tail; /* everything is in the head if nothing is left out */
	int64_t bytes, lines;  /* left out between them */
	int64_t next_line;     /* the line on which that begins, from 1 */
};

/* What is shown within the limit, which must not be larger than what is remembered. The texts are
 * in the arena; -1 with TOO_BUSY if there is no memory. */
int ends_show(const struct ends *o, const struct ends_limit *limit, struct arena *a,
	      struct ends_shown *ret, struct err *e);

/* Write what is shown, and between head and tail a line that says what is left out; `where`, if it
 * is not empty, says how to get it. */
void ends_write(struct buf *out, const struct ends_shown *s, const char *where);

#endif
