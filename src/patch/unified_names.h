/* SPDX-License-Identifier: MIT */
/*
 * unified_names: the paths in the header lines of unified diffs.
 *
 * A path is bare or, if it has special characters, quoted as in C. What is returned points into the
 * line or into the arena.
 */
#ifndef PATCH_UNIFIED_NAMES_H
#define PATCH_UNIFIED_NAMES_H

#include "base/arena.h"
#include "base/str.h"

/* The path at the start of s: a quoted one, or everything up to a tab or the end. `strip` is how
 * many directories are taken off, PATCH_STRIP_AUTO: "a/" or "b/". The result is empty if the path
 * has not that many, or if it is badly quoted. */
struct str name_read(struct str s, int strip, struct arena *a);

/* The one path of "a/x b/x", which is what follows "diff --git "; empty if they are two. */
struct str name_of_both(struct str s, int strip, struct arena *a);

/* Whether the header line, after "--- " or "+++ ", is about no file: "/dev/null", or a time at the
 * beginning of 1970, which is how diff says it. */
bool name_is_none(struct str s);

#endif
