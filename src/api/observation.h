/* SPDX-License-Identifier: MIT */
/*
 * observation: what a model is told of its call.
 *
 *	{"success":true,"tool":…,"output":{…},"error":null}
 *	{"success":false,"tool":…,"output":null,"error":{"code":…,"message":…}}
 *
 * It is the same whatever brought the call: observe.h (HTTP) and mcp.h put it into their envelopes.
 * Secrets are taken out of the results of tools that ask for it (TOOL_SCRUB).
 */
#ifndef API_OBSERVATION_H
#define API_OBSERVATION_H

#include "service/service.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* The tool a model means; UNKNOWN_TOOL, with the names of all there are. */
int observation_tool(struct str name, const struct tool **ret, struct err *e);

/* Call the tool and write the observation into out, which is empty. `c` has everything but `out`.
 * Without a tool nothing is called, and *e says why. Returns whether it succeeded; else *e is
 * what was written. */
bool observation_write(struct service *s, struct call *c, const struct tool *t, struct str name,
		       const struct json *arguments, struct buf *out, struct err *e);

/* Only the observation of a failure. */
void observation_fail(struct buf *out, struct str name, const struct err *e);

#endif
