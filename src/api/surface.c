/* SPDX-License-Identifier: MIT */
/* surface: the routes of agent-sandbox, on the tools of this server. */

#include "api/surface.h"

#include <stdio.h>
#include <unistd.h>

#include "api/calls.h"
#include "api/visit.h"
#include "base/io.h"
#include "base/json.h"
#include "base/own.h"
#include "net/http_url.h"

static const struct {
	enum err_code code;
	int status;
	const char *name;
} failures[] = {
	{ ERR_FILE_NOT_FOUND, 404, "NOT_FOUND" },
	{ ERR_NOT_A_DIRECTORY, 404, "NOT_FOUND" },
	{ ERR_PATH_OUTSIDE_WORKSPACE, 403, "PERMISSION_DENIED" },
	{ ERR_SYMLINK_OUTSIDE_WORKSPACE, 403, "PERMISSION_DENIED" },
	{ ERR_PATH_NOT_ALLOWED, 403, "PERMISSION_DENIED" },
	{ ERR_PERMISSION_DENIED, 403, "PERMISSION_DENIED" },
	{ ERR_COMMAND_BLOCKED, 403, "PERMISSION_DENIED" },
	{ ERR_READ_ONLY, 403, "PERMISSION_DENIED" },
	{ ERR_TOO_BUSY, 503, "UNAVAILABLE" },
	{ ERR_DISK_FULL, 500, "INTERNAL" },
	{ ERR_IO_ERROR, 500, "INTERNAL" },
	{ ERR_EXECUTION_ERROR, 500, "INTERNAL" },
};

void visit_refuse(struct visit *v, int status, const char *name, const char *sentence)
{
	struct jw w = jw_to(v->x->out);

	buf_reset(v->x->out, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "code", str_of(name));
	jw_str(&w, "message", str_of(sentence));
	jw_end(&w);
	routes_send(v->x, status, NULL);
}

static void fail(struct visit *v, const struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		if (failures[i].code != e->code)
			continue;
		visit_refuse(v, failures[i].status, failures[i].name, e->msg);
		return;
	}
	visit_refuse(v, 400, "INVALID_ARGUMENT", e->msg);
}

int visit_done(struct visit *v, struct err *e)
{
	jw_end(&v->w);
	if (v->x->out->failed)
		return err_set(e, ERR_EXECUTION_ERROR, "The answer is too large");
	routes_send(v->x, 200, NULL);
	return 0;
}

static int home(struct visit *v, struct err *e)
{
	jw_object(&v->w, NULL);
	jw_str(&v->w, "status", STR("ok"));
	jw_str(&v->w, "message", STR("The sandbox runtime is active."));
	return visit_done(v, e);
}

static int health(struct visit *v, struct err *e)
{
	jw_object(&v->w, NULL);
	jw_str(&v->w, "status", STR("ok"));
	jw_int(&v->w, "uptime_seconds", (io_now_ms() - v->x->service->started_ms) / 1000);
	return visit_done(v, e);
}

/* What is not a secret by its name: whoever runs in the sandbox may ask for it. */
static bool is_public(struct str name)
{
	static const struct str secret[] = { STR("TOKEN"), STR("SECRET"), STR("PASSWORD"),
					     STR("CREDENTIAL"), STR("KEY") };

	for (size_t i = 0; i < ARRAY_LEN(secret); i++)
		if (str_find_nocase(name, secret[i]) >= 0)
			return false;
	return str_starts(name, STR("SANDBOX_"));
}

static int metadata(struct visit *v, struct err *e)
{
	char name[256];
	struct str key, value;

	jw_object(&v->w, NULL);
	jw_object(&v->w, "env");
	for (char **variable = environ; *variable; variable++) {
		if (!str_cut(str_of(*variable), '=', &key, &value) || !is_public(key) ||
		    key.n >= sizeof name)
			continue;
		(void)snprintf(name, sizeof name, "%.*s", STR_FMT(key));
		jw_str(&v->w, name, value);
	}
	jw_end(&v->w);
	return visit_done(v, e);
}

/* A program that cannot be started is an answer, as that of a shell would be. */
static int not_started(struct visit *v, struct err *e)
{
	char text[sizeof e->msg + 64];

	(void)snprintf(text, sizeof text, "Failed to execute command: %s", e->msg);
	buf_reset(v->x->out, SIZE_MAX);
	v->w = jw_to(v->x->out);
	jw_object(&v->w, NULL);
	jw_str(&v->w, "stdout", STR(""));
	jw_str(&v->w, "stderr", str_of(text));
	jw_int(&v->w, "exit_code", 1);
	return visit_done(v, e);
}

