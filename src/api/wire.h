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

/* The pieces an answer is made of, for whoever carries calls in another way: the body of an error;
 * that of a call, which is made (0, or -1 when it is an error's); a line of output; the last line,
 * with the members of the result, or with the error unless its code is ERR_NONE. */
void wire_error(struct buf *out, const struct err *e);
int wire_result(struct buf *out, const struct tool *t, struct call *c, const struct json *object,
		struct err *e);
void wire_output_line(struct buf *out, bool is_stderr, struct str text);
void wire_last_line(struct buf *out, struct str members, const struct err *e);

/* Call a tool (TOOL_WIRE) with the members of a JSON object, answer, and log the call. */
void wire_call(struct exchange *x, const struct tool *t, const struct json *object);

#endif
