/* SPDX-License-Identifier: MIT */
/*
 * listener: a filter that stops every system call which can change a file, until another process
 * has looked at it (seccomp user notification).
 *
 * Plain reading never stops: the filter sees the flags of open. Calls that could go around it
 * (io_uring, open_by_handle_at, calls of another architecture) are refused. Writing through a
 * descriptor does not stop either: its opening was seen.
 *
 * Of a sandboxed command the calls that reach other programs stop, too (supervise/broker.h).
 *
 * The process that gets the filter, and everything it starts, must not make such a call before
 * another process serves the listener, or it waits for it.
 */
#ifndef SUPERVISE_LISTENER_H
#define SUPERVISE_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

enum listener_calls {
	LISTENER_CHANGES = 1 << 0, /* calls that can change a file */
	LISTENER_SOCKETS = 1 << 1, /* connect, and making datagram Unix sockets: see broker.h */
	LISTENER_SENDS = 1 << 2,   /* sendto with an address, to name it */
	/* Calls about which the file rules of a sandbox say nothing, see floor.c: those that change
	 * permissions, owners, times and attributes by path; and those that empty a file, which
	 * then never happen unjudged. */
	LISTENER_UNRULED = 1 << 3,
	LISTENER_EMPTYING = 1 << 4,
	/* Not more calls: what changes a file is judged (guardian.c), and never happens unjudged. */
	LISTENER_GUARDED = 1 << 5,
	LISTENER_INTERNET = 1 << 6, /* making Internet sockets, which there are not to be */
};

/* Load the filter into the calling process, which has one thread and no_new_privs (or is
 * privileged). Returns the listener, close-on-exec; or -1 with errno: EBUSY if there is one already
 * somewhere above, EINVAL if this kernel has none. */
int listener_install(unsigned calls);

/* Does the call change what no file rule knows? */
bool listener_is_unruled(int call);

/* Does it empty a file that it does not open for writing? */
bool listener_is_emptying(int call, const uint64_t args[6]);

/* May a call that a listener for `calls` has stopped happen although no process has judged it? What
 * changes a file may, because the file rules hold without the listener; what they do not hold may
 * not, and what reaches another program, and fail with EACCES. */
bool listener_may_go_on(unsigned calls, int call, const uint64_t args[6]);

#endif
