/* SPDX-License-Identifier: MIT */
/* routes: the table of all routes, and the handlers of most of them. */

#include "api/routes.h"

#include <stdio.h>

#include "api/changes.h"
#include "base/own.h"
#include "config/registry.h"
#include "net/http_parse.h"
#include "service/health.h"
#include "tools/sink.h"

/* The output of a command is a stream of lines: {"type":"delta",…} as it comes, then exactly one
 * {"type":"done",…} or {"type":"error",…}. */
static void wire_output_line(struct buf *out, bool is_stderr, struct str text)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "type", STR("delta"));
	jw_str(&w, "data", text);
	jw_str(&w, "stream", is_stderr ? STR("stderr") : STR("stdout"));
	jw_end(&w);
	buf_addc(out, '\n');
}

static void wire_done_line(struct buf *out, struct str members)
{
	buf_add(out, STR("{\"type\":\"done\","));
	buf_add(out, members);
	buf_add(out, STR("}\n"));
}

static void wire_error_line(struct buf *out, const struct err *e)
{
	struct jw w = jw_to(out);

	jw_object(&w, NULL);
	jw_str(&w, "type", STR("error"));
	jw_str(&w, "message", str_of(exchange_sentence(e)));
	jw_str(&w, "code", str_of(err_name(e->code)));
	jw_end(&w);
	buf_addc(out, '\n');
}

/* A stream of JSON lines on its way to the client. */
struct ndjson {
	struct exchange *x;
	bool begun;
};

static int begin_lines(void *arg, uint64_t call)
{
	struct ndjson *n = arg;
	char header[48];

	n->begun = true;
	(void)snprintf(header, sizeof header, "Sidecar-Call: %llu\r\n", (unsigned long long)call);
	return n->x->outlet->stream_begin(n->x, "application/x-ndjson; charset=utf-8", header);
}

/* Send the line in x->out. */
static int send_line(struct exchange *x)
{
	const int rc = x->out->failed ? -1 : x->outlet->stream_write(x, buf_str(x->out));

	buf_reset(x->out, SIZE_MAX);
	return rc;
}

static int emit_line(void *arg, bool is_stderr, struct str text, size_t bytes)
{
	struct exchange *x = ((struct ndjson *)arg)->x;

	(void)bytes;
	wire_output_line(x->out, is_stderr, text);
	return send_line(x);
}

/* Make a call whose output goes out as it comes. An error before the first line is answered like
 * every other error; a command that goes on in the background has a result and no lines. */
static void stream_call(struct exchange *x, struct dispatch *d)
{
	struct ndjson n = { .x = x };
	struct sink_taker lines = { .begin = begin_lines, .take = emit_line, .arg = &n };
	char room[512];
	struct buf members = buf_over(room, sizeof room);
	struct jw w = jw_members_to(&members);
	struct call_change change = { .id = 0 };
	struct err e;

	d->taker = &lines;
	d->change = &change;
	const int rc = dispatch(x->front->service, d, &w, &e);
	if (n.begun) {
		if (change.id)
			jw_int(&w, "change", (int64_t)change.id);
		if (change.not_kept)
			jw_int(&w, "notKept", (int64_t)change.not_kept);
		if (rc < 0)
			wire_error_line(x->out, &e);
		else
			wire_done_line(x->out, buf_str(&members));
		(void)send_line(x);
		x->outlet->stream_end(x);
	} else if (rc < 0) {
		exchange_fail(x, &e, NULL);
	} else {
		buf_addf(x->out, "{\"ok\":true,\"result\":{%.*s}}", STR_FMT(buf_str(&members)));
		exchange_send(x, 200, NULL);
	}
}

static void tell_seen(void *arg, int64_t files)
{
	struct exchange *x = arg;

	x->outlet->tell_seen(x, files);
}

