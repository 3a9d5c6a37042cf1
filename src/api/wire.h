/* SPDX-License-Identifier: MIT */
/*
 * wire: calls of the existing HTTP contract.
 *
 * A result is {"ok":true,"result":{…}}; the output of a command is a stream of lines instead, each
 * a JSON object: {"type":"delta","data":…,"stream":"stdout"|"stderr"} as it comes, then exactly one
 * {"type":"done",…} or {"type":"error","message":…}. What is wrong before the stream has begun is
 * answered like every other error.
 */
#ifndef API_WIRE_H
#define API_WIRE_H

#include "api/routes.h"
#include "base/json.h"
#include "tools/tool.h"

/* Call a tool (TOOL_WIRE) with the members of a JSON object, answer, and log the call. */
void wire_call(struct exchange *x, const struct tool *t, const struct json *object);

#endif
