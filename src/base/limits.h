/* SPDX-License-Identifier: MIT */
/* limits: every number that bounds anything, with its reason. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
	/* JSON nesting. Tool arguments need four levels; the reader recurses once a level. */
	LIMIT_JSON_DEPTH = 128,

	/* Symbolic links followed for one path, as in the kernel (MAXSYMLINKS). */
	LIMIT_LINK_HOPS = 40,

	/* Log lines waiting for a slow stderr; beyond that they are counted and dropped. */
	LIMIT_LOG_BACKLOG = 256 << 10,

	/* Files remembered by the read tracker over all sessions, about 300 bytes each. */
	LIMIT_TRACKED_FILES = 8192,

	/* A file that is read, edited or replaced in memory as a whole. */
	LIMIT_EDIT_BYTES = 64 << 20,
};

#endif
