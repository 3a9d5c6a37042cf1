/* SPDX-License-Identifier: MIT */
/*
 * mcp_tasks: the messages of one MCP connection on their way to answers, which leave by a pipe.
 *
 * What takes no time is answered before mcp_tasks_message returns, in order. A tool that may take
 * long gets a thread of its own and is answered when it has ended, unless it is cancelled. Of the
 * connection nothing is remembered but the version its legacy session agreed on.
 *
 * One thread hands in messages. The zero value with `service`, `ready` and `out` set is ready for
 * use, and must stay where it is while `threads` is above zero.
 */
#ifndef MCP_TASKS_H
#define MCP_TASKS_H

#include <stdatomic.h>

#include "mcp/pipe.h"
#include "mcp/runs.h"
#include "service/service.h"
#include "base/str.h"

struct task;

struct mcp_tasks {
	struct service *service;
	void (*ready)(void *arg); /* called before a tool is; NULL: all is ready */
	void *arg;
	struct mcp_pipe out;

	struct mcp_runs runs;
	_Atomic int threads; /* that answer a message */
	const char *version; /* of the legacy session; NULL: none has begun */
	struct task *spare;
};

/* A message has come; a blank one is none. */
void mcp_tasks_message(struct mcp_tasks *m, struct str text);

/* One has come that was too long to be kept. */
void mcp_tasks_too_long(struct mcp_tasks *m);

/* No thread answers anything any more: give the memory back. */
void mcp_tasks_done(struct mcp_tasks *m);

#endif