/* POST /<tool>: a tool of the existing contract. */
static void endpoint(struct exchange *x, const struct http_request *r, struct str rest)
{
	const struct tool *t = tool_by_name(str_from(r->head.path, 1), TOOL_WIRE);
	const struct call_progress progress = { .seen = tell_seen, .arg = x };
	struct err e;
	const struct json *object = exchange_body(x, r, &e);

	(void)rest;
	if (!object) {
		exchange_error(x, 400, NULL, "Invalid JSON body", ERR_INVALID_ARGUMENTS);
		return;
	}
	struct dispatch d = exchange_call(x, CALL_WIRE, t, object);
	d.raw = r->body;
	if (t->flags & TOOL_STREAM) {
		stream_call(x, &d);
		return;
	}
	d.hints = http_header(&r->head, STR("sidecar-hints")).n > 0;
	if (http_header(&r->head, STR("sidecar-progress")).n)
		d.progress = &progress;
	exchange_answer(x, &d);
}

/* A question with a body, asked of a tool that has no endpoint of its name. */
static void ask(struct exchange *x, const struct http_request *r, enum call_kind kind,
		const struct tool *t)
{
	struct err e;
	const struct json *object = exchange_body(x, r, &e);

	if (!object) {
		exchange_error(x, 400, NULL, "Invalid JSON body", ERR_INVALID_ARGUMENTS);
		return;
	}
	struct dispatch d = exchange_call(x, kind, t, object);
	exchange_answer(x, &d);
}

static void validate_path(struct exchange *x, const struct http_request *r, struct str rest)
{
	(void)rest;
	ask(x, r, CALL_WIRE, &tool_validate_path);
}

/* The endpoints' own commands are not judged, so it is asked as for a caller whose commands are. */
static void judge_command(struct exchange *x, const struct http_request *r, struct str rest)
{
	(void)rest;
	ask(x, r, CALL_SURFACE, &tool_policy);
}

static void list_allowed_paths(struct exchange *x, const struct http_request *r, struct str rest)
{
	struct dispatch d = exchange_call(x, CALL_WIRE, &tool_allowed_paths, &json_empty);

	(void)r;
	(void)rest;
	exchange_answer(x, &d);
}

static void list_jobs(struct exchange *x, const struct http_request *r, struct str rest)
{
	struct dispatch d = exchange_call(x, CALL_WIRE, &tool_jobs, &json_empty);

	(void)r;
	(void)rest;
	exchange_answer(x, &d);
}

/* GET /jobs/<id>?since=N&waitMs=M */
static void show_job(struct exchange *x, const struct http_request *r, struct str id)
{
	struct json members[3] = { json_of_str(STR("id"), id) };
	size_t n = 1;

	if (!exchange_take_number(x, r, "since", members, &n) ||
	    !exchange_take_number(x, r, "waitMs", members, &n))
		return;
	const struct json object = json_of_members(members, n);
	struct dispatch d = exchange_call(x, CALL_WIRE, &tool_job, &object);
	exchange_answer(x, &d);
}

static void stop_job(struct exchange *x, const struct http_request *r, struct str id)
{
	struct json members[] = { json_of_str(STR("id"), id) };
	const struct json object = json_of_members(members, ARRAY_LEN(members));
	struct dispatch d = exchange_call(x, CALL_WIRE, &tool_stop_job, &object);

	(void)r;
	exchange_answer(x, &d);
}

static void health(struct exchange *x, const struct http_request *r, struct str rest)
{
	(void)r;
	(void)rest;
	health_write(x->front->service, x->out);
	exchange_send(x, 200, NULL);
}

static void metrics(struct exchange *x, const struct http_request *r, struct str rest)
{
	static const struct http_budget none;
	const struct service *s = x->front->service;
	const struct http_budget *b = x->front->connections ? x->front->connections : &none;
	struct journal *journal = s->history.journal;
	struct store_facts facts = { .failed = 0 };
	if (journal)
		store_get_facts(journal_store(journal), &facts);
	const struct metrics_now now = {
		.journal = journal ? &facts : NULL,
		.started_ms = s->started_ms,
		.commands = service_commands(s),
		.connections = b->connections,
		.received = b->received,
		.sent = b->sent,
		.scrubbed = &s->scrubbed,
	};

	(void)r;
	(void)rest;
	metrics_write(&s->metrics, &now, x->out);
	x->outlet->send(x, &(struct http_answer){ 200, METRICS_TYPE, NULL, buf_str(x->out) });
}

