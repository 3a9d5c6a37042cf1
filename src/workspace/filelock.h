/* SPDX-License-Identifier: MIT */
/*
 * filelock: ranges of a file that programs lock against each other.
 *
 * The locks belong to the open file, not to the process, so that two users of one file in a process
 * exclude each other as well, if each has opened it. They end with the file's last descriptor,
 * however the process dies. Threads that share a descriptor share its locks: they need a lock of
 * their own beside this one.
 */
#ifndef WORKSPACE_FILELOCK_H
#define WORKSPACE_FILELOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lock_range {
	int64_t from, count; /* count 0: to the end, however long the file becomes */
};

enum filelock_kind { FILELOCK_SHARED, FILELOCK_ALONE };

/* Lock the range, and wait for it until the deadline. 0, or -1 with errno: EAGAIN if another one
 * has it still. A range in which this descriptor has a lock already gets the new kind. */
int filelock_take(int fd, struct lock_range r, enum filelock_kind kind, int64_t deadline_ms);

void filelock_release(int fd, struct lock_range r);

/* Who has a lock on that range, as far as this user may see it: "pid 41 (claude), which is stopped".
 * "another program" if nobody is found. */
enum { FILELOCK_HOLDER = 96 };
const char *filelock_holder(int fd, struct lock_range r, char out[FILELOCK_HOLDER]);

#endif
