/* SPDX-License-Identifier: MIT */
/*
 * listener: a filter that stops every system call which can change a file, until another process
 * has looked at it (seccomp user notification).
 *
 * Plain reading never stops: the filter sees the flags of open. Calls that could go around it
 * (io_uring, open_by_handle_at, calls of another architecture) are refused. Writing through a
 * descriptor does not stop either: its opening was seen.
 *
 * Of a sandboxed command the calls that reach other programs stop, too (sandbox/broker.h).
 *
 * The process that gets the filter, and everything it starts, must not make such a call before
 * another process serves the listener, or it waits for it.
 */
#ifndef SANDBOX_LISTENER_H
#define SANDBOX_LISTENER_H

#include <stdbool.h>

enum listener_calls {
	LISTENER_CHANGES = 1 << 0, /* calls that can change a file */
	LISTENER_SOCKETS = 1 << 1, /* connect, and making datagram Unix sockets: see broker.h */
	LISTENER_SENDS = 1 << 2,   /* sendto with an address, to name it */
};

/* Load the filter into the calling process, which has one thread and no_new_privs (or is
 * privileged). Returns the listener, close-on-exec; or -1 with errno: EBUSY if there is one already
 * somewhere above, EINVAL if this kernel has none. */
int listener_install(unsigned calls);

/* May a stopped call happen although no process has judged it? What changes a file may, because the
 * file rules hold without the listener; what reaches another program may not, and fails with
 * EACCES. */
bool listener_may_go_on(int call);

#endif
