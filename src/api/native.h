/* SPDX-License-Identifier: MIT */
/*
 * native: calls of the tools that providers have built into their models, taken as they are and
 * answered in their form.
 *
 *	{"type":"tool_use","id":…,"name":"str_replace_based_edit_tool","input":{…}}	Anthropic
 *	{"type":"tool_use","id":…,"name":"bash","input":{…}}
 *	{"type":"tool_use","id":…,"name":"memory","input":{…}}
 *		→ {"type":"tool_result","tool_use_id":…,"content":…,"is_error":…}
 *	{"type":"apply_patch_call","call_id":…,"operation":{…}}				OpenAI
 *		→ {"type":"apply_patch_call_output","call_id":…,"status":…,"output":…}
 *	{"type":"shell_call","call_id":…,"action":{…}}
 *		→ {"type":"shell_call_output","call_id":…,"output":[{stdout,stderr,outcome}]}
 *	{"type":"local_shell_call","call_id":…,"action":{…}}
 *		→ {"type":"local_shell_call_output","id":<the call_id>,"output":"{…}"}
 *
 * One table (native.c) says which of our tools carries out which call, and how its answer is
 * written. Everything else is as for every call of a model, for which dispatch has a kind of its
 * own: these models write absolute paths, and have no other tools of ours that a result could name.
 */
#ifndef API_NATIVE_H
#define API_NATIVE_H

#include "api/exchange.h"
#include "base/json.h"

struct native_kind;

struct native_call {
	const struct native_kind *kind;
	const struct json *arguments; /* NULL: not understood */
	struct str id, session;	      /* empty: none was given */
};

/* Whether the body is such a call. If its arguments cannot be understood, *e says why. */
bool native_read(const struct json *body, struct native_call *ret, struct err *e);

/* Make the call and answer it. The status is 200 whatever becomes of it: that is for the model to
 * read. `e` is that of native_read. */
void native_answer(struct exchange *x, const struct native_call *call, struct err *e);

#endif