static int execute(struct visit *v, struct err *e)
{
	const struct json *object = routes_body(v->x, v->r, e);

	if (!object)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Invalid JSON body");
	/* Its callers are agents, though they come by HTTP: the rules for models hold. */
	v->call.rules = v->x->service->model_call.rules;
	v->call.out = &v->w;
	jw_object(&v->w, NULL);
	if (tool_call(&tool_execute, &v->call, object, e) < 0)
		return e->code == ERR_SPAWN_FAILED ? not_started(v, e) : -1;
	return visit_done(v, e);
}

static const struct route {
	const char *path; /* with a '/' at its end: what begins with it, but for "/" itself */
	enum http_method method;
	const char *name; /* in the log; NULL: it is not worth a line */
	visit_run *run;
} routes[] = {
	{ "/", HTTP_GET, NULL, home },
	{ "/execute", HTTP_POST, "execute", execute },
	{ "/upload", HTTP_POST, "upload", visit_upload },
	{ "/download/", HTTP_GET, "download", visit_download },
	{ "/list/", HTTP_GET, "list", visit_list },
	{ "/exists/", HTTP_GET, "exists", visit_exists },
	{ "/v1/files/", HTTP_GET, "get_file", visit_get_file },
	{ "/v1/files/", HTTP_PUT, "put_file", visit_put_file },
	{ "/v1/files/", HTTP_DELETE, "delete_file", visit_delete_file },
	{ "/v1/health", HTTP_GET, NULL, health },
	{ "/v1/metadata", HTTP_GET, NULL, metadata },
};

static bool fits(const struct route *route, struct str path)
{
	const struct str own = str_of(route->path);

	if (own.n > 1 && own.p[own.n - 1] == '/')
		return str_starts(path, own);
	return str_eq(path, own);
}

static void run(const struct route *route, struct exchange *x, const struct http_request *r)
{
	/* The time of commands is theirs; that of a file is the client's, which the route tells. */
	const struct tool *t = route->run == execute ? &tool_execute : &(struct tool){ .flags = 0 };
	const struct str raw = str_from(r->head.path, str_of(route->path).n);
	struct visit v = { .x = x, .r = r, .w = jw_to(x->out) };
	struct err e = { .code = ERR_NONE };
	char *path = arena_alloc(x->arena, raw.n + 1);
	const ptrdiff_t n = path ? http_path_decode(raw, path) : -1;

	v.call = calls_begin(x, &x->service->call, t, &json_empty);
	v.path = (struct str){ path, n > 0 ? (size_t)n : 0 };
	if (n < 0)
		(void)err_set(&e, ERR_INVALID_PATH, "The path has an escape that is malformed");
	if (n < 0 || route->run(&v, &e) < 0)
		fail(&v, &e);
	if (route->name)
		calls_log(x, str_of(route->name), v.call.session, e.code);
}

/* What can be done with a path, for a client that tried something else, or asks. */
static void send_methods(struct exchange *x, struct str path, bool asked)
{
	static const char *const words[] = { [HTTP_GET] = "GET, HEAD, ",
					     [HTTP_POST] = "POST, ",
					     [HTTP_PUT] = "PUT, ",
					     [HTTP_DELETE] = "DELETE, " };
	char text[80];
	struct buf allow = buf_over(text, sizeof text);

	buf_add(&allow, STR("Allow: "));
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		if (fits(&routes[i], path))
			buf_add(&allow, str_of(words[routes[i].method]));
	buf_add(&allow, (struct str){ "OPTIONS\r\n", sizeof "OPTIONS\r\n" });
	if (asked)
		http_send(x->http, &(struct http_answer){ 204, HTTP_JSON, text, STR("") });
	else
		routes_send_error(x, 405, text, "Method not allowed", ERR_NONE);
}

bool surface_route(struct exchange *x, const struct http_request *r)
{
	const enum http_method method = r->head.method == HTTP_HEAD ? HTTP_GET : r->head.method;
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		if (!fits(&routes[i], r->head.path))
			continue;
		found = true;
		if (routes[i].method != method)
			continue;
		run(&routes[i], x, r);
		return true;
	}
	if (found)
		send_methods(x, r->head.path, method == HTTP_OPTIONS);
	return found;
}
