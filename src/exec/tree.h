/* SPDX-License-Identifier: MIT */
/*
 * tree: every process below the calling one.
 *
 * The calling process is a child subreaper: whoever in the tree loses its parent becomes its child,
 * also after setsid or a double fork. So the tree is what can be reached by following
 * /proc/<pid>/task/<tid>/children, and nobody can leave it.
 *
 * A signal is sent through a pidfd after its process has been seen below its parent, so that a
 * number given to a stranger in the meantime is never hit (where the kernel has pidfds).
 */
#ifndef EXEC_TREE_H
#define EXEC_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"

/* A process that still runs after the command's shell has ended. */
struct survivor {
	pid_t pid;
	char command[LIMIT_SURVIVOR_TEXT];    /* its arguments with blanks between them */
	uint16_t ports[LIMIT_SURVIVOR_PORTS]; /* TCP it listens on, UDP it is bound to */
	size_t port_count;
};

/* Send the signal to everybody in the tree. Returns how many got it. */
size_t tree_signal(int signal);

/* One round of ending the tree: stop everybody until nobody runs, so that none can fork any more,
 * then kill them. The children named in spare are left alone, with all below them. Returns how many
 * were killed; 0 means that nobody could be. The caller reaps, and repeats while it has children.
 */
size_t tree_kill(const pid_t *spare, size_t spare_count);

/* How many processes the tree has, zombies included; 0 when /proc does not list them. */
size_t tree_count(void);

/* Describe the tree's processes: how many there are; at most max are written. */
size_t tree_survivors(struct survivor *to, size_t max);

/* Does this system list children in /proc? Without that the tree is ended from the top, one layer
 * of parents after another (exec/children.h): slower, not counted, and a command that forks faster
 * than it is killed can hold out. */
bool tree_is_listed(void);

#endif
