/* SPDX-License-Identifier: MIT */
/*
 * children: the calling process's own children, found without /proc.
 *
 * In an empty root, or on a kernel that does not list children there, the kernel can still be asked
 * about one number at a time: waitid knows who is a child of ours, and what it does, without
 * reaping it. Numbers are given in rising order, so everybody started since this process lies
 * between its own number and the newest one; only when nobody is found there, all are tried.
 *
 * This sees children, not their descendants. Those come to a subreaper when their parents end.
 */
#ifndef EXEC_CHILDREN_H
#define EXEC_CHILDREN_H

#include <sys/types.h>

enum child_state { CHILD_NONE, CHILD_DEAD, CHILD_STOPPED, CHILD_RUNNING };

/* What the process with this number does; CHILD_NONE when it is no child of ours. */
enum child_state children_state(pid_t pid);

/* Call found for every child, the dead included. */
void children_each(void (*found)(void *arg, pid_t pid), void *arg);

#endif
