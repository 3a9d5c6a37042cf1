/* SPDX-License-Identifier: MIT */
/* routes: find the tool, call it, put its result into the envelope of its route. */

#include "api/routes.h"

#include "api/auth.h"
#include "api/jobs_route.h"
#include "api/observe.h"
#include "api/wire.h"
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

void routes_send(struct exchange *x, int status, const char *extra)
{
	http_send(x->http, &(struct http_answer){ status, HTTP_JSON, extra, buf_str(x->out) });
}

void routes_send_error(struct exchange *x, int status, const char *extra, const char *sentence,
		       enum err_code code)
{
	buf_reset(x->out, SIZE_MAX);
	routes_error_body(x->out, sentence, code);
	routes_send(x, status, extra);
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
	routes_send(x, 200, NULL);
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

static void post(struct exchange *x, const struct http_request *r)
{
	if (str_eq(r->head.path, STR("/tools"))) {
		observe_call(x, r);
		return;
	}
	if (str_starts(r->head.path, STR("/tools/"))) {
		observe_tool(x, r, str_from(r->head.path, sizeof "/tools/" - 1));
		return;
	}
	const struct tool *t = tool_by_name(str_from(r->head.path, 1), TOOL_WIRE);

	if (!t) {
		const bool get = str_eq(r->head.path, STR("/health"));
		routes_send_error(x, get ? 405 : 404, get ? ALLOW_GET : NULL,
				  get ? "Method not allowed" : "Not found", ERR_NONE);
		return;
	}
	const struct json *object = body_object(x, r);
	if (!object) {
		routes_send_error(x, 400, NULL, "Invalid JSON body", ERR_INVALID_ARGUMENTS);
		return;
	}
	wire_call(x, t, object);
}

void routes_answer(struct exchange *x, const struct http_request *r)
{
	const char *why;

	buf_reset(x->out, SIZE_MAX);
	const int refused = auth_check(x->service, &r->head, x->tcp, &why);
	if (refused) {
		log_event(LOG_WARN, "request refused", LOG_INT("status", refused),
			  LOG_STR("error", str_of(why)));
		routes_send_error(x, refused,
				  refused == 401 ? "WWW-Authenticate: Bearer\r\n" : NULL, why,
				  ERR_NONE);
		return;
	}
	if (jobs_route(x, &r->head))
		return;
	switch (r->head.method) {
	case HTTP_GET:
	case HTTP_HEAD:
		if (str_eq(r->head.path, STR("/health")))
			health(x);
		else if (str_eq(r->head.path, STR("/tools")))
			observe_list(x, r);
		else
			routes_send_error(x, 405, ALLOW_POST, "Method not allowed", ERR_NONE);
		break;
	case HTTP_POST:
		post(x, r);
		break;
	case HTTP_OPTIONS:
		http_send(x->http, &(struct http_answer){ 204, HTTP_JSON, ALLOW_ANY, STR("") });
		break;
	default:
		routes_send_error(x, 405, ALLOW_ANY, "Method not allowed", ERR_NONE);
	}
}
