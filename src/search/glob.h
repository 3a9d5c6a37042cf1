/* SPDX-License-Identifier: MIT */
/*
 * glob: the paths that a caller asks for.
 *
 * The patterns are those of wild.h. One without "/" is matched against the last component of a
 * path, one with "/" against the whole path relative to the searched directory; "./x" and "/x" are
 * x at its top. A "/" at the end means directories only. A compiled glob is constant and may be
 * used by many threads.
 */
#ifndef SEARCH_GLOB_H
#define SEARCH_GLOB_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct glob;
struct buf;

enum {
	GLOB_SMART_CASE = 1 << 0, /* without an upper-case letter it matches any case */
	GLOB_FILTER = 1 << 1,	  /* "!x" means all but x; "x/" means everything below x */
};

/* Compile. INVALID_GLOB says what is wrong and where. */
int glob_new(struct str pattern, unsigned flags, struct glob **ret, struct err *e);
void glob_free(struct glob *g);

/* The leading components of a pattern that are plain text, as a path: "/ws/a b/" of "/ws/a\ b/x*".
 * The last component is never one of them. Adds the path to `to` and returns how many bytes of the
 * pattern it was; 0 if there is none. */
size_t glob_lead(struct str pattern, struct buf *to);

/* Whether the text has a letter that makes a pattern with GLOB_SMART_CASE match exactly. */
bool glob_has_upper(struct str s);

/* Whether the pattern excludes (GLOB_FILTER). */
bool glob_negated(const struct glob *g);

/* Whether the pattern, its "!" aside, matches; name is the last component of path. */
bool glob_match(const struct glob *g, struct str path, struct str name, bool is_dir);

#endif
