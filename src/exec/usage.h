/* SPDX-License-Identifier: MIT */
/*
 * usage: what this process takes of the machine at this moment.
 */
#ifndef EXEC_USAGE_H
#define EXEC_USAGE_H

#include <stdint.h>

/* A number that cannot be known (there is no /proc) is -1. */
struct usage {
	int64_t cpu_ms; /* of all threads, in user and system mode; commands are not in it */
	int64_t resident_bytes, virtual_bytes;
	int64_t open_fds, max_fds;
};

void usage_read(struct usage *ret);

#endif
