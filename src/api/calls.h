/* SPDX-License-Identifier: MIT */
/*
 * calls: what every front end does around a tool: fill in the call from the exchange before, and
 * write a line to the log after.
 */
#ifndef API_CALLS_H
#define API_CALLS_H

#include "api/routes.h"
#include "base/json.h"
#include "tools/tool.h"

/* A call of the tool with the members of `object`, from the call that all of its kind are copied
 * from. The caller adds `out`. Another worker is made ready when the tool may take long. */
struct call calls_begin(struct exchange *x, const struct call *kind, const struct tool *t,
			const struct json *object);

/* Log how it went; `name` is the tool's, or what was asked for when there is no such tool. */
void calls_log(struct exchange *x, struct str name, struct str session, int64_t began_ms,
	       enum err_code code);

#endif
