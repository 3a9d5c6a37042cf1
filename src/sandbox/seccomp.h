/* SPDX-License-Identifier: MIT */
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
#ifndef SANDBOX_SECCOMP_H
#define SANDBOX_SECCOMP_H

#include "base/err.h"

enum seccomp_flag {
	/* No Internet sockets. Not needed in a separate network namespace. */
	SECCOMP_NO_INTERNET = 1 << 0,
	/* No Unix sockets except connected pairs: a filter cannot see which socket a path names. */
	SECCOMP_NO_UNIX = 1 << 1,
};

/* Load the filter into the calling process, which has one thread; sets no_new_privs. */
int seccomp_load_filter(unsigned flags, struct err *e);

#endif
