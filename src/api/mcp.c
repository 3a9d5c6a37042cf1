/* SPDX-License-Identifier: MIT */
/* mcp: a small table of sessions; headers against the body; from a POST to a message to its answer,
 * as JSON or as a stream of events. */

#include "api/mcp.h"

#include <stdio.h>

#include "api/routes.h"
#include "base/base64.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "mcp/runs.h"

struct mcp_http *mcp_http_new(void)
{
	return mem_new(1, sizeof(struct mcp_http));
}

void mcp_http_free(struct mcp_http *m)
{
	mem_free(m);
}

static struct mcp_session *find(struct mcp_http *m, struct str id)
{
	if (id.n != MCP_SESSION_ID)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(m->list); i++)
		if (m->list[i].version && memcmp(m->list[i].id, id.p, id.n) == 0)
			return &m->list[i];
	return NULL;
}

void mcp_sessions_begin(struct mcp_http *m, const char *version, struct str client,
			char id[MCP_SESSION_ID + 1])
{
	unsigned char random[MCP_SESSION_ID / 2];

	io_random(random, sizeof random);
	for (size_t i = 0; i < sizeof random; i++)
		(void)snprintf(id + 2 * i, 3, "%02x", random[i]);
	(void)pthread_mutex_lock(&m->lock);
	struct mcp_session *place = &m->list[0];
	for (size_t i = 1; i < ARRAY_LEN(m->list) && place->version; i++)
		if (!m->list[i].version || m->list[i].used < place->used)
			place = &m->list[i];
	place->version = version;
	place->used = ++m->clock;
	memcpy(place->id, id, MCP_SESSION_ID);
	(void)snprintf(place->client, sizeof place->client, "%.*s", STR_FMT(client));
	(void)pthread_mutex_unlock(&m->lock);
}

const char *mcp_sessions_find(struct mcp_http *m, struct str id, char client[MCP_CLIENT_NAME])
{
	(void)pthread_mutex_lock(&m->lock);
	struct mcp_session *found = find(m, id);
	const char *version = found ? found->version : NULL;
	client[0] = '\0';
	if (found) {
		found->used = ++m->clock;
		memcpy(client, found->client, MCP_CLIENT_NAME);
	}
	(void)pthread_mutex_unlock(&m->lock);
	return version;
}

bool mcp_sessions_end(struct mcp_http *m, struct str id)
{
	(void)pthread_mutex_lock(&m->lock);
	struct mcp_session *found = find(m, id);
	if (found)
		found->version = NULL;
	(void)pthread_mutex_unlock(&m->lock);
	return found != NULL;
}

/* The value of a header that must be there once. */
static int only(const struct http_head *head, const char *name, struct str *ret,
		struct mcp_request *r)
{
	size_t n = 0;

	for (size_t i = 0; i < head->header_count; i++) {
		if (!str_eq_nocase(head->headers[i].name, str_of(name)))
			continue;
		*ret = head->headers[i].value;
		n++;
	}
	if (n == 1)
		return 0;
	return mcp_refuse(r, 400, MCP_HEADER_MISMATCH, "Header mismatch: %s is %s", name,
			  n ? "there more than once" : "missing");
}

/* The value as it is, or as base64 in its wrapping. */
static bool says(struct str value, struct str wanted)
{
	const struct str prefix = STR("=?base64?"), suffix = STR("?=");

	char bytes[LIMIT_HTTP_HEAD] UNINITIALISED;

	if (!str_starts(value, prefix) || !str_ends(value, suffix) || value.n < prefix.n + suffix.n)
		return str_eq(value, wanted);
	const struct str text = str_from(str_upto(value, value.n - suffix.n), prefix.n);
	const ptrdiff_t n = base64_decode(text, bytes);
	return n >= 0 && str_eq((struct str){ bytes, (size_t)n }, wanted);
}