/* In a path, * is one component and ** is the rest; the handler gets what it stands for. */
static const struct route {
	enum http_method method;
	struct str path;
	route_handler *answer;
	bool surface; /* only when agent-sandbox's routes are served */
	bool watched; /* only when calls can be watched */
	bool open;    /* needs no token, because it has no data */
} routes[] = {
	/* clang-format off */
	{ HTTP_POST,   STR("/read"),         endpoint },
	{ HTTP_POST,   STR("/write"),        endpoint },
	{ HTTP_POST,   STR("/edit"),         endpoint },
	{ HTTP_POST,   STR("/patch"),        endpoint },
	{ HTTP_POST,   STR("/ls"),           endpoint },
	{ HTTP_POST,   STR("/find"),         endpoint },
	{ HTTP_POST,   STR("/grep"),         endpoint },
	{ HTTP_POST,   STR("/search"),       endpoint },
	{ HTTP_POST,   STR("/bash"),         endpoint },
	{ HTTP_POST,   STR("/stat"),         endpoint },
	{ HTTP_POST,   STR("/exists"),       endpoint },
	{ HTTP_POST,   STR("/mkdir"),        endpoint },
	{ HTTP_POST,   STR("/rename"),       endpoint },
	{ HTTP_POST,   STR("/remove"),       endpoint },
	{ HTTP_POST,   STR("/copy"),         endpoint },
	{ HTTP_POST,   STR("/paths"),        validate_path },
	{ HTTP_GET,    STR("/paths"),        list_allowed_paths },
	{ HTTP_POST,   STR("/policy"),       judge_command },
	{ HTTP_POST,   STR("/tools"),        models_call },
	{ HTTP_POST,   STR("/tools/**"),     models_call_named },
	{ HTTP_GET,    STR("/tools"),        models_list_tools },
	{ HTTP_GET,    STR("/tools/*"),      models_list_tools },
	{ HTTP_POST,   STR("/mcp"),          mcp_http_post },
	{ HTTP_DELETE, STR("/mcp"),          mcp_http_delete },
	{ HTTP_GET,    STR("/health"),       health },
	{ HTTP_GET,    STR("/jobs"),         list_jobs },
	{ HTTP_GET,    STR("/jobs/*"),       show_job },
	{ HTTP_POST,   STR("/jobs/*/stop"),  stop_job },
	{ HTTP_GET,    STR("/changes"),        changes_list },
	{ HTTP_POST,   STR("/changes/undo"),   changes_undo_many },
	{ HTTP_GET,    STR("/changes/*"),      changes_show },
	{ HTTP_GET,    STR("/changes/*/diff"), changes_diff },
	{ HTTP_POST,   STR("/changes/*/undo"), changes_undo },
	{ HTTP_GET,    STR("/events"),       live_watch,     .watched = true },
	{ HTTP_GET,    STR("/calls/*"),      live_show_call, .watched = true },
	{ HTTP_POST,   STR("/calls/*/stop"), live_stop_call, .watched = true },
	{ HTTP_GET,    STR("/ui"),           page_send,      .watched = true, .open = true },
	{ HTTP_GET,    STR("/metrics"),      metrics },
	{ HTTP_GET,    STR("/openapi.json"), openapi_send },
	{ HTTP_GET,    STR("/"),             surface_home,     true },
	{ HTTP_POST,   STR("/execute"),      surface_execute,  true },
	{ HTTP_POST,   STR("/upload"),       surface_upload,   true },
	{ HTTP_GET,    STR("/download/**"),  surface_download, true },
	{ HTTP_GET,    STR("/list/**"),      surface_list,     true },
	{ HTTP_GET,    STR("/exists/**"),    surface_exists,   true },
	{ HTTP_GET,    STR("/v1/files/**"),  surface_get,      true },
	{ HTTP_PUT,    STR("/v1/files/**"),  surface_put,      true },
	{ HTTP_DELETE, STR("/v1/files/**"),  surface_delete,   true },
	{ HTTP_GET,    STR("/v1/health"),    surface_health,   true },
	{ HTTP_GET,    STR("/v1/metadata"),  surface_metadata, true },
	/* clang-format on */
};

