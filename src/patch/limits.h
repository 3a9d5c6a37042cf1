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
};

#endif
