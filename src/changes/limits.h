/* SPDX-License-Identifier: MIT */
/* limits: every number that limits the journal and undo, with its reason. */
#ifndef CHANGES_LIMITS_H
#define CHANGES_LIMITS_H

enum {
	/* From this length or number of records on no change begins in a segment, so that not much
	 * goes when the oldest is removed. */
	LIMIT_JOURNAL_SEGMENT = 16 << 20,
	LIMIT_JOURNAL_RECORDS = 16 << 10,

	/* A segment gets at most this part of a bound, and the change that exceeds it. */
	LIMIT_JOURNAL_SHARES = 16,

	/* The newest segments of which one that is not full is continued; more would keep new
	 * changes among old ones, which go first. */
	LIMIT_JOURNAL_REUSE = 16,

	/* Segments in which a link is looked for whose place is not known any more. */
	LIMIT_JOURNAL_SEGMENTS = 64,

	/* How long a program waits for another that makes or removes the home of a journal, which
	 * takes milliseconds. */
	LIMIT_HOME_MS = 5000,

	/* An old content up to this size is copied rather than linked: a new name costs as much.
	 * Larger ones are read in pieces. */
	LIMIT_JOURNAL_SMALL = 32 << 10,
	LIMIT_JOURNAL_PIECE = 256 << 10,
	LIMIT_JOURNAL_GLANCE = 4 << 10,

	/* Changes whose entries are kept in memory, about 100 bytes each. */
	LIMIT_CHANGES = 20000,

	/* What is kept of a change's subject, session and tool. */
	LIMIT_CHANGE_TEXT = 500,

	/* The largest file whose SHA-256 is shown. */
	LIMIT_DIGEST_FILE = 16 << 20,

	/* Directories that one change may hold open (or as many as the descriptors allow), and its
	   memory: about 300 bytes a path. */
	LIMIT_CHANGE_DIRS = 32 << 10,
	LIMIT_CHANGE_MEMORY = 256 << 20,

	/* If it has used so many, the contents of small files do not stay in memory any more. */
	LIMIT_CHANGE_TEXTS = 256 << 10,

	/* How long an answer waits until everything that a command changed is known, and the end of
	 * the server for changes that are still open. Longer than this takes only a thread that was
	 * made to read memory which does not answer. */
	LIMIT_WATCHED_MS = 10000,

	/* Nameless files that a change of several files holds open: other calls need descriptors
	 * too. More get temporary names. */
	LIMIT_BATCH_HELD = 512,

	/* Extended attributes of a file: the names, one value (the kernel's own limit), and all. */
	LIMIT_XATTR_NAMES = 4096,
	LIMIT_XATTR = 64 << 10,
	LIMIT_XATTRS = 256 << 10,
};

#endif
