/* SPDX-License-Identifier: MIT */
/* mcp_http: from a POST to a message to its answer, as JSON or as a stream of events. */

#include "mcp/mcp_http.h"

#include <poll.h>
#include <stdio.h>

#include "api/calls.h"
#include "mcp/protocol.h"
#include "mcp/batch.h"
#include "mcp/headers.h"
#include "base/io.h"

#define ALLOW "Allow: POST, DELETE, OPTIONS\r\n"

/* An answer on its way. */
struct reply {
	struct exchange *x;
	struct str session; /* legacy: its name; or empty */
	bool may_stream;    /* the client accepts events */
	bool streaming;
};

static void send_error(struct exchange *x, const struct mcp_request *q)
{
	buf_reset(x->out, SIZE_MAX);
	mcp_error(q, x->out);
	routes_send(x, q->status, NULL);
}

/* No JSON: nothing is to be said. */
static void send_empty(struct exchange *x, int status)
{
	http_send(x->http, &(struct http_answer){ status, HTTP_JSON, NULL, STR("") });
}

static int begin_events(struct reply *p)
{
	p->streaming = true;
	return http_stream_begin(p->x->http, "text/event-stream",
				 "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
}

static void send_event(struct reply *p, struct str message)
{
	struct http *h = p->x->http;

	if (message.n == 0)
		(void)http_stream_write(h, STR(":\n\n"));
	else if (http_stream_write(h, STR("event: message\ndata: ")) == 0 &&
		 http_stream_write(h, message) == 0)
		(void)http_stream_write(h, STR("\n\n"));
}

/* Progress. Called by whichever thread notices it, never by two at once; what the client does not
 * take at this moment is dropped. */
static void notify(void *arg, struct str message)
{
	struct reply *p = arg;

	if (!p->may_stream || io_wait(p->x->http->fd, POLLOUT, 0) != 1)
		return;
	if (p->streaming || begin_events(p) == 0)
		send_event(p, message);
}

/* Send x->out, or end without an answer if that is empty. */
static void finish(struct reply *p)
{
	struct exchange *x = p->x;

	if (x->out->failed) {
		struct mcp_request q = { .id = NULL };
		(void)mcp_refuse(&q, 503, MCP_INTERNAL, "Not enough memory for the answer");
		buf_reset(x->out, 0);
		mcp_error(&q, x->out);
	}
	/* Nobody waits for the answer of a cancelled call, but the request must end somehow. */
	if (x->out->n == 0 && !p->streaming && (!p->may_stream || begin_events(p) < 0)) {
		send_empty(x, 202);
		return;
	}
	if (!p->streaming) {
		routes_send(x, 200, NULL);
		return;
	}
	if (x->out->n)
		send_event(p, buf_str(x->out));
	http_stream_end(x->http);
}

/* A call that may take long: others may cancel it, and it tells that it runs. */
static enum err_code call_slow(struct reply *p, struct call *c, struct mcp_request *q,
			       struct buf *out)
{
	struct service *s = p->x->service;
	const size_t before = out->n;
	struct err e;
	struct mcp_run run = {
		.scrub = s->scrub,
		.session = p->session,
		.id = q->id,
		.token = q->token,
		.notify = notify,
		.arg = p,
	};

	if (mcp_runs_enter(&s->runs, &run, &e) < 0) {
		mcp_runs_refused(q, &e, out);
		return e.code;
	}
	mcp_run_call(&run, c);
	const enum err_code code = mcp_call(s, c, q, out);
	if (!mcp_runs_leave(&s->runs, &run))
		out->n = before;
	return code;
}

static void call(void *arg, struct mcp_request *q, struct buf *out)
{
	struct reply *p = arg;
	struct exchange *x = p->x;
	struct call c = calls_begin(x, &x->service->mcp_call, q->tool, q->arguments);

	if (p->session.n)
		c.session = p->session;
	const enum err_code code = tool_is_slow(q->tool, q->arguments)
					   ? call_slow(p, &c, q, out)
					   : mcp_call(x->service, &c, q, out);
	calls_log(x, str_of(q->tool->name), c.session, code);
}

static void cancel(void *arg, const struct json *id)
{
	struct reply *p = arg;

	if (p->session.n)
		mcp_runs_cancel(&p->x->service->runs, p->session, id);
}

static void begin_session(struct exchange *x, const char *version)
{
	char id[MCP_SESSION_ID + 1], extra[MCP_SESSION_ID + 32];

	mcp_sessions_begin(&x->service->sessions, version, id);
	(void)snprintf(extra, sizeof extra, "Mcp-Session-Id: %s\r\n", id);
	routes_send(x, 200, extra);
}

static void answer(struct reply *p, struct mcp_request *q)
{
	struct exchange *x = p->x;

	switch (mcp_answer(x->service, q, x->out)) {
	case MCP_ANSWERED:
		routes_send(x, q->status, NULL);
		break;
	case MCP_OPENED:
		begin_session(x, q->agreed);
		break;
	case MCP_CALL:
		call(p, q, x->out);
		if (q->code && !p->streaming)
			routes_send(x, q->status, NULL);
		else
			finish(p);
		break;
	case MCP_CANCEL:
		cancel(p, q->cancel);
		send_empty(x, 202);
		break;
	case MCP_SILENT:
		send_empty(x, 202);
	}
}

/* The session of a legacy request; -1 with the error. */
static int find_session(struct reply *p, const struct http_head *head, const char **version,
			struct mcp_request *q)
{
	const struct str named = http_header(head, STR("mcp-protocol-version"));
	const struct str id = http_header(head, STR("mcp-session-id"));

	if (named.p && !mcp_legacy_version(named)) {
		q->version = named;
		return mcp_refuse(q, 400, MCP_UNSUPPORTED_VERSION, "Unsupported protocol version");
	}
	if (!id.p)
		return mcp_refuse(q, 400, MCP_INVALID_REQUEST,
				  "Mcp-Session-Id is missing: begin with initialize");
	*version = mcp_sessions_find(&p->x->service->sessions, id);
	if (!*version)
		return mcp_refuse(q, 404, MCP_INVALID_REQUEST,
				  "There is no such session: begin anew with initialize");
	/* A copy: the log comes after the answer, when the request is gone. */
	p->session = arena_dup(p->x->arena, id);
	return 0;
}

static void answer_batch(struct reply *p, const struct http_head *head, const struct json *batch,
			 struct mcp_request *q)
{
	const struct mcp_batch ops = { .call = call, .cancel = cancel, .arg = p };
	const char *version;

	if (find_session(p, head, &version, q) < 0 || mcp_batch_check(version, batch, q) < 0) {
		send_error(p->x, q);
		return;
	}
	mcp_batch_answer(p->x->service, &ops, batch, p->x->out);
	if (p->x->out->n == 0 && !p->streaming)
		send_empty(p->x, 202);
	else
		finish(p);
}

/* What the headers of a single message must say. */
static int check(struct reply *p, const struct http_head *head, struct mcp_request *q)
{
	const char *version;

	if (str_eq(http_header(head, STR("mcp-protocol-version")), STR(MCP_MODERN)))
		q->modern = true;
	if (!q->modern)
		return q->id && str_eq(q->method, STR("initialize"))
			       ? 0
			       : find_session(p, head, &version, q);
	if (q->method.n == 0)
		return mcp_refuse(q, 400, MCP_INVALID_REQUEST,
				  "A message must be a request or a notification");
	return q->id ? mcp_headers_check(head, q) : 0;
}

static void post(struct exchange *x, const struct http_request *r)
{
	struct reply p = {
		.x = x,
		.may_stream = str_find_nocase(http_header(&r->head, STR("accept")),
					      STR("text/event-stream")) >= 0,
	};
	struct mcp_request q = { .id = NULL };
	const struct json *message;

	if (!routes_is_json(&r->head)) {
		(void)mcp_refuse(&q, 415, MCP_INVALID_REQUEST,
				 "The body must have the Content-Type application/json");
	} else if (mcp_parse(r->body, x->arena, &message, &q) == 0) {
		if (message->type == JSON_ARRAY) {
			answer_batch(&p, &r->head, message, &q);
			return;
		}
		if (mcp_open(message, &q) == 0 && check(&p, &r->head, &q) == 0) {
			answer(&p, &q);
			return;
		}
	}
	send_error(x, &q);
}

static void end_session(struct exchange *x, const struct http_head *head)
{
	const struct str id = http_header(head, STR("mcp-session-id"));

	if (!id.p) {
		routes_send_error(x, 405, ALLOW, "Method not allowed: there is no session to end",
				  ERR_NONE);
	} else if (!mcp_sessions_end(&x->service->sessions, id)) {
		routes_send_error(x, 404, NULL, "There is no such session", ERR_NONE);
	} else {
		mcp_runs_cancel_all(&x->service->runs, &id);
		send_empty(x, 204);
	}
}

void mcp_http(struct exchange *x, const struct http_request *r)
{
	switch (r->head.method) {
	case HTTP_POST:
		post(x, r);
		break;
	case HTTP_DELETE:
		end_session(x, &r->head);
		break;
	case HTTP_OPTIONS:
		http_send(x->http, &(struct http_answer){ 204, HTTP_JSON, ALLOW, STR("") });
		break;
	default:
		routes_send_error(x, 405, ALLOW, "Method not allowed", ERR_NONE);
	}
}
