/* SPDX-License-Identifier: MIT */
/*
 * namespaces: a view of the machine in which little can be seen and less be written.
 *
 * The spawner is the first process in them and every command inherits them. Unprivileged where the
 * kernel lets users make user namespaces; with privilege none is needed.
 *
 *	processes	only commands, and the spawner as number 1: its death ends all
 *	mounts		everything read-only but what may be written; /tmp, /dev/shm, /dev/pts
 *			private; /run and what is to be hidden is empty
 *	IPC		own
 *	network		own, with a loopback and nothing else, when there is to be no network
 */
#ifndef SANDBOX_NAMESPACES_H
#define SANDBOX_NAMESPACES_H

#include <sys/types.h>

#include "base/err.h"
#include "sandbox/sandbox.h"

/* Fork into new namespaces, in which the user is who it was; the caller has one thread. Returns as
 * fork does. */
pid_t namespaces_fork(bool no_network);

/* In the new process, first of all: the loopback and the mounts. */
int namespaces_arrange(const struct sandbox_config *config, struct err *e);

#endif
