/* SPDX-License-Identifier: MIT */
/*
 * service: what every front end shares: the call all calls are copied from, who may call, and what
 * is said about it all. Built at start, constant while the server runs but for its counters.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/runs.h"
#include "mcp/sessions.h"
#include "service/metrics.h"
#include "base/str.h"
#include "scrub/scrub.h"
#include "tools/tool.h"

struct service {
	/* Everything but arena, out, session and cancel is filled in: for the existing wire
	 * contract; for models, whose commands are judged and whose paths are read strictly; and
	 * for models that come by MCP, who also change only what they have read. */
	struct call call, model_call, mcp_call;
	unsigned tool_set; /* the tools shown to models: TOOL_CORE, TOOL_MODEL; 0: by format */

	const struct scrub
		*scrub; /* secrets are taken out of what models see; NULL: they are not */
	struct scrub_counts scrubbed;

	struct str token; /* empty: none is configured */
	bool require_auth;
	bool surface;	     /* the routes of agent-sandbox are served, too (surface.h) */
	struct str tcp_host; /* the address TCP is listened on; empty: none */
	struct str origins;  /* allowed Origin values on TCP, separated by commas */
	struct str hosts;    /* allowed Host names on TCP besides loopback, separated by commas */

	struct str facts; /* members of the answer to /health, as JSON: what is in force */
	int64_t started_ms;
	_Atomic int64_t requests; /* numbers the calls in the log */

	struct mcp_runs runs; /* MCP over HTTP: calls under way, and legacy sessions */
	struct mcp_sessions sessions;
	struct metrics metrics;
};

#endif
