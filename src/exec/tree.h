/* SPDX-License-Identifier: MIT */
/*
 * tree: every process below the calling one.
 *
 * The calling process is a child subreaper: a process in the tree that loses its parent becomes its
 * child, also after setsid or a double fork. So the tree is what can be reached by following
 * /proc/<pid>/task/<tid>/children, and no process can leave it.
 *
 * A signal is sent through a pidfd after its process has been seen below its parent, so that it
 * never hits another process that has got the same pid in the meantime (where the kernel has
 * pidfds).
 *
 * In an empty root, or on a kernel that does not list children there, the tree is ended from the
 * top, one layer of parents after another: the kernel can still be asked whether one pid is a child
 * of ours. That is slower, processes are not counted, and a command that forks faster than it is
 * killed can survive for a while.
 */
#ifndef EXEC_TREE_H
#define EXEC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec/limits.h"

/* Where processes can be reached: TCP they listen on, UDP they are bound to; each once, rising. */
struct port_list {
	uint16_t port[LIMIT_SURVIVOR_PORTS];
	size_t count;
};

/* A process that still runs after the command's shell has ended. */
struct survivor {
	pid_t pid;
	char command[LIMIT_SURVIVOR_TEXT]; /* its arguments with blanks between them */
	struct port_list ports;
};

/* Send the signal to every process in the tree. Returns how many got it. */
size_t tree_signal(int signal);

/* One round of ending the tree: stop the processes until none runs, so that none can fork any more,
 * then kill them. The children named in spare are left alone, with all below them. Returns how many
 * were killed; 0 means that none could be. The caller reaps, and repeats while it has children. */
size_t tree_kill(const pid_t *spare, size_t spare_count);

/* How many processes the tree has, zombies included; 0 if /proc does not list them. */
size_t tree_count(void);

/* Describe at most max of the tree's processes, our own children first. Returns how many there
 * are. */
size_t tree_survivors(struct survivor *to, size_t max);

/* The ports of all processes in the tree. */
void tree_ports(struct port_list *ret);

/* Does this system list children in /proc? */
bool tree_is_listed(void);

/* Reap every child that has ended, without waiting. A server that is process 1 of a container must
 * do this: the kernel makes it the parent of every process whose parent has ended, and their
 * zombies would fill the process table. (Commands do not get there: their reapers reap them.) */
void tree_reap(void);

/* procfs: numbers that the kernel keeps, read from /proc. */

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
