/* SPDX-License-Identifier: MIT */
/* steps: what the list of steps in sandbox.c is made of: mounts, and the system-call filter. */
#ifndef SANDBOX_STEPS_H
#define SANDBOX_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * mounts: the operations on mounts that the set-up of the sandbox consists of.
 *
 * All of them return -1 with errno if they fail.
 */

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

/* Cover what a descriptor (O_PATH) refers to with itself, by its mounts too: it cannot be renamed or
 * removed then, and if it is read-only not be changed. */
int mounts_cover(int at, bool read_only);

/* Cover a directory with an empty one, or a file with one that cannot be opened without
 * capabilities. What does not exist needs no cover. */
int mounts_hide(const char *path);

/* The same for all names of a list; and cover all of a list read-only (mounts_cover). The directories
 * between the workspace and a name in it are covered by themselves first, because a cover goes along
 * with a directory that is renamed. */
int mounts_hide_list(const char *const *names, size_t count, const char *workspace);
int mounts_protect_list(const char *const *names, size_t count, const char *workspace);

/*
 * seccomp: the system calls no command needs and an attacker wants, as a table.
 *
 * They answer EPERM; everything else is allowed. The filter is loaded once, into the spawner, and
 * all that the spawner starts inherits it: a command pays nothing for it. Programs of another
 * architecture (32 bits on a 64-bit machine) do not run, because their calls have other numbers.
 *
 * ptrace is not in the table: Landlock already keeps a command from tracing processes outside its
 * own tree, and debuggers and leak checkers use it on their own children.
 */

enum seccomp_flag {
	/* No Internet sockets. Not needed in a separate network namespace. */
	SECCOMP_NO_INTERNET = 1 << 0,
	/* No Unix sockets except connected pairs: a filter cannot see which socket a path names. */
	SECCOMP_NO_UNIX = 1 << 1,
};

/* Load the filter into the calling process, which has one thread; sets no_new_privs. */
int seccomp_load_filter(unsigned flags, struct err *e);

#endif
