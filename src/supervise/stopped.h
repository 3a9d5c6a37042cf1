/* SPDX-License-Identifier: MIT */
/*
 * stopped: a system call that waits at a listener (supervise/listener.h), its answer, and the
 * process that made it: its memory and its descriptors.
 *
 * Nothing here can be believed twice. Memory may be changed by another thread of the caller right
 * after it was copied, a descriptor exchanged, a directory renamed; and the caller may be killed,
 * and its number given to a process that is not in the sandbox. So what a decision rests on is
 * copied once and used from the copy, and stopped_is_waiting is asked after the last look: if
 * the call still waits then, everything before it was its caller's.
 *
 * A caller may be a thread. Functions return 0 or a descriptor; or -1 with errno: EPERM if this
 * process may not look into the caller (it is not dumpable, or Yama or a container forbids it).
 */
#ifndef SUPERVISE_STOPPED_H
#define SUPERVISE_STOPPED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A system call that waits. May be copied, to be answered later; not after supervisor_stop. */
struct stopped_call {
	int listener;
	uint64_t id;
	pid_t pid;  /* the thread that makes it, as this process sees it */
	int number; /* SYS_… */
	uint64_t args[6];
};

/* Take the next call of a listener. False if there is none: its process was killed before. */
bool stopped_receive(int listener, struct stopped_call *ret);

/* Whether the call still waits. If not, its process is gone, and its number may be another's. */
bool stopped_is_waiting(const struct stopped_call *call);

/* Answer a call: it returns the value, or fails with that error (an errno value) if it is not 0. */
void stopped_answer(const struct stopped_call *call, int64_t value, int error);

/* Let the call go on. It is made with the arguments that it has now, which may have been changed.
 */
void stopped_go_on(const struct stopped_call *call);

/* Answer a call that opens a file: the caller gets a descriptor for the file, and the call returns
 * its number. -1 with errno: it is not answered. */
int stopped_give(const struct stopped_call *call, int file, bool close_on_exec);

/* Has the caller a signal to handle, for which the kernel would have interrupted the call? */
bool stopped_is_signalled(const struct stopped_call *s);

/* Copy n bytes of its memory. */
int stopped_read(const struct stopped_call *s, uint64_t address, void *to, size_t n);

/* Copy a string. ENAMETOOLONG if it is longer than a path can be. */
int stopped_text(const struct stopped_call *s, uint64_t address, char to[PATH_MAX]);

/* The permissions that files it makes do not get. */
mode_t stopped_umask(const struct stopped_call *s);

/* A duplicate of one of its descriptors, close-on-exec. */
int stopped_take(const struct stopped_call *s, int fd);

/* Its directory in /proc, O_PATH. If its number is given to another process, this one is empty. */
int stopped_proc(const struct stopped_call *s);

#endif
