/* SPDX-License-Identifier: MIT */
/*
 * observation: a model's call as its provider writes it, and the form in which the model reads how
 * its call went.
 *
 *	{"success":true,"tool":…,"output":{…},"error":null}
 *	{"success":false,"tool":…,"output":null,"error":{"code":…,"message":…}}
 *
 * The observation is the same for every front end that serves models: the Model Context Protocol
 * puts it into its own envelope, POST /tools?reply=… into the message that the provider expects.
 * Or the model reads text: what the tool wrote as such (struct way_text), or why it failed:
 *
 *	FILE_NOT_FOUND: There is no file src/calc.py.
 *	Did you mean src/calc.c?
 *
 * Calls are understood in these forms:
 *
 *	{"function":{"name":…,"arguments":{…} or "{…}"}, "id"?:…}	Ollama, OpenAI
 *	{"type":"function_call","name":…,"arguments":"{…}","call_id":…}	OpenAI responses
 *	{"type":"tool_use","name":…,"input":{…},"id":…}			Anthropic
 *	{"functionCall":{"name":…,"args":{…},"id"?:…}}			Gemini
 *	{"name":…,"arguments":{…}}					any other
 */
#ifndef RESULTS_OBSERVATION_H
#define RESULTS_OBSERVATION_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jw.h"
#include "results/way.h"

/* A success, up to the members of its output; and its end, with what was changed and refused. */
void observation_begin(struct jw *w, struct str tool);
void observation_end(struct jw *w, const struct call_change *change);

/* Replace what is in out by a failure. */
void observation_fail(struct buf *out, struct str tool, const struct err *e);

/* Replace what is in out by a failure as text: its kind, mostly the name of its code, and the
 * sentence; what to do comes on a line of its own. */
void observation_fail_text(struct buf *out, const char *kind, const struct err *e);

struct model_call {
	struct str name;
	const struct json *arguments; /* an object; NULL: not understood */
	struct str id, session;	      /* empty: none was given */
	bool responses;		      /* an item of OpenAI's responses, answered by another */
};

/* Take a tool call apart. What can be understood is filled in; if the arguments cannot, they are
 * NULL and *e says why. */
void observation_read_call(const struct json *call, struct arena *a, struct model_call *ret,
			   struct err *e);

enum reply_form {
	REPLY_PLAIN, /* the observation itself */
	REPLY_OLLAMA,
	REPLY_OPENAI,
	REPLY_ANTHROPIC,
	REPLY_GEMINI,
	REPLY_FORMS,
};

/* The form of that name, empty for the plain one; false if there is no such form. */
bool observation_form(struct str name, enum reply_form *ret);

/* The message to feed back to the model, with the observation, which is JSON. */
void observation_reply(struct buf *out, enum reply_form form, const struct model_call *call,
		       struct str observation, bool success);

/* The same with text, or with an image where the provider takes one. */
void observation_reply_text(struct buf *out, enum reply_form form, const struct model_call *call,
			    const struct way_text *text, bool success);

#endif
