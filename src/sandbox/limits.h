/* SPDX-License-Identifier: MIT */
/* limits: every number that limits what the sandbox and its supervisor do, with its reason. */
#ifndef SANDBOX_LIMITS_H
#define SANDBOX_LIMITS_H

enum {
	/* Denials of one command that are listed; more are counted. */
	LIMIT_DENIALS = 20,

	/* Connections of one command that are made at once, each by a thread; its stack, in which
	 * paths lie; and how often the thread looks whether its caller still waits. */
	LIMIT_CONNECTORS = 64,
	LIMIT_CONNECTOR_STACK = 128 << 10,
	LIMIT_CONNECTOR_LOOK_MS = 50,

	/* Files that stay covered after others have taken their names, each held by a descriptor: a
	 * few rotations of what the server writes. */
	LIMIT_COVERED_BEFORE = 16,

	/* A variable that points into the private /tmp. */
	LIMIT_SANDBOX_VARIABLE = 4096 + 64,

	/* Stack of a thread that looks at a command's system calls: paths and a recording. */
	LIMIT_JUDGE_STACK = 512 << 10,

	/* How often to open a path whose ".." a rename elsewhere has made doubtful. */
	LIMIT_OPEN_TRIES = 64,
};

#endif