/* Whether the route is for this path; *rest is what its stars stand for. */
static bool fits(struct str route, struct str path, struct str *rest)
{
	const ptrdiff_t star = str_index(route, '*');

	*rest = STR("");
	if (star < 0)
		return str_eq(route, path);
	if (!str_starts(path, str_upto(route, (size_t)star)))
		return false;
	*rest = str_from(path, (size_t)star);
	const struct str tail = str_from(route, (size_t)star + 1);
	if (str_eq(tail, STR("*")))
		return true;
	const ptrdiff_t slash = str_index(*rest, '/');
	const size_t n = slash < 0 ? rest->n : (size_t)slash;
	if (!str_eq(str_from(*rest, n), tail))
		return false;
	*rest = str_upto(*rest, n);
	return true;
}

/* No route has this method for this path. `allowed` has a bit for each method that one has. */
static void refuse(struct exchange *x, const struct http_request *r, unsigned allowed)
{
	static const struct {
		enum http_method method;
		const char *names;
	} words[] = { { HTTP_GET, "GET, HEAD, " },
		      { HTTP_POST, "POST, " },
		      { HTTP_PUT, "PUT, " },
		      { HTTP_DELETE, "DELETE, " } };
	char room[80];
	struct buf allow = buf_over(room, sizeof room);

	if (!allowed && r->head.method == HTTP_POST) {
		exchange_error(x, 404, NULL, "Not found", ERR_NONE);
		return;
	}
	/* An unknown path is taken for that of a tool. */
	if (!allowed)
		allowed = 1U << HTTP_POST | (str_eq(r->head.path, STR("*")) ? 1U << HTTP_GET : 0);
	buf_add(&allow, STR("Allow: "));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (allowed & 1U << words[i].method)
			buf_add(&allow, str_of(words[i].names));
	buf_add(&allow, (struct str){ "OPTIONS\r\n", sizeof "OPTIONS\r\n" });
	if (r->head.method == HTTP_OPTIONS)
		exchange_send_empty(x, 204, room);
	else
		exchange_error(x, 405, room, "Method not allowed", ERR_NONE);
}

/* The route of a request; NULL and the methods that others have for its path. */
static const struct route *find_route(const struct front *f, const struct http_head *head,
				      struct str *rest, unsigned *allowed)
{
	const enum http_method method = head->method == HTTP_HEAD ? HTTP_GET : head->method;

	*allowed = 0;
	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		if ((routes[i].surface && !f->surface) || (routes[i].watched && !f->feed) ||
		    (f->shows_only && !registry_shows(routes[i].path)) ||
		    !fits(routes[i].path, head->path, rest))
			continue;
		if (routes[i].method == method)
			return &routes[i];
		*allowed |= 1U << routes[i].method;
	}
	return NULL;
}

bool routes_need_no_token(const struct front *f, const struct http_head *head)
{
	struct str rest;
	unsigned allowed;
	const struct route *route = find_route(f, head, &rest, &allowed);

	return route && route->open;
}

void routes_answer(struct exchange *x, const struct http_request *r)
{
	struct str rest;
	unsigned allowed;
	const struct route *route = find_route(x->front, &r->head, &rest, &allowed);

	if (route) {
		route->answer(x, r, rest);
		return;
	}
	refuse(x, r, allowed);
}
