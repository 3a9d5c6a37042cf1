/* SPDX-License-Identifier: MIT */
/*
 * diff: what changed between two texts, by lines, as the wire contract shows it.
 *
 * Each output line is a sign ('+', '-' or blank), the line number right-aligned to the width of the
 * largest one, a blank and the text. Removed and unchanged lines carry old numbers, added lines new
 * ones; four unchanged lines are shown around a change, and a run that is left out is " …  ...".
 * The differences are the fewest possible (Myers' algorithm), unless there are thousands of them:
 * then the rest counts as replaced, up to where both end alike.
 */
#ifndef WORKSPACE_DIFF_H
#define WORKSPACE_DIFF_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Append the diff to out, without a newline at its end. -1 when there is no memory for it, or it is
 * larger than out may be (FILE_TOO_LARGE). */
int diff_lines(struct str old, struct str new, struct arena *a, struct buf *out, struct err *e);

#endif
