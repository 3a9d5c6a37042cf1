/* SPDX-License-Identifier: MIT */
/*
 * mounts: the operations on mounts that the set-up of the sandbox consists of.
 *
 * All of them return -1 with errno if they fail.
 */
#ifndef SANDBOX_MOUNTS_H
#define SANDBOX_MOUNTS_H

#include <stdbool.h>

/* A copy of the tree of mounts below a canonical name (sandbox/canonical.h), not attached anywhere:
 * a descriptor. */
int mounts_take(const char *name);

/* Attach such a tree to a path. */
int mounts_put(int tree, const char *path);

/* Make the tree of mounts below a path read-only, which does not concern devices: if there are to
 * be none, they cannot be opened at all. */
int mounts_make_read_only(const char *path, bool no_devices);

/* Make sure that the path exists, so that something can be mounted there. */
int mounts_make_place(const char *path, bool is_dir);

/* Cover a directory with an empty one, or a file with one that cannot be opened without
 * capabilities. What does not exist needs no cover. */
int mounts_hide(const char *path);

#endif
