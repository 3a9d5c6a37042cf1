/* SPDX-License-Identifier: MIT */
/*
 * mcp_runs: the MCP calls that are running, so that they can be cancelled and tell of progress.
 *
 * A carrier fills in a run, enters it, calls the tool with what mcp_run_call puts into the call,
 * and lets the run leave before it answers. From then on nothing is sent for it, and it cannot be
 * cancelled any more; one that was cancelled before gets no answer.
 *
 *	struct mcp_run run = { .scrub = …, .session = …, .id = …, .notify = …, .arg = … };
 *	if (mcp_runs_enter(&runs, &run, &e) < 0) …
 *	mcp_run_call(&run, &call);
 *	mcp_call(…);
 *	if (mcp_runs_leave(&runs, &run)) answer
 *
 * Progress is told when a command puts out something, four times a second at most, with its last
 * line (without secrets); and by whoever calls mcp_runs_tick, when there has been nothing for a
 * while. It may be dropped: notify never waits for a client.
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
#include "scrub/scrub.h"
#include "tools/tool.h"

struct mcp_request;

struct mcp_run {
	/* The carrier's. */
	const struct scrub *scrub; /* NULL: nothing is taken out */
	struct str session;	   /* within which the id is unique; empty: it is not */
	const struct json *id, *token;
	void (*notify)(void *arg, struct str message); /* empty message: only to keep alive */
	void *arg;

	/* Our own. */
	struct mcp_run *next;
	struct cancel cancel;
	struct call_progress progress;
	pthread_mutex_t lock; /* over what follows */
	int64_t began_ms, told_ms, value, bytes;
	struct scrubber scrubbers[2];
	struct buf tail; /* the end of the output, without secrets */
};

struct mcp_runs {
	pthread_mutex_t lock;
	struct mcp_run *first;
	bool ended; /* nothing begins any more */
};

/* The run begins. -1 when its session has one of the same id already (INVALID_ARGUMENTS), or when
 * there is no descriptor left or the table has ended (TOO_BUSY). */
int mcp_runs_enter(struct mcp_runs *r, struct mcp_run *run, struct err *e);

/* The answer to a request whose run could not be entered. */
void mcp_runs_refused(struct mcp_request *r, const struct err *e, struct buf *out);

/* The run is over. Whether it is to be answered: false when it was cancelled. */
bool mcp_runs_leave(struct mcp_runs *r, struct mcp_run *run);

/* Have the call tell of its progress and, if the run is of a session, be cancelled by the table. */
void mcp_run_call(struct mcp_run *run, struct call *c);

/* Cancel the run of that id in that session; one there is not is left alone. */
void mcp_runs_cancel(struct mcp_runs *r, struct str session, const struct json *id);

/* Cancel all runs of a session; or (NULL) all there are, and let none begin any more. */
void mcp_runs_cancel_all(struct mcp_runs *r, const struct str *session);

/* To be called about once a second: runs that have been silent for a while tell that they run. */
void mcp_runs_tick(struct mcp_runs *r);

#endif
