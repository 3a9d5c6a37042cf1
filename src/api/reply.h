/* SPDX-License-Identifier: MIT */
/*
 * reply: a model's tool call as its provider writes it, and the message to feed back.
 */
#ifndef API_REPLY_H
#define API_REPLY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum reply_form {
	REPLY_PLAIN, /* the observation itself */
	REPLY_OLLAMA,
	REPLY_OPENAI,
	REPLY_ANTHROPIC,
	REPLY_GEMINI,
	REPLY_FORMS,
};

struct model_call {
	struct str name;
	const struct json *arguments; /* an object; NULL: not understood */
	struct str id, session;	      /* empty: none was given */
	bool responses;		      /* an item of OpenAI's responses, answered by another */
};

/* The form of that name, empty for the plain one; false when there is none. */
bool reply_by_name(struct str name, enum reply_form *ret);

/* Take a tool call apart (the forms are in observe.h). What can be understood is filled in; when
 * the arguments cannot, they are NULL and *e says why. */
void reply_read(const struct json *call, struct arena *a, struct model_call *ret, struct err *e);

/* The message with the observation, which is JSON. */
void reply_write(struct buf *out, enum reply_form form, const struct model_call *call,
		 struct str observation, bool success);

#endif
