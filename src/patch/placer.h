/* SPDX-License-Identifier: MIT */
/*
 * placer: finds the places of the hunks of one file, by the rules in patch.h.
 *
 * It has one current hunk, whose lines are loaded into memory that all hunks share.
 */
#ifndef PATCH_PLACER_H
#define PATCH_PLACER_H

#include "base/arena.h"
#include "base/err.h"
#include "patch/hunk.h"
#include "patch/textlines.h"

struct place {
	size_t at, n; /* first line and number of lines that the hunk replaces or confirms */
	const struct patch_hunk *hunk;
	enum match_level level;
	size_t added; /* how many places were added before it */
};

/* Lines are numbered from 0. No two places overlap. A place without lines is an insertion between
 * two lines; several before the same line keep the order in which they were added. */
struct places {
	struct place *item;
	size_t count;
	size_t lines;	 /* of the file */
	uint32_t *owner; /* of each line: the place that it is in, from 1; 0: none */
	bool *inserted;	 /* before each line, and at the end: there is an insertion */
	int64_t *growth; /* a Fenwick tree: lines that the places before each line add */
};

struct placer {
	const struct patch *patch;
	const struct patch_file *file;
	struct textlines text;
	struct places places;
	struct arena *arena;
	const struct patch_note *notes;
	struct patch_note *last_note;
	size_t work, max_work; /* lines compared */
	size_t from;	       /* where the previous hunk ended */

	/* The current hunk. */
	const struct patch_hunk *hunk;
	size_t number; /* from 1 */
	struct patch_line *lines;
	size_t count, room;
	struct str *old;	  /* its old lines: context and removed ones … */
	uint32_t *hash;		  /* … and their hashes on the level that is tried */
	size_t n;		  /* old lines */
	bool old_open;		  /* the last old line has no newline */
	size_t context, trailing; /* context lines: all of them, and those after the last change */
};

/* Make the hunk the current one. 0, or -1 with TOO_BUSY. */
int placer_load(struct placer *pl, const struct patch_hunk *h, struct err *e);

/* Note that the "@@" line of the current hunk has wrong counts or none. */
void placer_check_counts(struct placer *pl);

/* Place every hunk of the file; the places are then in its order. 0; or -1 with TEXT_NOT_FOUND,
 * TEXT_NOT_UNIQUE or TOO_BUSY. */
int placer_run(struct placer *pl, struct err *e);

/* explain: say why a hunk does not match, and where the file has nearly its text. */

/* A hunk that was not found: its place in the patch and its old lines. */
struct explain_hunk {
	struct str path;
	size_t number, count; /* hunk `number`, from 1, of `count` */
	int64_t line;	      /* of the patch */
	const struct str *old;
	size_t n;
	const char *must; /* where it has to be, such as "at the end of the file"; NULL: anywhere */
};

/* TEXT_NOT_FOUND with the nearest text, if there is one. Returns -1. */
int explain_missing(struct textlines *t, const struct explain_hunk *h, struct err *e);

/* TEXT_NOT_UNIQUE with the numbers, from 1, of the lines at which the hunk fits. Returns -1. */
int explain_places(const struct explain_hunk *h, const size_t *lines, size_t n, bool more,
		   struct err *e);

#endif
