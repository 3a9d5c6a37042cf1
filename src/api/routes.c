/* SPDX-License-Identifier: MIT */
/* routes: find the tool, call it, put its result into the envelope of its route. */

#include "api/routes.h"

#include "api/auth.h"
#include "api/jobs_route.h"
#include "mcp/mcp_http.h"
#include "service/metrics.h"
#include "api/observe.h"
#include "api/openapi.h"
#include "api/surface.h"
#include "api/wire.h"
#include "base/io.h"
#include "base/jw.h"
#include "base/log.h"
#include "base/own.h"

#define ALLOW_GET  "Allow: GET, HEAD, OPTIONS\r\n"
#define ALLOW_POST "Allow: POST, OPTIONS\r\n"
#define ALLOW_ANY  "Allow: GET, HEAD, POST, OPTIONS\r\n"

void routes_error_body(struct buf *out, const char *sentence, enum err_code code)
{
	struct jw w = jw_to(out);

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

bool routes_is_json(const struct http_head *head)
{
	return str_find_nocase(http_header(head, STR("content-type")), STR("application/json")) >=
	       0;
}

const struct json *routes_body(struct exchange *x, const struct http_request *r, struct err *e)
{
	const struct json *v = &json_empty;

	if (!routes_is_json(&r->head)) {
		(void)err_set(e, ERR_INVALID_ARGUMENTS,
			      "The body must have the Content-Type application/json");
		return NULL;
	}
	if (str_trim(r->body).n && json_parse(r->body, x->arena, &v, e) < 0)
		return NULL;
	if (v->type == JSON_OBJECT)
		return v;
	(void)err_set(e, ERR_INVALID_ARGUMENTS, "The body must be a JSON object, not %s",
		      json_type_name(v));
	return NULL;
}

static void health(struct exchange *x, const struct http_request *r)
{
	const struct service *s = x->service;
	struct jw w = jw_to(x->out);

	(void)r;
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_str(&w, "version", STR(SIDECAR_VERSION));
	jw_int(&w, "uptimeMs", io_now_ms() - s->started_ms);
	buf_addc(x->out, ',');
	buf_add(x->out, s->facts);
	jw_end(&w);
	routes_send(x, 200, NULL);
}

static void metrics(struct exchange *x, const struct http_request *r)
{
	(void)r;
	metrics_write(x->service, x->http->budget, x->out);
	http_send(x->http, &(struct http_answer){ 200, METRICS_TYPE, NULL, buf_str(x->out) });
}

static void openapi(struct exchange *x, const struct http_request *r)
{
	(void)r;
	openapi_write(x->service, x->out);
	routes_send(x, 200, NULL);
}

/* What is asked for by GET. */
static const struct {
	const char *path;
	void (*answer)(struct exchange *x, const struct http_request *r);
} pages[] = {
	{ "/health", health },
	{ "/tools", observe_list },
	{ "/metrics", metrics },
	{ "/openapi.json", openapi },
};

/* The index in that table, or -1. */
static int page_of(struct str path)
{
	for (size_t i = 0; i < ARRAY_LEN(pages); i++)
		if (str_eq(str_of(pages[i].path), path))
			return (int)i;
	return -1;
}

/* The methods an endpoint has; an unknown one is taken for a tool. */
static const char *allowed(struct str path)
{
	if (str_eq(path, STR("/tools")) || str_eq(path, STR("*")))
		return ALLOW_ANY;
	return page_of(path) >= 0 || jobs_route_is_page(path) ? ALLOW_GET : ALLOW_POST;
}

static void get(struct exchange *x, const struct http_request *r)
{
	const int page = page_of(r->head.path);

	if (page < 0)
		routes_send_error(x, 405, allowed(r->head.path), "Method not allowed", ERR_NONE);
	else
		pages[page].answer(x, r);
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
		const bool page = page_of(r->head.path) >= 0 || jobs_route_is_page(r->head.path);
		routes_send_error(x, page ? 405 : 404, page ? ALLOW_GET : NULL,
				  page ? "Method not allowed" : "Not found", ERR_NONE);
		return;
	}
	struct err e;
	const struct json *object = routes_body(x, r, &e);
	if (!object) {
		routes_send_error(x, 400, NULL, "Invalid JSON body", ERR_INVALID_ARGUMENTS);
		return;
	}
	x->tells = http_header(&r->head, STR("sidecar-progress")).n > 0;
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
		routes_send_error(x, refused, auth_extra(refused), why, ERR_NONE);
		return;
	}
	if (jobs_route(x, &r->head) || (x->service->surface && surface_route(x, r)))
		return;
	if (str_eq(r->head.path, STR("/mcp"))) {
		mcp_http(x, r);
		return;
	}
	switch (r->head.method) {
	case HTTP_GET:
	case HTTP_HEAD:
		get(x, r);
		break;
	case HTTP_POST:
		post(x, r);
		break;
	case HTTP_OPTIONS:
		http_send(x->http,
			  &(struct http_answer){ 204, HTTP_JSON, allowed(r->head.path), STR("") });
		break;
	default:
		routes_send_error(x, 405, allowed(r->head.path), "Method not allowed", ERR_NONE);
	}
}
