/* SPDX-License-Identifier: MIT */
/*
 * runs: the MCP calls that are running, so that they can be cancelled and tell of progress.
 *
 * A carrier fills in a run, enters it, makes the call with what mcp_run_follow puts into it, and
 * lets the run leave before it answers. After that nothing is sent for it, and it can no longer be
 * cancelled; a call that was cancelled before gets no answer.
 *
 *	struct mcp_run run = { .session = …, .id = …, .notify = …, .arg = … };
 *	if (mcp_runs_enter(&runs, &run, &e) < 0) …
 *	mcp_run_follow(&run, &d);
 *	mcp_call(…);
 *	if (mcp_runs_leave(&runs, &run)) answer
 *
 * Progress is told when a command writes output, four times a second at most, with its last line;
 * and by mcp_runs_tick after a silence. It may be dropped: notify never waits for a client.
 *
 * The zero value of a table is ready for use. Safe for many threads.
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
#include "base/utf8.h"
#include "mcp/protocol.h"
#include "service/dispatch.h"

struct mcp_run {
	/* The carrier's. */
	struct str session; /* within which the id is unique; empty: it is not */
	const struct json *id, *token;
	void (*notify)(void *arg, struct str message); /* empty message: only to keep alive */
	void *arg;

	/* Our own. */
	struct mcp_run *next;
	struct cancel cancel;
	bool unwanted; /* by its client: there is no answer */
	struct call_progress progress;
	pthread_mutex_t lock; /* over what follows */
	int64_t began_ms, told_ms, value, bytes;
	struct utf8_stream texts[2]; /* of the output: stdout, stderr */
	struct buf tail;	     /* its end */
};

struct mcp_runs {
	pthread_mutex_t lock;
	struct mcp_run *first;
	bool ended; /* no run may begin any more */
};

/* The run begins. -1 if its session has a run of the same id already (INVALID_ARGUMENTS), or if
 * the table has ended (TOO_BUSY). */
int mcp_runs_enter(struct mcp_runs *r, struct mcp_run *run, struct err *e);

/* The answer to a request whose run could not be entered. */
void mcp_runs_refused(struct mcp_request *r, const struct err *e, struct buf *out);

/* The run is over. Whether it is to be answered: false when it was cancelled. */
bool mcp_runs_leave(struct mcp_runs *r, struct mcp_run *run);

/* Have the call tell of its progress and, if the run belongs to a session, be cancelled by the
 * table. */
void mcp_run_follow(struct mcp_run *run, struct dispatch *d);

/* Make the call that the request asks for, and write the answer. */
void mcp_call(struct service *s, const struct dispatch *d, const struct mcp_request *r,
	      struct buf *out);

/* Cancel the run of that id in that session; if there is none, nothing happens. */
void mcp_runs_cancel(struct mcp_runs *r, struct str session, const struct json *id);

/* Cancel all runs of a session; NULL: of all sessions, and let none begin any more. */
void mcp_runs_cancel_all(struct mcp_runs *r, const struct str *session);

/* To be called about once a second: runs that have been silent for a while tell that they run. */
void mcp_runs_tick(struct mcp_runs *r);

#endif
