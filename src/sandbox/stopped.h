/* SPDX-License-Identifier: MIT */
/*
 * stopped: the process that made a stopped call (sandbox/supervisor.h): its memory, its
 * descriptors, and what its paths mean.
 *
 * Nothing here can be believed twice. Memory may be changed by another thread of the caller right
 * after it was copied, a descriptor exchanged, a directory renamed; and the caller may be killed,
 * and its number given to a process that is not in the sandbox. So what a decision rests on is
 * copied once and used from the copy, and supervisor_is_waiting is asked after the last look: if
 * the call still waits then, everything before it was its caller's.
 *
 * A caller may be a thread. Functions return 0 or a descriptor; or -1 with errno: EPERM if this
 * process may not look into the caller (it is not dumpable, or Yama or a container forbids it).
 */
#ifndef SANDBOX_STOPPED_H
#define SANDBOX_STOPPED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "sandbox/supervisor.h"

/* An absolute path as the caller sees it, with links and dots in it; longer ones do not exist. */
struct stopped_path {
	char text[2 * PATH_MAX];
	size_t n;
};

/* Has the caller a signal to handle, for which the kernel would have interrupted the call? */
bool stopped_is_signalled(const struct stopped_call *s);

/* Copy n bytes of its memory. */
int stopped_read(const struct stopped_call *s, uint64_t address, void *to, size_t n);

/* Copy a string. ENAMETOOLONG if it is longer than a path can be. */
int stopped_text(const struct stopped_call *s, uint64_t address, char to[PATH_MAX]);

/* A duplicate of one of its descriptors, close-on-exec. */
int stopped_take(const struct stopped_call *s, int fd);

/* Its directory in /proc, O_PATH. If its number is given to another process, this one is empty. */
int stopped_proc(const struct stopped_call *s);

/* Make a path absolute, relative to a directory descriptor of the caller or AT_FDCWD. Links are not
 * followed, except those in /proc by which a process reaches its own descriptors and directories:
 * only the process itself could follow them. */
int stopped_absolute(int proc, int dirfd, const char *path, struct stopped_path *ret);

/* Where a link leads that lies in that directory, which is an absolute path. */
int stopped_follow(int proc, struct str dir, const char *target, struct stopped_path *ret);

/* Its root directory, O_PATH. */
int stopped_root(int proc);

/* Open what an absolute path means to the caller, in that root and its mounts, with these flags and
 * O_PATH: links are followed (the last one unless O_NOFOLLOW is given), magic ones are refused. */
int stopped_open(int root, const char *absolute, int flags);

/* The name of an open file, in the view of the process through which it was opened. False if it has
 * none. */
bool stopped_name(int fd, char name[PATH_MAX]);

#endif
