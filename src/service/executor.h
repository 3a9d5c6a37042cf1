/* SPDX-License-Identifier: MIT */
/*
 * executor: everything tools are run with, built once from the configuration: the workspace, the
 * guards, what runs commands, and the calls that all calls are copied from.
 *
 * The server has one, `sidecar mcp` has one, and so has the client library's local mode. Constant
 * after executor_init but for what its parts lock themselves.
 */
#ifndef SERVICE_EXECUTOR_H
#define SERVICE_EXECUTOR_H

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"
#include "exec/proc.h"
#include "sandbox/sandbox.h"
#include "tools/tool.h"

struct scrub;

struct executor {
	struct workspace *ws;
	struct scrub *scrub; /* NULL: nothing is taken out */
	struct policy *rules;
	struct tracker *tracker; /* NULL: nobody is asked what has been read */
	struct runner *runner;	 /* NULL: commands are refused, and report.why says why */
	struct jobs *jobs;
	struct sandbox_report report;
	struct proc_limits limits; /* of every command */
	struct buf excludes;

	/* Everything but arena, out, session and cancel is filled in: for the existing wire
	 * contract; for models, whose commands are judged and whose paths are read strictly; and
	 * for models that come by MCP, who also change only what they have read. */
	struct call call, model_call, mcp_call;
};

/* Build it. A workspace that was made for it is removed again when this fails. */
int executor_init(const struct config *c, struct executor *x, struct err *e);

/* End what still runs and release everything. Accepts a zeroed one. */
void executor_done(struct executor *x);

#endif
