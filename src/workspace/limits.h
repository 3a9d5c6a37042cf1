/* SPDX-License-Identifier: MIT */
/* limits: of the workspace; base/limits.h has those that others share. */
#ifndef WORKSPACE_LIMITS_H
#define WORKSPACE_LIMITS_H

#include "base/limits.h"

enum {
	/* ".." removed from the targets of those links; each costs a walk from the top. */
	LIMIT_LINK_PARENTS = 1024,

	/* How long a held directory is used before each part of its path is looked at again. */
	LIMIT_ROOT_LOOK_MS = 250,
	LIMIT_ROOT_SEEN_US = 50,
	/* Content that it keeps to show what changed: of one file, and of all files. */
	LIMIT_TRACKED_CONTENT = 128 << 10,
	LIMIT_TRACKED_BYTES = 8 << 20,

	/* How long a call waits for another program that changes files of the workspace. Locks last
	 * milliseconds; who has one longer is stopped, or hangs. */
	LIMIT_SHARED_LOCK_MS = 5000,

	/* Nested directories that are removed as a tree; each level holds a descriptor. */
	LIMIT_REMOVE_DEPTH = 256,
};

#endif
