/* SPDX-License-Identifier: MIT */
/* ports: where a process can be reached: the TCP ports it listens on, the UDP ports it is bound to,
 * found through /proc/<pid>/net and its descriptors. */
#ifndef EXEC_PORTS_H
#define EXEC_PORTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* At most max ports, each once, in rising order. Returns how many were written; none when the
 * process has none or may not be looked at. */
size_t ports_of(pid_t pid, uint16_t *to, size_t max);

#endif
