/* SPDX-License-Identifier: MIT */
/* limits: every number that limits what is shown of a result, with its reason. */
#ifndef RESULTS_LIMITS_H
#define RESULTS_LIMITS_H

enum {
	/* The largest file that is shown in the diff of a change. */
	LIMIT_DIFF_FILE = 1 << 20,

	/* Bytes that an envelope adds after a result, at most. */
	LIMIT_ENVELOPE_END = 64,

	/* Bytes of all matches of an observation together. */
	LIMIT_SEARCH_ANSWER = 256 << 10,

	/* One page of /search: lines with their context, and bytes. The next page goes on after it.
	 */
	LIMIT_PAGE_LINES = 20000,
	LIMIT_PAGE_BYTES = 4 << 20,

	/* Paths of a change in an observation, and in a line of text. */
	LIMIT_CHANGED_PATHS = 50,
	LIMIT_CHANGED_SHOWN = 20,

	/* Paths in the answer of an undo, each kind. */
	LIMIT_UNDO_PATHS = 1000,
};

#endif
