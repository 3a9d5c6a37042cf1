/* SPDX-License-Identifier: MIT */
/*
 * lines: whole lines out of bytes as they come.
 *
 *	CLEANUP(lines_done) struct lines l = { .max = … };
 *	n = read(fd, lines_room(&l, &room), room); lines_filled(&l, n);
 *	while ((got = lines_next(&l, &line)) != LINES_MORE) …
 *
 * A line above the maximum is told once, as LINES_LONG, as soon as it is known to be too long; the
 * rest of it goes by without being kept.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

struct lines {
	size_t max; /* bytes of the longest line, without its end */
	struct buf in;
	size_t begin;	/* where the present line begins … */
	size_t scanned; /* … and up to where it has no end */
	bool skipping;	/* the present line was too long */
};

enum lines_got {
	LINES_MORE, /* more bytes are needed */
	LINES_LINE, /* *line, without its newline; valid until lines_room */
	LINES_LONG, /* a line was too long */
};

/* Where to put what is read next, and how much; NULL when there is no memory. */
char *lines_room(struct lines *l, size_t *room);
void lines_filled(struct lines *l, size_t n);

enum lines_got lines_next(struct lines *l, struct str *line);

/* What is there of a line without an end. */
struct str lines_rest(const struct lines *l);

void lines_done(struct lines *l);

#endif
