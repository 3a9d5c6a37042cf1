/* SPDX-License-Identifier: MIT */
/*
 * routes: from a request to the answer, whatever it is about.
 *
 *	GET  /health	what is in force
 *	POST /<tool>	a tool of the existing wire contract: {"ok":true,"result":{…}}
 *	GET  /metrics	what it has done (metrics.h)
 *	GET  /openapi.json	all this, described for programs (openapi.h)
 *	GET  /tools	the definitions for a model's request
 *	POST /tools, /tools/<name>	a tool for models, answered by an observation (observe.h)
 *	GET  /jobs …	commands in the background (jobs_route.h)
 *	POST /mcp	a message of the Model Context Protocol (mcp_http.h)
 *
 * An error of the call itself is 400 with {"ok":false,"error":sentence,"code":…}; the request's own
 * errors have their statuses (401, 403, 404, 405 …) and the same shape.
 */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include <sys/types.h>

#include "service/service.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "net/http.h"

/* One request on its way through a worker, whose buffers are used again for the next one. */
struct exchange {
	struct service *service;
	struct http *http;
	bool tcp;
	uid_t uid; /* of the client on a Unix socket */
	pid_t pid;
	struct arena *arena;
	struct buf *out;	 /* the answer is built here */
	struct cancel *cancel;	 /* asked when the client has left or the server stops */
	bool (*slow)(void *arg); /* asked before what may take long; false: nobody would be left */
	void *slow_arg;
	bool tells;	  /* the client wants to know how far a search has come */
	int64_t began_us; /* when the call that is under way began; or 0 */
};

/* Whether the message says that its body is JSON. */
bool routes_is_json(const struct http_head *head);

/* The body of a request as a JSON object, in the arena; an empty body is an empty object. NULL and
 * INVALID_ARGUMENTS when it is none. */
const struct json *routes_body(struct exchange *x, const struct http_request *r, struct err *e);

/* Send x->out as JSON, or an error instead of it. */
void routes_send(struct exchange *x, int status, const char *extra);
void routes_send_error(struct exchange *x, int status, const char *extra, const char *sentence,
		       enum err_code code);

/* Answer a complete request. */
void routes_answer(struct exchange *x, const struct http_request *request);

/* The body of an error: {"ok":false,"error":…}. `code` may be ERR_NONE. */
void routes_error_body(struct buf *out, const char *sentence, enum err_code code);

#endif
