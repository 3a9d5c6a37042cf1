/* SPDX-License-Identifier: MIT */
/*
 * filled: directories that tools fill: with packages, with what they have built, with caches.
 *
 * One table has their names, and for each the evidence that decides: what lies in such a directory
 * or beside it. A "build" beside a Makefile, with sources in it, is a directory like any other.
 */
#ifndef SEARCH_FILLED_H
#define SEARCH_FILLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* All directories of one name that a walk has left out. */
struct filled {
	const char *name; /* NULL after the last of a list */
	int64_t dirs;
	int64_t files;	 /* in all of them, counted up to LIMIT_FILLED_FILES … */
	bool more;	 /* … and there are more */
	struct buf path; /* of the first of them in byte order */
};

/* Whether the directory of that name, followed by a NUL, in dirfd is one of them: its place in the
 * table, or -1. */
int filled_find(int dirfd, struct str name);

/* Whether one of the directories on the way to the end of a path is; parents[i] is open, and has the
 * component i of the path. What is named by its path is wanted. */
bool filled_above(const int *parents, size_t count, struct str path);

/* Note a directory that is left out, which filled_find has found, in a list that begins as NULL; its
 * path is from the root of the walk. False when there is no memory. */
bool filled_add(struct filled **list, int found, int dirfd, struct str name, struct str path);

/* Take away the places of the table that have none, so that the list has an end. */
void filled_end(struct filled *list);

void filled_free(struct filled *list);

#endif
