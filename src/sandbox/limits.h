/* SPDX-License-Identifier: MIT */
/* limits: every number that limits what the sandbox does, with its reason. */
#ifndef SANDBOX_LIMITS_H
#define SANDBOX_LIMITS_H

enum {
	/* Files that stay covered after others have taken their names, each held by a descriptor: a
	 * few rotations of what the server writes. */
	LIMIT_COVERED_BEFORE = 16,

	/* Caches that are looked at when too much is kept: more workspaces than a user has. */
	LIMIT_CACHES = 256,

	/* A variable that points into the private /tmp, or a cache. */
	LIMIT_SANDBOX_VARIABLE = 4096 + 64,
};

/* What all caches of a user may have together: those of some ten projects. */
#define LIMIT_CACHE_BYTES ((int64_t)8 << 30)

#endif
