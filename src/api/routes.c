/* SPDX-License-Identifier: MIT */
/* routes: find the tool, call it, put its result into the envelope of its route. */

#include "api/routes.h"

#include <poll.h>

#include "api/auth.h"
#include "base/io.h"
#include "base/json.h"
#include "base/jw.h"
#include "base/log.h"

#define ALLOW_GET  "Allow: GET, HEAD, OPTIONS\r\n"
#define ALLOW_POST "Allow: POST, OPTIONS\r\n"
#define ALLOW_ANY  "Allow: GET, HEAD, POST, OPTIONS\r\n"

void routes_error_body(struct buf *out, const char *sentence, enum err_code code)
{
	struct jw w = { .out = out };

	jw_object(&w, NULL);
	jw_bool(&w, "ok", false);
	jw_str(&w, "error", str_of(sentence));
	if (code != ERR_NONE)
		jw_str(&w, "code", str_of(err_name(code)));
	jw_end(&w);
}

static void send_json(struct exchange *x, int status, const char *extra)
{
	http_send(x->http, &(struct http_answer){ status, HTTP_JSON, extra, buf_str(x->out) });
}

static void send_error(struct exchange *x, int status, const char *extra, const char *sentence,
		       enum err_code code)
{
	buf_reset(x->out, SIZE_MAX);
	routes_error_body(x->out, sentence, code);
	send_json(x, status, extra);
}

static void health(struct exchange *x)
{
	const struct service *s = x->service;
	struct jw w = { .out = x->out };

	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_str(&w, "version", STR(SIDECAR_VERSION));
	jw_int(&w, "uptimeMs", io_now_ms() - s->started_ms);
	buf_addc(x->out, ',');
	buf_add(x->out, s->facts);
	jw_end(&w);
	send_json(x, 200, NULL);
}

/* The sentences that clients of the existing contract know. */
static const char *wire_sentence(const struct err *e)
{
	if (e->code == ERR_PATH_OUTSIDE_WORKSPACE || e->code == ERR_SYMLINK_OUTSIDE_WORKSPACE)
		return "Invalid path: access outside workspace is not allowed";
	return e->msg;
}

/* A body that must be a JSON object. An empty one is an empty object. */
static const struct json *body_object(struct exchange *x, const struct http_request *r)
{
	static const struct json empty = { .type = JSON_OBJECT };
	const struct json *v;
	struct err e;

	if (str_find_nocase(http_header(&r->head, STR("content-type")), STR("application/json")) <
	    0)
		return NULL;
	if (str_trim(r->body).n == 0)
		return &empty;
	if (json_parse(r->body, x->arena, &v, &e) < 0 || v->type != JSON_OBJECT)
		return NULL;
	return v;
}

static struct str session_of(const struct json *object)
{
	const struct json *v = json_get(object, STR("sessionId"));

	return v && v->type == JSON_STRING ? v->string : STR("");
}

static void log_call(struct exchange *x, const struct tool *t, struct str session, int64_t began_ms,
		     enum err_code code)
{
	const int64_t id = ++x->service->requests;

	log_event(LOG_INFO, "call", LOG_STR("tool", str_of(t->name)), LOG_STR("session", session),
		  LOG_INT("request_id", id), LOG_INT("uid", x->tcp ? -1 : (int64_t)x->uid),
		  LOG_INT("pid", x->pid), LOG_INT("duration_ms", io_now_ms() - began_ms),
		  LOG_BOOL("success", code == ERR_NONE), LOG_STR("code", str_of(err_name(code))));
}

static void call_wire(struct exchange *x, const struct tool *t, const struct json *object)
{
	const int64_t began_ms = io_now_ms();
	struct jw w = { .out = x->out };
	struct call c = x->service->call;
	struct err e = { .code = ERR_NONE };

	c.arena = x->arena;
	c.out = &w;
	c.session = session_of(object);
	c.cancel_fd = x->http->fd;
	/* A Unix socket tells a client that left (HUP) from one that only stopped sending; TCP
	 * shows both alike until something is sent, and a command must not outlive its client. */
	c.cancel_events = x->tcp ? POLLRDHUP : 0;
	if (t->flags & TOOL_SLOW)
		x->slow(x->slow_arg);
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_object(&w, "result");
	int rc = tool_call(t, &c, object, &e);
	if (rc == 0 && x->out->failed)
		rc = err_set(&e, ERR_TOO_BUSY, "The answer is too large: ask for less");
	if (rc < 0) {
		send_error(x, 400, NULL, wire_sentence(&e), e.code);
	} else {
		jw_end(&w);
		jw_end(&w);
		send_json(x, 200, NULL);
	}
	log_call(x, t, c.session, began_ms, e.code);
}

static void post(struct exchange *x, const struct http_request *r)
{
	const struct tool *t = tool_find(str_from(r->head.path, 1), TOOL_WIRE);

	if (!t) {
		const bool get = str_eq(r->head.path, STR("/health"));
		send_error(x, get ? 405 : 404, get ? ALLOW_GET : NULL,
			   get ? "Method not allowed" : "Not found", ERR_NONE);
		return;
	}
	const struct json *object = body_object(x, r);
	if (!object) {
		send_error(x, 400, NULL, "Invalid JSON body", ERR_INVALID_ARGUMENTS);
		return;
	}
	call_wire(x, t, object);
}

void routes_answer(struct exchange *x, const struct http_request *r)
{
	const char *why;

	buf_reset(x->out, SIZE_MAX);
	const int refused = auth_check(x->service, &r->head, x->tcp, &why);
	if (refused) {
		send_error(x, refused, refused == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL, why,
			   ERR_NONE);
		return;
	}
	switch (r->head.method) {
	case HTTP_GET:
	case HTTP_HEAD:
		if (str_eq(r->head.path, STR("/health")))
			health(x);
		else
			send_error(x, 405, ALLOW_POST, "Method not allowed", ERR_NONE);
		break;
	case HTTP_POST:
		post(x, r);
		break;
	case HTTP_OPTIONS:
		http_send(x->http, &(struct http_answer){ 204, HTTP_JSON, ALLOW_ANY, STR("") });
		break;
	default:
		send_error(x, 405, ALLOW_ANY, "Method not allowed", ERR_NONE);
	}
}