static int compare(const struct http_head *head, const char *name, struct str wanted,
		   bool may_be_encoded, struct mcp_request *r)
{
	struct str value = STR("");

	if (only(head, name, &value, r) < 0)
		return -1;
	if (may_be_encoded ? says(value, wanted) : str_eq(value, wanted))
		return 0;
	return mcp_refuse(r, 400, MCP_HEADER_MISMATCH,
			  "Header mismatch: %s is '%.*s', but the body says '%.*s'", name,
			  STR_FMT(str_upto(value, 60)), STR_FMT(str_upto(wanted, 60)));
}

int mcp_headers_check(const struct http_head *head, struct mcp_request *r)
{
	const struct json *name = json_get(r->params, STR("name"));

	/* A body without a version is refused for that. */
	if (r->version.n == 0)
		return 0;
	if (compare(head, "MCP-Protocol-Version", r->version, false, r) < 0)
		return -1;
	if (!str_eq(r->version, STR(MCP_MODERN)))
		return 0;
	if (compare(head, "Mcp-Method", r->method, false, r) < 0)
		return -1;
	if (!str_eq(r->method, STR("tools/call")) || !name || name->type != JSON_STRING)
		return 0;
	return compare(head, "Mcp-Name", name->string, true, r);
}

/* An answer on its way. */
struct reply {
	struct exchange *x;
	struct str session;	      /* legacy: its name; or empty … */
	char client[MCP_CLIENT_NAME]; /* … and what its client calls itself; or "" */
	bool may_stream;	      /* the client accepts events */
	bool streaming;
};

static void send_error(struct exchange *x, const struct mcp_request *q)
{
	buf_reset(x->out, SIZE_MAX);
	mcp_error(q, x->out);
	exchange_send(x, q->status, NULL);
}

static int begin_events(struct reply *p)
{
	p->streaming = true;
	return p->x->outlet->stream_begin(p->x, "text/event-stream",
					  "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n");
}

static void send_event(struct reply *p, struct str message)
{
	struct exchange *x = p->x;

	if (message.n == 0)
		(void)x->outlet->stream_write(x, STR(":\n\n"));
	else if (x->outlet->stream_write(x, STR("event: message\ndata: ")) == 0 &&
		 x->outlet->stream_write(x, message) == 0)
		(void)x->outlet->stream_write(x, STR("\n\n"));
}

/* Progress. Called by whichever thread notices it, never by two at once; what the client does not
 * take at this moment is dropped. */
static void notify(void *arg, struct str message)
{
	struct reply *p = arg;

	if (!p->may_stream || !p->x->outlet->is_ready(p->x))
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
	/* A cancelled call has no answer, but the request must end somehow. */
	if (x->out->n == 0 && !p->streaming && (!p->may_stream || begin_events(p) < 0)) {
		exchange_send_empty(x, 202, NULL);
		return;
	}
	if (!p->streaming) {
		exchange_send(x, 200, NULL);
		return;
	}
	if (x->out->n)
		send_event(p, buf_str(x->out));
	x->outlet->stream_end(x);
}

/* A call that may take long: other requests may cancel it, and it tells that it runs. */
static void call_slow(struct reply *p, struct dispatch *d, struct mcp_request *q, struct buf *out)
{
	struct service *s = p->x->front->service;
	const size_t before = out->n;
	struct err e;
	struct mcp_run run = {
		.session = p->session,
		.cancel = p->x->cancel,
		.id = q->id,
		.token = q->token,
		.notify = notify,
		.arg = p,
	};

	if (mcp_run_enter(&s->roster, &run, &e) < 0) {
		dispatch_refused(s, d, str_of(q->tool->name), &e);
		mcp_run_refused(q, &e, out);
		return;
	}
	mcp_run_follow(&run, d);
	mcp_call(s, d, q, out);
	if (!mcp_run_leave(&s->roster, &run))
		out->n = before;
}

static void call(void *arg, struct mcp_request *q, struct buf *out)
{
	struct reply *p = arg;
	struct dispatch d = exchange_call(p->x, CALL_MCP, q->tool, q->arguments);

	if (!q->client.n)
		q->client = str_of(p->client);
	d.session = p->session;
	d.client = q->client;
	if (tool_is_slow(q->tool, q->arguments))
		call_slow(p, &d, q, out);
	else
		mcp_call(p->x->front->service, &d, q, out);
}

