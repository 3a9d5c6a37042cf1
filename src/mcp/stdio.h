/* SPDX-License-Identifier: MIT */
/*
 * stdio: MCP on a pair of pipes, one message a line.
 *
 * One thread reads. What takes no time it answers itself, in order; a tool that may take long gets
 * a thread of its own, so that a command never holds up a tools/list, and its answer comes when it
 * comes. Whole lines are written under one lock, and nothing but messages is ever written.
 *
 * A line that is too long, not UTF-8 or not JSON is answered by an error, and the connection goes
 * on. notifications/cancelled ends a running call with all its processes and leaves it unanswered.
 *
 * It ends when the input ends (running calls get LIMIT_MCP_GRACE_MS), when the reader of the
 * output is gone, and on SIGTERM or SIGINT. What still runs then is ended.
 */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "base/err.h"
#include "mcp/protocol.h"
#include "service/service.h"

struct mcp_stdio_options {
	struct service *service;
	int in, out;
	struct mcp_offer offer;
	/* Called before the first call of a tool: until then the service is not used. NULL: it is
	 * ready. */
	void (*ready)(void *arg);
	/* Called once, after `ready`, before the first tool is called; the client's name may be
	 * empty. NULL: not wanted. */
	void (*first_call)(void *arg, struct str client);
	void *arg;
};

/* A call could not be ended: its thread still uses what the service points to, so the process must
 * end without taking anything down. */
enum { MCP_STUCK = 1 };

/* Serve until the end. SIGTERM and SIGINT must be blocked in all threads, SIGPIPE ignored. Returns
 * 0, MCP_STUCK, or -1 when it could not start. */
int mcp_stdio(const struct mcp_stdio_options *o, struct err *e);

#endif
