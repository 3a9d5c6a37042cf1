/* SPDX-License-Identifier: MIT */
/*
 * procfs: numbers that the kernel keeps, read from /proc.
 */
#ifndef EXEC_PROCFS_H
#define EXEC_PROCFS_H

#include <stddef.h>
#include <stdint.h>

/* Read the beginning of a file, at most size - 1 bytes, and add a NUL. Returns the length; 0 if the
 * file cannot be read. */
size_t procfs_text(const char *path, char *to, size_t size);

/* Processes and threads on the whole machine; INT64_MAX if that is not known. */
int64_t procfs_tasks(void);

/* How many processes the kernel has killed because memory ran out, on the whole machine. */
int64_t procfs_oom_kills(void);

/* What the calling process uses now. A number that is not known (there is no /proc) is -1. */
struct procfs_usage {
	int64_t cpu_ms; /* of all threads, in user and system mode; without commands */
	int64_t resident_bytes, virtual_bytes;
	int64_t open_fds, max_fds;
};

void procfs_usage(struct procfs_usage *ret);

#endif
