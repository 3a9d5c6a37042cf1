/* SPDX-License-Identifier: MIT */
/*
 * runs: MCP calls that take long: they can be cancelled by their ids, and tell of progress.
 *
 * A carrier fills in a run, enters it, makes the call with what mcp_run_follow puts into it, and
 * lets the run leave before it answers. After that nothing is sent for it, and it can no longer be
 * cancelled; a call that was cancelled before gets no answer.
 *
 *	struct mcp_run run = { .session = …, .id = …, .notify = …, .arg = … };
 *	if (mcp_run_enter(&service->roster, &run, &e) < 0) …
 *	mcp_run_follow(&run, &d);
 *	mcp_call(…);
 *	if (mcp_run_leave(&service->roster, &run)) answer
 *
 * Progress is told when a command writes output, four times a second at most, with its last line;
 * and by roster_tick after a silence. It may be dropped: notify never waits for a client.
 */
#ifndef MCP_RUNS_H
#define MCP_RUNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "mcp/protocol.h"
#include "service/dispatch.h"
#include "tools/sink.h"

struct mcp_run {
	/* The carrier's. */
	struct str session;    /* within which the id is unique; empty: it is not … */
	struct cancel *cancel; /* … and this ends it */
	const struct json *id, *token;
	void (*notify)(void *arg, struct str message); /* empty message: only to keep alive */
	void *arg;

	/* Our own. */
	struct roster_entry entry;
	struct sink_taker taker; /* of its output */
	pthread_mutex_t lock;	 /* over what follows */
	int64_t began_ms, told_ms, value, bytes;
	struct buf tail; /* the end of its output */
};

/* The run begins. -1 as roster_enter. */
int mcp_run_enter(struct roster *r, struct mcp_run *run, struct err *e);

/* The answer to a request whose run could not be entered. */
void mcp_run_refused(struct mcp_request *r, const struct err *e, struct buf *out);

/* The run is over. Whether it is to be answered: false when its client has cancelled it. */
bool mcp_run_leave(struct roster *r, struct mcp_run *run);

/* Have the call tell of its progress, and be cancelled by the id of its session. */
void mcp_run_follow(struct mcp_run *run, struct dispatch *d);

/* Make the call that the request asks for, and write the answer. */
void mcp_call(struct service *s, const struct dispatch *d, const struct mcp_request *r,
	      struct buf *out);

#endif
