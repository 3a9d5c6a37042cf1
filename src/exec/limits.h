/* SPDX-License-Identifier: MIT */
/* limits: of commands and jobs; base/limits.h has those that others share. */
#ifndef EXEC_LIMITS_H
#define EXEC_LIMITS_H

#include "base/limits.h"

enum {
	/* A command's script; and all of its arguments and variables together. */
	LIMIT_SCRIPT = 1 << 20,
	LIMIT_ARGUMENTS = 2 << 20,

	/* Memory that a process prepares before it is told which command to start. */
	LIMIT_SPARE_MEMORY = 16 << 10,

	/* Memory for a command line that is started without a shell. For a longer one the cost of
	 * the shell does not matter. */
	LIMIT_PLAIN = 64 << 10,

	/* Variables added to a command's environment: each is compared with all the others. */
	LIMIT_VARIABLES = 1024,

	/* Longest argument that the kernel takes (MAX_ARG_STRLEN without NUL, 4 KiB pages). */
	LIMIT_ARGUMENT = (128 << 10) - 1,

	/* The spawner answers at once; if it is silent for this long, it hangs. */
	LIMIT_SPAWNER_MS = 10000,

	/* Time between SIGTERM and SIGKILL: enough to save state, short enough to wait for. */
	LIMIT_TERM_GRACE_MS = 5000,

	/* The same when the server is gone and no process reads the output any more. */
	LIMIT_ORPHAN_GRACE_MS = 500,

	/* Starting a program may take as long as running it, but at most this long, each plus the
	 * grace of SIGTERM: another process may keep its file from being opened. */
	LIMIT_START_MS = 60 * 1000,

	/* Processes that a shell leaves running have this long to end by themselves, and this long
	 * between SIGTERM and SIGKILL: the answer waits for both. */
	LIMIT_LINGER_MS = 50,
	LIMIT_SURVIVOR_GRACE_MS = 100,

	/* How long a tree that cannot be killed (stuck in the kernel, or of another user) delays
	 * the answer; and the pause between attempts. */
	LIMIT_KILL_PATIENCE_MS = 2000,
	LIMIT_KILL_PAUSE_MS = 5,

	/* Processes examined in one round of ending a tree, and rounds before killing. */
	LIMIT_TREE = 1 << 17,
	LIMIT_STOP_ROUNDS = 16,

	/* Above the process numbers of 64-bit kernels; without /proc all below are tried. */
	LIMIT_PID = 1 << 22,

	/* Processes of one command if no limit is set, and how often they are counted: a fork bomb
	 * adds a few thousand in that time, a large build has a few hundred. */
	LIMIT_PROCESSES = 2048,
	LIMIT_CENSUS_MS = 200,

	/* Survivors described in an answer: how many, and how much of each. */
	LIMIT_SURVIVORS = 16,
	LIMIT_SURVIVOR_TEXT = 256,
	LIMIT_SURVIVOR_PORTS = 8,
	LIMIT_SURVIVOR_SOCKETS = 1024,

	/* The pipe of a command's output: large, for few wake-ups. */
	LIMIT_OUTPUT_PIPE = 256 << 10,

	/* The name of a program in a message. */
	LIMIT_PROGRAM_TEXT = 256,

	/* The end of stderr that is kept to see whether the sandbox refused something. */
	LIMIT_STDERR_TAIL = 4 << 10,

	/* How much more likely a command is to be killed than the server when memory runs out. */
	LIMIT_OOM_SCORE = 200,

	/* How old the count of out-of-memory kills may be when a command starts. */
	LIMIT_OOM_AGE_MS = 1000,

	/* Background jobs remembered, running or ended; output of each that is kept, and that is
	 * sent at once; bytes before it that the scrubber sees to judge its beginning. */
	LIMIT_JOBS = 64,
	LIMIT_JOB_OUTPUT = 1 << 20,
	LIMIT_JOB_PIECE = 256 << 10,
	LIMIT_JOB_CONTEXT = 32 << 10,

	/* How often a call that waits for a job checks whether its client is still there. */
	LIMIT_JOB_WAIT_MS = 100,

	/* How long a list of jobs waits for their reapers to tell the ports. */
	LIMIT_JOB_LIST_MS = 500,

	/* A job's command line as it is listed. */
	LIMIT_JOB_TEXT = 256,

	/* Stack of a thread that carries the output of a job, and at its end finishes its change. */
	LIMIT_JOB_STACK = 512 << 10,
};

#endif
