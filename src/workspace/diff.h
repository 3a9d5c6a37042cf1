/* SPDX-License-Identifier: MIT */
/*
 * diff: what changed between two texts, by lines, as the wire contract shows it.
 *
 * Each output line is a sign ('+', '-' or blank), the line number right-aligned to the width of the
 * largest one, a blank and the text. Removed and unchanged lines carry old numbers, added lines new
 * ones. Four unchanged lines are shown around a change; "..." stands for a longer run of them. The
 * differences are the fewest possible (Myers' algorithm), unless there are more than a thousand:
 * then the rest is shown as replaced, except for the lines in which both texts end alike.
 */
#ifndef WORKSPACE_DIFF_H
#define WORKSPACE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Append the diff to out, without a newline at its end. -1 if there is no memory (TOO_BUSY) or out
 * cannot take all of it (FILE_TOO_LARGE). */
int diff_lines(struct str old, struct str new, struct arena *a, struct buf *out, struct err *e);

/* How many lines a diff adds and removes. */
struct diff_size {
	int64_t added, removed;
};

struct diff_size diff_size(struct str diff);

/* The same of two texts, without making the diff. False if there are more than a thousand
 * differences between lines that both have, or no memory. */
bool diff_count(struct str old, struct str new, struct arena *a, struct diff_size *ret);

/* The beginning of a diff, and what is left out of it. */
struct diff_head {
	struct str text;
	int64_t lines; /* left out of the last hunk that is shown */
	int64_t hunks; /* left out whole */
};

/* The hunks that fit into these lines and bytes; or if the first one alone does not, the lines of
 * it that do. A hunk is what stands between two "...". */
struct diff_head diff_cut(struct str diff, int64_t max_lines, int64_t max_bytes);

/* The same as `diff -u` shows it, with three lines of context, without the two lines that name the
 * files. Every line ends with a newline. */
int diff_unified(struct str old, struct str new, struct arena *a, struct buf *out, struct err *e);

#endif
