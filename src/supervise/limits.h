/* SPDX-License-Identifier: MIT */
/* limits: every number that limits what is done about stopped calls, with its reason. */
#ifndef SUPERVISE_LIMITS_H
#define SUPERVISE_LIMITS_H

enum {
	/* Denials of one command that are listed; more are counted. */
	LIMIT_DENIALS = 20,

	/* Connections of one command that are made at once, each by a thread; its stack, in which
	 * paths lie; and how often the thread looks whether its caller still waits. */
	LIMIT_CONNECTORS = 64,
	LIMIT_CONNECTOR_STACK = 256 << 10,
	LIMIT_CONNECTOR_LOOK_MS = 50,

	/* Stack of a thread that looks at a command's system calls: paths and a recording. */
	LIMIT_JUDGE_STACK = 512 << 10,

	/* How often to open a path whose ".." a rename elsewhere has made doubtful. */
	LIMIT_OPEN_TRIES = 64,
};

#endif
