/* SPDX-License-Identifier: MIT */
/*
 * starter: the spawner process itself, in the sandbox's namespaces.
 *
 * It always has one reaper ready, forked in advance, which waits on the server's socket and takes
 * the next order itself: no command waits for a fork but its own. Then another one is made ready.
 */
#ifndef EXEC_SPAWNER_H
#define EXEC_SPAWNER_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

/* Start the spawner below the calling process, which has one thread. It tells the server over its
 * socket what is in force, or why not. Returns its pid, or -1. It exits with 0 when the server is
 * gone and every tree has been ended. */
pid_t starter_start(int server, int lifeline, const struct sandbox_config *asked);

#endif
