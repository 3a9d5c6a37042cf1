/* SPDX-License-Identifier: MIT */
/*
 * walk: a tree of directories, visited by several threads, answered in order.
 *
 * The walk starts at a directory descriptor and visits everything below it that the ignore rules
 * leave. It never follows a link, never leaves the tree (dir.h), enters mount points, and skips
 * every entry called .git. Entries that cannot be read, or vanish, are counted and skipped.
 *
 * The hits are in the byte order of their paths, where a directory's path ends in "/"; the order
 * does not depend on the threads. The work is a list in that order: a thread takes the first item,
 * a directory or some files, and puts the results in its place. So the front of the list is always
 * what has been finished; once it has `limit` hits, the rest of the tree need not be visited.
 *
 * Ignore rules, the first that decides:
 *	.ignore		from the entry's directory outwards
 *	.gitignore	from the entry's directory outwards to the repository's root (the directory
 *			that has a .git), or to the outermost directory given if there is no
 *			repository
 *	.git/info/exclude	of that repository
 *	excludes	the user's own file, given as text
 *
 * For models a directory that a tool has filled (filled.h), and of which no rule speaks, is not
 * entered either, unless the walk begins in one.
 */
#ifndef SEARCH_WALK_H
#define SEARCH_WALK_H

#include "search/visit.h"

#define AUTO_FOUND CLEANUP(found_done) struct found

void found_done(struct found *f);

/*
 * Walk. The hits are the first `limit` in order. After a timeout or a cancellation they are all
 * that was found until then, still in order but with gaps. If everything was visited and nothing
 * found, what the rules hide is searched for a short time, for found.ignored_matches. -1 when the
 * directory cannot be read at all. *ret is zeroed by the caller, who also releases it.
 */
int walk_run(const struct walk_request *r, const struct walk_visitor *v, struct found *ret,
	     struct err *e);

#endif
