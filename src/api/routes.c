/* SPDX-License-Identifier: MIT */
/* routes: the table of all routes, and the handlers of most of them. */

#include "api/routes.h"

#include "api/changes.h"
#include "api/live.h"
#include "api/native.h"
#include "api/observation.h"
#include "api/openapi.h"
#include "api/page.h"
#include "api/surface.h"
#include "base/limits.h"
#include "base/own.h"
#include "config/registry.h"
#include "mcp/http.h"
#include "net/http_parse.h"
#include "service/health.h"
#include "tools/schema.h"

/* The sentence that clients of the existing contract know; or a longer one that begins like it. */
static const char *wire_sentence(const struct err *e)
{
	static const char known[] = "Invalid path: access outside workspace is not allowed";

	if (e->code != ERR_PATH_OUTSIDE_WORKSPACE && e->code != ERR_SYMLINK_OUTSIDE_WORKSPACE)
		return e->msg;
	return str_starts(str_of(e->msg), str_of(known)) ? e->msg : known;
}

/* {"ok":true,"result":{…}} */
static void wire_begin(struct jw *w)
{
	jw_object(w, NULL);
	jw_bool(w, "ok", true);
	jw_object(w, "result");
}

static void wire_end(struct jw *w)
{
	jw_end(w);
	jw_end(w);
}

static void wire_error(struct buf *out, const struct err *e)
{
	buf_reset(out, SIZE_MAX);
	exchange_error_body(out, wire_sentence(e), e->code);
}

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
	jw_str(&w, "message", str_of(wire_sentence(e)));
	jw_str(&w, "code", str_of(err_name(e->code)));
	jw_end(&w);
	buf_addc(out, '\n');
}

/* A call that could not be made now is 503, one that failed 400. */
static int status_of(const struct err *e)
{
	return e->code == ERR_TOO_BUSY ? 503 : 400;
}

static void send_failure(struct exchange *x, const struct err *e)
{
	wire_error(x->out, e);
	exchange_send(x, status_of(e), NULL);
}

/* Make the call and answer with its result. */
static void answer_call(struct exchange *x, const struct dispatch *d)
{
	struct dispatch call = *d;
	struct jw w = jw_to(x->out);
	struct call_change change = { .id = 0 };
	char header[48];
	struct err e;

	call.change = &change;
	wire_begin(&w);
	if (dispatch(x->front->service, &call, &w, &e) < 0) {
		send_failure(x, &e);
		return;
	}
	wire_end(&w);
	exchange_send(x, 200, changes_header(change.id, header));
}

/* A stream of JSON lines on its way to the client. */
struct ndjson {
	struct exchange *x;
	bool begun;
};

static int begin_lines(void *arg)
{
	struct ndjson *n = arg;

	n->begun = true;
	return n->x->outlet->stream_begin(n->x, "application/x-ndjson; charset=utf-8", NULL);
}

/* Send the line in x->out. */
static int send_line(struct exchange *x)
{
	const int rc = x->out->failed ? -1 : x->outlet->stream_write(x, buf_str(x->out));

	buf_reset(x->out, SIZE_MAX);
	return rc;
}

static int emit_line(void *arg, bool is_stderr, struct str text)
{
	struct exchange *x = ((struct ndjson *)arg)->x;

	wire_output_line(x->out, is_stderr, text);
	return send_line(x);
}

/* Make a call whose output goes out as it comes. An error before the first line is answered like
 * every other error; a command that goes on in the background has a result and no lines. */
