/* SPDX-License-Identifier: MIT */
/* limits: every number that limits the MCP front ends, with its reason. */
#ifndef MCP_LIMITS_H
#define MCP_LIMITS_H

enum {
	/* A message to an MCP client (some hang up at 10 MiB); how long it may cache our lists;
	 * long calls at once on one pipe. */
	LIMIT_MCP_MESSAGE = 9 << 20,
	LIMIT_MCP_CACHE_MS = 3600 * 1000,
	LIMIT_MCP_CALLS = 64,

	/* Progress: at most this often with output; without output first after this long, then this
	 * often (clients give up after 60 s, some after 10); as keep-alive this often. */
	LIMIT_MCP_PROGRESS_MS = 250,
	LIMIT_MCP_FIRST_MS = 2 * 1000,
	LIMIT_MCP_SILENCE_MS = 5 * 1000,
	LIMIT_MCP_KEEP_ALIVE_MS = 15 * 1000,

	/* A progress message: what a pipe takes at once (PIPE_BUF) without its newline; the line of
	 * output in it; and how much of the output's end is kept for that. */
	LIMIT_MCP_PROGRESS = 4095,
	LIMIT_MCP_LINE = 200,
	LIMIT_MCP_TAIL = 1 << 10,

	/* After the end of the input: how long calls may go on, and then may take to end. */
	LIMIT_MCP_GRACE_MS = 1500,
	LIMIT_MCP_STOP_MS = 1500,
};

#endif
