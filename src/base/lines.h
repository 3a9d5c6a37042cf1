/* SPDX-License-Identifier: MIT */
/*
 * lines: whole lines from bytes as they arrive.
 *
 *	CLEANUP(lines_done) struct lines l = { .max = … };
 *	n = read(fd, lines_room(&l, &room), room); lines_filled(&l, n);
 *	while ((got = lines_next(&l, &line)) != LINES_MORE) …
 *
 * A line above the maximum is reported once, as LINES_LONG, as soon as it is known to be too long;
 * the rest of it is skipped.
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
	size_t begin;	/* where the current line begins */
	size_t scanned; /* there is no newline before this byte */
	bool skipping;	/* the current line was too long */
};

enum lines_got {
	LINES_MORE, /* more bytes are needed */
	LINES_LINE, /* *line, without its newline; valid until lines_room */
	LINES_LONG, /* a line was too long */
};

/* Where to read the next bytes to, and how many; NULL if there is no memory. */
char *lines_room(struct lines *l, size_t *room);
void lines_filled(struct lines *l, size_t n);

enum lines_got lines_next(struct lines *l, struct str *line);

/* The last line if it has no newline; empty if there is none. */
struct str lines_rest(const struct lines *l);

void lines_done(struct lines *l);

/* The last `most` lines of a text, or all; *before counts those that come earlier. */
struct str lines_last(struct str text, int64_t most, int64_t *before);

#endif
