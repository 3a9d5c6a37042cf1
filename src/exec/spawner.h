/* SPDX-License-Identifier: MIT */
/*
 * spawner: the process inside the sandbox's namespaces that has a reaper ready for each command.
 *
 * The reaper is forked in advance, waits on the server's socket and takes the next order itself, so
 * no command waits for a fork other than its own. Then the spawner forks the next one.
 */
#ifndef EXEC_SPAWNER_H
#define EXEC_SPAWNER_H

#include <sys/types.h>

#include "sandbox/sandbox.h"

/* What the server is told once, before any order: what is in force, or why there is no spawner.
 * Those that come before it with a listener are trials: a process in the place of a command has
 * made a call that stops, bind or connect, and the server answers with the errno value of looking
 * into it as the judges do (0: it could). */
struct spawner_hello {
	struct err err; /* code ERR_NONE: ready */
	struct sandbox_report sandbox;
};

/* The size of the message, in place of an order, by which the server retires the spawner: it takes
 * the orders that have been sent, hears no more of the server and ends with its last command. */
enum { SPAWNER_RETIRES = 1 };

/* Start the spawner below the calling process, which has one thread, and say hello to the server.
 * Returns its pid, or -1. It exits with 0 after the server is gone and all trees have been ended,
 * and with 1 if it was retired. */
pid_t spawner_start(int server, int lifeline, const struct sandbox_config *asked);

#endif
