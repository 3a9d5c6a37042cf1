/* SPDX-License-Identifier: MIT */
/*
 * observe: calls of models, answered by observations.
 *
 *	{"success":true,"tool":…,"output":{…},"error":null}
 *	{"success":false,"tool":…,"output":null,"error":{"code":…,"message":…}}
 *
 * The status is always 200: whatever is wrong with a call is for the model to read, also a body
 * that is no JSON. Only a request whose query is wrong is 400.
 *
 * POST /tools takes a model's tool call as it is:
 *
 *	{"function":{"name":…,"arguments":{…} or "{…}"}, "id"?:…}	Ollama, OpenAI
 *	{"type":"function_call","name":…,"arguments":"{…}","call_id":…}	OpenAI responses
 *	{"type":"tool_use","name":…,"input":{…},"id":…}			Anthropic
 *	{"functionCall":{"name":…,"args":{…},"id"?:…}}			Gemini
 *	{"name":…,"arguments":{…}}					anybody
 *
 * and with ?reply= answers in the form to feed back to that model.
 */
#ifndef API_OBSERVE_H
#define API_OBSERVE_H

#include "api/routes.h"

/* Answer POST /tools/<name>. */
void observe_tool(struct exchange *x, const struct http_request *r, struct str name);

/* Answer POST /tools. */
void observe_call(struct exchange *x, const struct http_request *r);

/* Answer GET /tools?format=…&set=…. */
void observe_list(struct exchange *x, const struct http_request *r);

#endif