static struct str held(void *service)
{
	return str_of(((const struct service *)service)->held);
}

static struct mcp_offer offer_of(struct service *s)
{
	return (struct mcp_offer){ .tools = s->mcp, .held = held, .arg = s };
}

static void cancel(void *arg, const struct json *id)
{
	struct reply *p = arg;

	if (p->session.n)
		roster_cancel(&p->x->front->service->roster, p->session, id);
}

static void begin_session(struct exchange *x, const struct mcp_request *q)
{
	char id[MCP_SESSION_ID + 1], extra[MCP_SESSION_ID + 32];

	mcp_sessions_begin(x->front->mcp, q->agreed, q->client, id);
	(void)snprintf(extra, sizeof extra, "Mcp-Session-Id: %s\r\n", id);
	exchange_send(x, 200, extra);
}

static void answer(struct reply *p, struct mcp_request *q)
{
	struct exchange *x = p->x;
	const struct mcp_offer offer = offer_of(x->front->service);

	switch (mcp_answer(&offer, q, x->out)) {
	case MCP_ANSWERED:
		exchange_send(x, q->status, NULL);
		break;
	case MCP_OPENED:
		begin_session(x, q);
		break;
	case MCP_CALL:
		call(p, q, x->out);
		if (q->code && !p->streaming)
			exchange_send(x, q->status, NULL);
		else
			finish(p);
		break;
	case MCP_CANCEL:
		cancel(p, q->cancel);
		exchange_send_empty(x, 202, NULL);
		break;
	case MCP_SILENT:
		exchange_send_empty(x, 202, NULL);
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
	*version = mcp_sessions_find(p->x->front->mcp, id, p->client);
	if (!*version)
		return mcp_refuse(q, 404, MCP_INVALID_REQUEST,
				  "There is no such session: begin anew with initialize");
	/* A copy: once a stream begins, the request is gone. */
	p->session = arena_dup(p->x->arena, id);
	return 0;
}

static void answer_batch(struct reply *p, const struct http_head *head, const struct json *batch,
			 struct mcp_request *q)
{
	const struct mcp_batch ops = { .call = call, .cancel = cancel, .arg = p };
	const struct mcp_offer offer = offer_of(p->x->front->service);
	const char *version;

	if (find_session(p, head, &version, q) < 0 || mcp_batch_check(version, batch, q) < 0) {
		send_error(p->x, q);
		return;
	}
	mcp_batch_answer(&offer, &ops, batch, p->x->out);
	if (p->x->out->n == 0 && !p->streaming)
		exchange_send_empty(p->x, 202, NULL);
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

void mcp_http_post(struct exchange *x, const struct http_request *r, struct str rest)
{
	struct reply p = {
		.x = x,
		.may_stream = str_find_nocase(http_header(&r->head, STR("accept")),
					      STR("text/event-stream")) >= 0,
	};
	struct mcp_request q = { .id = NULL };
	const struct json *message;

	(void)rest;
	if (!x->front->mcp) {
		exchange_error(x, 404, NULL, "Not found", ERR_NONE);
		return;
	}
	if (!exchange_is_json(&r->head)) {
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

void mcp_http_delete(struct exchange *x, const struct http_request *r, struct str rest)
{
	const struct str id = http_header(&r->head, STR("mcp-session-id"));

	(void)rest;
	if (!id.p || !x->front->mcp) {
		exchange_error(x, 405, "Allow: POST, DELETE, OPTIONS\r\n",
			       "Method not allowed: there is no session to end", ERR_NONE);
	} else if (!mcp_sessions_end(x->front->mcp, id)) {
		exchange_error(x, 404, NULL, "There is no such session", ERR_NONE);
	} else {
		roster_cancel_session(&x->front->service->roster, id);
		exchange_send_empty(x, 204, NULL);
	}
}