static void stream_call(struct exchange *x, struct dispatch *d)
{
	struct ndjson n = { .x = x };
	const struct call_stream stream = { .begin = begin_lines, .emit = emit_line, .arg = &n };
	char room[512];
	struct buf members = buf_over(room, sizeof room);
	struct jw w = jw_members_to(&members);
	struct err e;

	d->stream = &stream;
	const int rc = dispatch(x->front->service, d, &w, &e);
	if (n.begun) {
		if (rc < 0)
			wire_error_line(x->out, &e);
		else
			wire_done_line(x->out, buf_str(&members));
		(void)send_line(x);
		x->outlet->stream_end(x);
	} else if (rc < 0) {
		send_failure(x, &e);
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
	if (t->flags & TOOL_STREAM) {
		stream_call(x, &d);
		return;
	}
	d.hints = http_header(&r->head, STR("sidecar-hints")).n > 0;
	if (http_header(&r->head, STR("sidecar-progress")).n)
		d.progress = &progress;
	answer_call(x, &d);
}

static void list_jobs(struct exchange *x, const struct http_request *r, struct str rest)
{
	const struct dispatch d = exchange_call(x, CALL_WIRE, &tool_jobs, &json_empty);

	(void)r;
	(void)rest;
	answer_call(x, &d);
}

/* A number of the query as a member; what is not a number is left out. */
static size_t query_number(const struct http_request *r, struct str name, struct json *to)
{
	char room[32];
	struct str text;
	int64_t number;

	if (http_query(r->head.query, name, room, sizeof room, &text) != 1 ||
	    !str_int(text, &number))
		return 0;
	*to = json_of_int(name, number);
	return 1;
}

/* GET /jobs/<id>?since=N&waitMs=M */
static void show_job(struct exchange *x, const struct http_request *r, struct str id)
{
	struct json members[3] = { json_of_str(STR("id"), id) };
	size_t n = 1;

	n += query_number(r, STR("since"), &members[n]);
	n += query_number(r, STR("waitMs"), &members[n]);
	const struct json object = json_of_members(members, n);
	const struct dispatch d = exchange_call(x, CALL_WIRE, &tool_job, &object);
	answer_call(x, &d);
}

static void stop_job(struct exchange *x, const struct http_request *r, struct str id)
{
	struct json members[] = { json_of_str(STR("id"), id) };
	const struct json object = json_of_members(members, ARRAY_LEN(members));
	const struct dispatch d = exchange_call(x, CALL_WIRE, &tool_stop_job, &object);

	(void)r;
	answer_call(x, &d);
}

/* Make a model's call: its observation is in x->out, or its text in `text` if that is not NULL. If
 * the arguments could not be understood *e says why. Returns whether the call succeeded. */
static bool observe(struct exchange *x, const struct model_call *m, struct call_text *text,
		    struct err *e)
{
	const unsigned set = x->front->service->tool_set ? x->front->service->tool_set : TOOL_MODEL;
	const struct tool *t = m->arguments ? tool_for_model(m->name, set, e) : NULL;
	struct dispatch d = exchange_call(x, CALL_MODEL, t, m->arguments);
	struct call_change change = { .id = 0 };
	struct jw w = jw_to(x->out);

	d.change = &change;
	d.session = m->session;
	d.text = text;
	d.sized = text;
	if (!t)
		dispatch_refused(x->front->service, &d, m->name, e);
	observation_begin(&w, m->name);
	if (t && dispatch(x->front->service, &d, &w, e) == 0) {
		observation_end(&w, &change);
		return true;
	}
	if (text)
		observation_fail_text(text->text, e);
	else
		observation_fail(x->out, m->name, e);
	return false;
}

/* How a model's call is to be answered, from the query of its request. */
struct form {
	enum reply_form reply;
	bool text;
};

static bool read_form(struct exchange *x, const struct http_request *r, struct form *ret)
{
	char room[32];
	const char *wrong = NULL;
	struct form f;

	if (!observation_form(exchange_query_word(r, STR("reply"), room), &f.reply))
		wrong = "reply must be ollama, openai, anthropic or gemini";
	const struct str results = exchange_query_word(r, STR("results"), room);
	f.text = str_eq(results, STR("text"));
	if (results.n && !f.text)
		wrong = "results must be text, or not given";
	else if (f.text && f.reply == REPLY_PLAIN)
		wrong = "results=text needs a reply: ollama, openai, anthropic or gemini";
	if (!wrong) {
		*ret = f;
		return true;
	}
	exchange_error(x, 400, NULL, wrong, ERR_INVALID_ARGUMENTS);
	return false;
}

/* The status is always 200: whatever is wrong with a call is for the model to read, even a body
 * that is not JSON. Only a request whose query is wrong is 400. */
static void answer_model(struct exchange *x, const struct http_request *r,
			 const struct model_call *m, struct err *e)
{
	AUTO_BUF wrapped = { .max = 2 * (size_t)LIMIT_ANSWER };
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct call_text t = { .text = &text };
	struct form form;

	if (!read_form(x, r, &form))
		return;
	const bool success = observe(x, m, form.text ? &t : NULL, e);
	if (form.reply == REPLY_PLAIN) {
		exchange_send(x, 200, NULL);
		return;
	}
	if (form.text)
		observation_reply_text(&wrapped, form.reply, m, &t, success);
	else
		observation_reply(&wrapped, form.reply, m, buf_str(x->out), success);
	if (wrapped.failed)
		exchange_error(x, 503, NULL, "Not enough memory for the answer, try again",
			       ERR_TOO_BUSY);
	else
		x->outlet->send(x,
				&(struct http_answer){ 200, HTTP_JSON, NULL, buf_str(&wrapped) });
}

/* POST /tools/<name>: the body is the arguments. */
static void model_tool(struct exchange *x, const struct http_request *r, struct str name)
{
	struct err e;
	const struct model_call m = { .name = name, .arguments = exchange_body(x, r, &e) };

	answer_model(x, r, &m, &e);
}

/* POST /tools: a model's call as its provider writes it. */
static void model_call(struct exchange *x, const struct http_request *r, struct str rest)
{
	struct err e;
	struct model_call m = { .name = STR("") };
	struct native_call native;
	const struct json *body = exchange_body(x, r, &e);

	(void)rest;
	if (body && native_read(body, &native, &e)) {
		if (exchange_session(x, r, &native.session))
			native_answer(x, &native, &e);
		return;
	}
	if (body)
		observation_read_call(body, x->arena, &m, &e);
	if (exchange_session(x, r, &m.session))
		answer_model(x, r, &m, &e);
}

/* GET /tools?format=…&set=…: the definitions for a model's request. */
static void list_tools(struct exchange *x, const struct http_request *r, struct str rest)
{
	const struct service *s = x->front->service;
	char format[32], set[32];
	struct jw w = jw_to(x->out);
	struct schema_offer offer;
	struct err e;

	(void)rest;
	if (schema_choose(exchange_query_word(r, STR("format"), format),
			  exchange_query_word(r, STR("set"), set), s->tool_set, &offer, &e) < 0) {
		exchange_error(x, 400, NULL, e.msg, e.code);
		return;
	}
	offer.times = s->model_times;
	offer.memory = s->mcp.memory;
	if (offer.dialect == SCHEMA_MCP) {
		const unsigned wanted = offer.set;
		offer = s->mcp;
		offer.set = wanted;
	}
	schema_write(&w, NULL, &offer);
	exchange_send(x, 200, NULL);
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
	const struct metrics_now now = {
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

static void openapi(struct exchange *x, const struct http_request *r, struct str rest)
{
	(void)r;
	(void)rest;
	openapi_write(x->front->surface, x->out);
	exchange_send(x, 200, NULL);
}

/* In a path, * is one component and ** is the rest; the handler gets what it stands for. */
static const struct route {
	enum http_method method;
	struct str path;
	void (*answer)(struct exchange *x, const struct http_request *r, struct str rest);
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
	{ HTTP_POST,   STR("/tools"),        model_call },
	{ HTTP_POST,   STR("/tools/**"),     model_tool },
	{ HTTP_GET,    STR("/tools"),        list_tools },
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
	{ HTTP_GET,    STR("/openapi.json"), openapi },
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
