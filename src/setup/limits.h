/* SPDX-License-Identifier: MIT */
/* limits: every number that limits setup, with its reason. */
#ifndef SETUP_LIMITS_H
#define SETUP_LIMITS_H

enum {
	/* The largest configuration that is edited: Claude Code keeps its history in one, of
	 * several megabytes. */
	LIMIT_SETUP_FILE = 32 << 20,
	/* A record has two of them in base64. */
	LIMIT_SETUP_RECORD = 128 << 20,
};

#endif
