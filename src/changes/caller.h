/* SPDX-License-Identifier: MIT */
/*
 * caller: the process whose system call is looked at: its memory, and which file its paths mean.
 *
 * A path is resolved as the caller would, links and all, and then found again from the workspace's
 * root, because the caller may see other mounts. What lies outside the workspace is not found.
 */
#ifndef CHANGES_CALLER_H
#define CHANGES_CALLER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

struct caller {
	pid_t pid;
	int root;	 /* of the workspace, O_PATH */
	struct str path; /* its path, the same for the caller */
};

/* Copy bytes from its memory. False if it cannot be read. */
bool caller_read(const struct caller *c, uint64_t address, void *to, size_t n);

/* Copy a string; false if it cannot be read, or is longer than a path can be. */
bool caller_text(const struct caller *c, uint64_t address, char to[PATH_MAX]);

/* Find the directory and the name that a path means, relative to a directory descriptor of the
 * caller, or AT_FDCWD. With `follow` a link at the end is followed. Returns the directory, which
 * the caller of this function closes; -1 if it lies outside the workspace or does not exist. */
int caller_find(const struct caller *c, int dirfd, const char *path, bool follow,
		char name[NAME_MAX + 1]);

#endif
