/* SPDX-License-Identifier: MIT */
/*
 * listener: a filter that stops every system call which can change a file, until another process
 * has looked at it (seccomp user notification).
 *
 * Plain reading never stops: the filter sees the flags of open. Calls that could go around it
 * (io_uring, open_by_handle_at, calls of another architecture) are refused. Writing through a
 * descriptor does not stop either: its opening was seen.
 *
 * The process that gets the filter, and everything it starts, must not make such a call before
 * another process serves the listener, or it waits for it.
 */
#ifndef SANDBOX_LISTENER_H
#define SANDBOX_LISTENER_H

/* Load the filter into the calling process, which has one thread and no_new_privs (or is
 * privileged). Returns the listener, close-on-exec; or -1 with errno: EBUSY if there is one already
 * somewhere above, EINVAL if this kernel has none. */
int listener_install(void);

#endif
