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

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Append the diff to out, without a newline at its end. -1 if there is no memory (TOO_BUSY) or out
 * cannot take all of it (FILE_TOO_LARGE). */
int diff_lines(struct str old, struct str new, struct arena *a, struct buf *out, struct err *e);

#endif
