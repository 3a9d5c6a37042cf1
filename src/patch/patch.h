/* SPDX-License-Identifier: MIT */
/*
 * patch: a text that says how files change, as a list of files and hunks.
 *
 * Three formats are understood:
 *	v4a	"*** Begin Patch", "*** Update File: path", "@@ line before", ' ' '-' '+' lines
 *	unified	"diff -u" and "git diff"
 *	blocks	the path, "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
 *
 * Parsing looks at the text only; plan.h places the hunks in a file. Everything in the result
 * points into the text, which must live as long, or into the arena. Paths are as the patch has
 * them: whether they are inside of the workspace is for the caller to say. Files are in the order
 * of the patch, and a later one can be about the result of an earlier one.
 */
#ifndef PATCH_PATCH_H
#define PATCH_PATCH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "patch/hunk.h"

/*
 * Parse a patch. `strip` is how many directories are taken off the front of each path of a unified
 * patch; PATCH_STRIP_AUTO takes "a/" and "b/" off. Returns 0; or -1 with INVALID_PATCH, whose
 * sentence names the line of the patch, or TOO_BUSY if the arena is full. Takes time linear in the
 * text.
 */
int patch_parse(struct str text, enum patch_format format, int strip, struct arena *a,
		struct patch *ret, struct err *e);

/* The first path that a patch names, by a quick look at the beginning of its text; empty if there
 * is none. For logs: it may be wrong. */
struct str patch_first_path(struct str text);

/* The names of the formats, by their number; NULL after the last. */
extern const char *const patch_formats[];

#endif
