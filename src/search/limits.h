/* SPDX-License-Identifier: MIT */
/* limits: of searches; base/limits.h has those that others share. */
#ifndef SEARCH_LIMITS_H
#define SEARCH_LIMITS_H

#include "base/limits.h"

enum {
	/* Bytes of a path that a glob with "!(…)" is tried on: a set with a bit for each fits on
	 * the stack. */
	LIMIT_GLOB_TEXT = 32 << 10,
	/* How many "!(…)" a glob may have: each takes time for every character of a name. */
	LIMIT_GLOB_NOTS = 8,
	/* Nested braces and parentheses in a glob; people write two levels. */
	LIMIT_GLOB_NESTING = 16,

	/* Directories that one walk keeps open; a process usually has 1024 descriptors. */
	LIMIT_WALK_DIRS = 64,
	/* Directory entries read at once, in bytes: a few thousand entries. */
	LIMIT_WALK_DENTS = 64 << 10,

	/* Files that a thread of a walk takes at once: enough to make taking cheap, few enough that
	 * all threads finish together. */
	LIMIT_WALK_FILES = 16,

	/* The stack of a search's thread (virtual memory; PCRE2's just-in-time compiler needs it). */
	LIMIT_SEARCH_STACK = 8 << 20,

	/* Memory for the hits of one search. A further search goes on from the last one. */
	LIMIT_SEARCH_BYTES = 8 << 20,

	/* Bytes of a file read at once; they fit into the second-level cache. */
	LIMIT_SEARCH_READ = 128 << 10,

	/* A longer line is searched in pieces of this size. */
	LIMIT_SEARCH_LINE = 1 << 20,

	/* A file in which matches may cross lines is held in memory whole. */
	LIMIT_SEARCH_MULTILINE = 4 << 20,

	/* Ignored files that would have matched: how long to look for them, how many to count, and
	 * how many ignored entries to remember for that. */
	LIMIT_SEARCH_HINT_MS = 300,
	LIMIT_SEARCH_HINTS = 1000,
	LIMIT_SEARCH_HIDDEN = 4096,

	/* How many directories deep hits are spread. */
	LIMIT_SPREAD_DEPTH = 8,

	/* Files that are counted in the directories of one name that tools fill, and entries, to get
	 * to them: a few milliseconds. */
	LIMIT_FILLED_FILES = 1000,
	LIMIT_FILLED_ENTRIES = 4000,
	LIMIT_FILLED_DEPTH = 32,

	/* How often a search reports its progress: as often as a person can read. */
	LIMIT_SEARCH_TELL_MS = 200,
};

#endif
