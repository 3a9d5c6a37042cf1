/* SPDX-License-Identifier: MIT */
/* limits: every number that limits patches, with its reason. */
#ifndef PATCH_LIMITS_H
#define PATCH_LIMITS_H

enum {
	/* A patch: bytes, files, lines of a patched file, lines compared for each line. */
	LIMIT_PATCH_BYTES = 8 << 20,
	LIMIT_PATCH_FILES = 2000,
	LIMIT_PATCH_FILE_LINES = 1 << 20,
	LIMIT_PATCH_WORK = 64,

	/* The contents of all files of one patch, which are in memory together; and what is told of
	 * them: the diff of one file, of all, and of all for a model. */
	LIMIT_PATCH_CONTENT = 128 << 20,
	LIMIT_PATCH_DIFF = 1 << 20,
	LIMIT_PATCH_DIFFS = 16 << 20,
	LIMIT_PATCH_SHOWN = 256 << 10,
};

#endif
