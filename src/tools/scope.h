/* SPDX-License-Identifier: MIT */
/*
 * scope: where a search looks.
 *
 * A directory or a file of the workspace, opened, together with the directories above it (up to the
 * workspace's root, never beyond) whose ignore rules count.
 */
#ifndef TOOLS_SCOPE_H
#define TOOLS_SCOPE_H

#include "search/walk.h"
#include "tools/tool.h"

enum { SCOPE_PARENTS = 64 }; /* rules of directories further up are not looked at */

struct scope {
	int dir;	  /* -1 when it is a file */
	int file;	  /* -1 when it is a directory */
	struct str shown; /* the path as an agent knows it; in the call's arena */
	int parents[SCOPE_PARENTS];
	size_t parent_count;
	struct str parent_path;
};

#define AUTO_SCOPE CLEANUP(scope_done) struct scope

/* Open what the path leads to. With only_dirs a file is NOT_A_DIRECTORY. */
int scope_open(struct call *c, struct str path, bool only_dirs, struct scope *ret, struct err *e);
void scope_done(struct scope *s);

/* The walk through the scope, with the call's threads, deadline and rules. */
struct walk_request scope_walk(const struct call *c, const struct scope *s, size_t limit);

/* What stands before a path below the scope so that it is one below the workspace: "src/", or
 * nothing. In the call's arena. */
struct str scope_prefix(const struct call *c, const struct scope *s);

/* The globs that choose files below the scope: the one asked for, and the same without the path of
 * the scope when it begins with that, because it may be meant from the workspace. How many. */
size_t scope_globs(const struct call *c, const struct scope *s, struct str glob, struct str ret[2]);

/* SEARCH_TIMEOUT when the search was stopped before it found anything: by the pattern, which says
 * why, or because its time was up. */
int scope_check_found(const struct found *found, struct err *e);

/* No silent nothing: a member "note" when everything that matches is ignored, or when the pattern
 * could not be tried on some lines. */
void scope_write_note(struct jw *w, const struct found *found);

#endif
