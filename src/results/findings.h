/* SPDX-License-Identifier: MIT */
/*
 * findings: what a search or a listing found, as much of it as one answer to a model holds.
 *
 * Hits are written in order while they fit into the bytes and lines that the call has left. What
 * follows is reached by a cursor, which the last line of the text has:
 *
 *	struct findings f = findings_begin(out);
 *	while (hits_next(&reader, &hit) && findings_fit(&f, &hit, …))
 *		findings_add_path(&f, &hit);
 *	findings_end(&f, &end);
 *
 * findings_fit also says how many hits fit into an observation, which the tool writes itself.
 */
#ifndef RESULTS_FINDINGS_H
#define RESULTS_FINDINGS_H

#include "results/way.h"
#include "search/hits.h"
#include "search/walk.h"
#include "tools/scope.h"

struct findings {
	const struct way *out;
	int64_t lines;	 /* that the text may still have */
	int64_t count;	 /* hits that were written … */
	int64_t files;	 /* … the files they are in … */
	int64_t matches; /* … and the matching lines there */
	struct str path; /* of the last hit … */
	int64_t line;	 /* … and the last of its lines that is shown */
};

struct findings findings_begin(const struct way *out);

/* How much of a hit is written. */
enum findings_part {
	FINDINGS_PATH,	  /* its path */
	FINDINGS_MATCH,	  /* and the lines that match */
	FINDINGS_CONTEXT, /* and those around them */
};

/* How much of a hit is shown, if there is room. */
enum findings_part findings_part_of(enum found_show show);

/* Where the next answer begins, if the first n hits, up to `last`, were shown; empty if there is no
 * more. After a timeout there are gaps before the last hit, which a cursor would skip. */
struct str findings_cursor(const struct way *out, const struct found_result *r, int64_t n,
			   const struct hit *last);

/* Whether that much of another hit fits. To be asked once for each hit, which then is written: the
 * count goes up. The first one always fits, if need be with less: *part says how much. */
bool findings_fit(struct findings *f, const struct hit *hit, enum findings_part *part);

/* How many of the hits fit at least. */
int64_t findings_hold(const struct way *out, const struct hits *hits, enum findings_part part);

/* The part of a line that a search shows; *cut becomes true if that is not all. */
struct str findings_line(struct str line, bool *cut);

/* The same for a model: it is not cut inside something that the call's scrubber takes for a secret.
 */
struct str findings_model_line(const struct way *out, const struct hit_line *line, bool *cut);

/* Add a hit to the text: its path; its path and count; its lines, below the path if it is the first
 * of its file (what the next hit, or NULL, shows itself is left to it); or its name, indented below
 * its directories, and its size. */
void findings_add_path(struct findings *f, const struct hit *hit);
void findings_add_count(struct findings *f, const struct hit *hit);
void findings_add_lines(struct findings *f, struct hit hit, const struct hit *next,
			enum findings_part part);
void findings_add_entry(struct findings *f, const struct hit *hit);

/* What the last line of the text says; what is NULL or empty is not mentioned. */
struct findings_end {
	const char *summary;		    /* how many there are */
	const struct hits *left;	    /* where there are more, if the hits are spread */
	const struct walk_account *account; /* what was left out … */
	const struct filled *filled;	    /* … and what tools have filled … */
	struct str scope;		    /* … below this path */
	const char *note;		    /* why nothing was found */
	enum walk_stop stopped;		    /* whether there may be more */
	struct str cursor;		    /* to go on */
};

/* End the text. The last line is that of a hit if there is nothing to say. */
void findings_end(const struct findings *f, const struct findings_end *end);

#endif
