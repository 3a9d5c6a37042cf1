/* SPDX-License-Identifier: MIT */
/*
 * find: entries of a tree whose path matches a glob.
 *
 * Files, directories, links (themselves) and everything else are entries. The hits come in byte
 * order of their paths; a directory's path ends in "/". To continue where a limit stopped, give the
 * path of the last hit, without the prefix, as where.after.
 */
#ifndef SEARCH_FIND_H
#define SEARCH_FIND_H

#include "search/walk.h"

struct find_request {
	struct walk_request where;
	struct str prefix;  /* put before each path in the hits */
	struct str pattern; /* a glob, smart case; empty for everything */
	bool exact_case;    /* no smart case */
	bool sizes;	    /* hit.value is the size; costs a system call for each hit */
};

/* Find. -1 with INVALID_GLOB, or when the directory cannot be read. *ret is zeroed by the caller,
 * who also releases it. */
int find_run(const struct find_request *r, struct found *ret, struct err *e);

#endif
