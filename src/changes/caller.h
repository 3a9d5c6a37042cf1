/* SPDX-License-Identifier: MIT */
/*
 * caller: the process whose system call is looked at: its memory, and which file its paths mean.
 *
 * Everything here is the word of a process that may be hostile, and true only at the moment at
 * which it is read.
 */
#ifndef CHANGES_CALLER_H
#define CHANGES_CALLER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

struct caller {
	pid_t pid; /* set by caller_is */
	int proc;  /* its directory in /proc, O_PATH; or -1 */
	pid_t of;  /* whose `proc` is */
};

/* The zero value but for proc, which is -1. */
#define CALLER_INIT                                                                                \
	{                                                                                          \
		.proc = -1                                                                         \
	}

void caller_done(struct caller *c);

/* From now on it is that thread. */
void caller_is(struct caller *c, pid_t pid);

/* Copy bytes from its memory. False if it cannot be read. */
bool caller_read(const struct caller *c, uint64_t address, void *to, size_t n);

/* Copy a string; false if it cannot be read, or is longer than a path can be. */
bool caller_text(const struct caller *c, uint64_t address, char to[PATH_MAX]);

/* A path as the caller sees it: absolute, with links and dots in it. */
struct way {
	char text[2 * PATH_MAX];
	size_t n;
};

/* The path, relative to a directory descriptor of the caller, or AT_FDCWD. The names by which a
 * process reaches its own descriptors and directories are replaced, because only the process itself
 * can follow these. False if it means nothing that has a name. */
bool caller_way(struct caller *c, int dirfd, const char *path, struct way *ret);

/* Where a link leads that lies in that directory, which is an absolute path. */
bool caller_follow(struct caller *c, struct str dir, const char *target, struct way *ret);

/* Open a directory in the caller's root, with O_PATH, following links. -1 with errno. */
int caller_open(struct caller *c, struct str dir);

#endif
