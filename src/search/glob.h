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
#include "search/walk.h"

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

/*
 * find: entries of a tree whose path matches a glob.
 *
 * Files, directories, links (themselves) and everything else are entries. The hits come in byte
 * order of their paths; a directory's path ends in "/". To continue where a limit stopped, give the
 * path of the last hit, without the prefix, as where.after.
 */

struct find_request {
	struct walk_request where;
	struct str prefix;  /* put before each path in the hits */
	struct str pattern; /* a glob, smart case; empty for everything */
	bool exact_case;    /* no smart case */
	bool one_type;	    /* only entries of `type` */
	enum hit_type type;
	bool sizes; /* hit.value is the size; costs a system call for each hit */

	/* Is a path hidden from agents? Then it is marked so, and what is in it is not looked at.
	 * May be NULL. Called by several threads. */
	bool (*hides)(void *arg, struct str path);
	void *hides_arg;
};

/* Find. -1 with INVALID_GLOB, or when the directory cannot be read. *ret is zeroed by the caller,
 * who also releases it. */
int find_run(const struct find_request *r, struct found *ret, struct err *e);

#endif
