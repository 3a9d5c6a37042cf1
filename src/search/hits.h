/* SPDX-License-Identifier: MIT */
/*
 * hits: what a search found, in order.
 *
 * A hit is an entry of the tree: its path, its type, and for a search of contents a line number or
 * a count and the lines around it. Hits are packed into chunks, so that joining two lists moves no
 * byte, and taking back the hits of a file that turned out to be binary is a cut. The zero value is
 * an empty list.
 *
 *	struct hits_reader r = { .hits = &found };
 *	struct hit hit;
 *	struct hit_line line;
 *	while (hits_next(&r, &hit))
 *		while (hit_next_line(&hit, &line))
 *			…
 */
#ifndef SEARCH_HITS_H
#define SEARCH_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "base/err.h"
#include "base/str.h"

enum hit_type {
	HIT_FILE,
	HIT_DIRECTORY,
	HIT_LINK,
	HIT_OTHER, /* device, socket, pipe */
};

struct hit {
	enum hit_type type;
	struct str path; /* a directory's ends in "/" */
	int64_t line;	 /* number of the first matching line; 0 when the hit is a whole file */
	int64_t value;	 /* find: size in bytes when asked for; counts: matching lines */
	struct str rest; /* the lines not yet read by hit_next_line */
	int64_t number;	 /* of the next line */
};

struct hit_line {
	int64_t number;
	struct str text; /* without newline and carriage returns, cut at LIMIT_SEARCH_TEXT */
	bool match;	 /* else it is context */
	bool cut;	 /* there was more text */
	bool headless;	 /* there was more text before it */
};

/* What is known of a line that is added. */
enum {
	HIT_LINE_MATCH = 1 << 0,
	HIT_LINE_HEADLESS = 1 << 1,
};

struct hits_chunk;

struct hits {
	struct hits_chunk *first, *last;
	size_t count;
	size_t bytes;
	bool failed; /* a hit was lost for lack of memory */
};

/* A hit is added by hits_begin, any number of hits_line, and hits_end, which gets the number of the
 * first line. When there is no memory nothing is added. */
void hits_begin(struct hits *h, enum hit_type type, struct str prefix, struct str path);
void hits_note(struct hits *h, struct str note); /* at the end of the path, before any line */
void hits_line(struct hits *h, struct str text, unsigned flags);
void hits_end(struct hits *h, int64_t line, int64_t first_line, int64_t value);

/* Add a hit of another list, as hits_next has given it. */
void hits_add(struct hits *h, const struct hit *hit);

/* A place to return to: hits_cut drops everything added since. */
struct hits_mark {
	struct hits_chunk *last;
	size_t used, count, bytes;
};
struct hits_mark hits_mark(const struct hits *h);
void hits_cut(struct hits *h, const struct hits_mark *mark);

/* Keep only the first n hits, and fewer if these have more than `bytes`. */
void hits_keep(struct hits *h, size_t n, size_t bytes);

/* Move all hits of `from` to the end of h. */
void hits_join(struct hits *h, struct hits *from);
void hits_done(struct hits *h);

/* TOO_BUSY: there is no memory for all that a search finds. */
int hits_fail(struct err *e);

struct hits_reader {
	const struct hits *hits;
	const struct hits_chunk *chunk; /* NULL before the first hit */
	size_t at;
};

/* The next hit or line; false at the end. What they point to is valid as long as the hits. */
bool hits_next(struct hits_reader *r, struct hit *ret);
bool hit_next_line(struct hit *hit, struct hit_line *ret);

#endif
