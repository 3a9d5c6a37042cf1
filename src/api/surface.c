/* SPDX-License-Identifier: MIT */
/*
 * surface: the routes by which the Kubernetes project agent-sandbox reaches a runtime.
 *
 *	GET  /				{"status":"ok","message":…}
 *	POST /execute			{"command":…} → {"stdout","stderr","exit_code"}
 *	POST /upload			a form with a "file", whose name is its path
 *	GET  /download/<path>		the bytes of a file
 *	GET  /list/<path>		[{"name","size","type","mod_time"}]
 *	GET  /exists/<path>		{"path","exists"}
 *	GET  /v1/files/<path>		the bytes of a file, or {"path","entries":[…]}
 *	PUT  /v1/files/<path>		write a file, ?mode=0644
 *	DELETE /v1/files/<path>		remove it, ?recursive=true for a tree
 *	GET  /v1/health, /v1/metadata
 *
 * A failure is {"code","message"}: 403 for what is refused, 404 for what is not there, 409 for a
 * directory that is not empty. Off unless the operator turns it on; all other routes are served
 * beside it. Its files are reached, and its commands judged and sandboxed, as by every other route.
 */

#include "api/routes.h"

#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "net/http_parse.h"
#include "net/multipart.h"

#define BYTES "application/octet-stream"

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
	{ ERR_PROTECTED_PATH, 403, "PERMISSION_DENIED" },
	{ ERR_PATH_HIDDEN, 403, "PERMISSION_DENIED" },
	{ ERR_PERMISSION_DENIED, 403, "PERMISSION_DENIED" },
	{ ERR_COMMAND_BLOCKED, 403, "PERMISSION_DENIED" },
	{ ERR_READ_ONLY, 403, "PERMISSION_DENIED" },
	{ ERR_FILE_NOT_READ, 403, "PERMISSION_DENIED" },
	{ ERR_FILE_CHANGED, 409, "CONFLICT" },
	{ ERR_TOO_BUSY, 503, "UNAVAILABLE" },
	{ ERR_DISK_FULL, 500, "INTERNAL" },
	{ ERR_IO_ERROR, 500, "INTERNAL" },
	{ ERR_EXECUTION_ERROR, 500, "INTERNAL" },
};

static void refuse(struct exchange *x, int status, const char *name, const char *sentence)
{
	struct jw w = jw_to(x->out);

	buf_reset(x->out, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "code", str_of(name));
	jw_str(&w, "message", str_of(sentence));
	jw_end(&w);
	exchange_send(x, status, NULL);
}

static void fail(struct exchange *x, const struct err *e)
{
	size_t i = 0;

	while (i < ARRAY_LEN(failures) && failures[i].code != e->code)
		i++;
	if (i < ARRAY_LEN(failures))
		refuse(x, failures[i].status, failures[i].name, e->msg);
	else
		refuse(x, 400, "INVALID_ARGUMENT", e->msg);
}

/* One request for a file, and its arguments. */
struct visit {
	struct exchange *x;
	bool silent; /* it is answered without a body */
	struct json members[3];
	size_t count;
	struct str path;
	struct call_file file;
	struct call_change change;
};

/* Takes the arguments of a call from its request. -1 and *e if they are wrong. */
typedef int take_function(struct visit *v, const struct http_request *r, struct str raw,
			  struct err *e);

static void add(struct visit *v, struct json member)
{
	v->members[v->count++] = member;
}

/* The path of the request, without its escapes. */
static int take_path(struct visit *v, const struct http_request *r, struct str raw, struct err *e)
{
	char *path = arena_alloc(v->x->arena, raw.n + 1);
	const ptrdiff_t n = path ? http_path_decode(raw, path) : -1;

	(void)r;
	if (n < 0)
		return err_set(e, ERR_INVALID_PATH, "The path has an escape that is malformed");
	v->path = (struct str){ path, (size_t)n };
	return 0;
}

/* Make the call. Its result is in x->out, or its file is in v->file. */
static int call(struct visit *v, const struct http_request *r, struct str raw, const struct tool *t,
		take_function *take, struct err *e)
{
	struct exchange *x = v->x;
	struct jw w = jw_to(x->out);
	const int taken = take(v, r, raw, e);

	add(v, json_of_str(STR("path"), v->path));
	const struct json object = json_of_members(v->members, v->count);
	struct dispatch d = exchange_call(x, CALL_SURFACE, t, &object);
	d.file = &v->file;
	d.change = &v->change;
	if (taken < 0) {
		dispatch_refused(x->front->service, &d, str_of(t->name), e);
		return -1;
	}
	(t == &tool_list ? jw_array : jw_object)(&w, NULL);
	if (dispatch(x->front->service, &d, &w, e) < 0) {
		fd_closep(&v->file.fd);
		return -1;
	}
	jw_end(&w);
	return 0;
}

/* Send the file that the call has left, or else what it has written. */
static void send_result(struct visit *v)
{
	char header[CHANGE_HEADERS];

	if (v->silent) {
		exchange_send_empty(v->x, 204, NULL);
	} else if (v->file.fd < 0) {
		exchange_send(v->x, 200, exchange_change_headers(&v->change, header));
	} else {
		http_send_file(v->x->to, BYTES, NULL, v->file.fd, v->file.size);
		fd_closep(&v->file.fd);
	}
}

static void answer(struct exchange *x, const struct http_request *r, struct str raw,
		   const struct tool *t, take_function *take)
{
	struct visit v = { .x = x, .file = { .fd = -1 } };
	struct err e;

	if (call(&v, r, raw, t, take, &e) == 0)
		send_result(&v);
	else if (t == &tool_remove && e.code == ERR_DIRECTORY_NOT_EMPTY)
		refuse(x, 409, "CONFLICT",
		       "The directory is not empty: pass recursive=true to remove it");
	else
		fail(x, &e);
}

void surface_download(struct exchange *x, const struct http_request *r, struct str path)
{
	answer(x, r, path, &tool_download, take_path);
}

void surface_list(struct exchange *x, const struct http_request *r, struct str path)
{
	answer(x, r, path, &tool_list, take_path);
}

void surface_exists(struct exchange *x, const struct http_request *r, struct str path)
{
	answer(x, r, path, &tool_exists, take_path);
}

void surface_get(struct exchange *x, const struct http_request *r, struct str path)
{
	answer(x, r, path, &tool_get_file, take_path);
}

/* The part of a form called "file": its content, and its name if it has one. */
static int take_form(struct exchange *x, const struct http_request *r, struct str *content,
		     struct str *name, struct err *e)
{
	struct multipart_part part = { .name = STR("") };
	struct http_refusal why = { 400, "The form has no part called \"file\"" };
	struct multipart m;
	int rc = multipart_begin(&m, http_header(&r->head, STR("content-type")), r->body, &why);

	while (rc >= 0 && (rc = multipart_next(&m, &part, &why)) > 0)
		if (str_eq(part.name, STR("file")))
			break;
	if (rc <= 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s", why.sentence);
	char *text = arena_alloc(x->arena, part.filename.n + 1);
	if (!text)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the form, try again");
	*name = (struct str){ text, multipart_unescape(part.filename, text) };
	*content = part.content;
	return 0;
}

static int take_upload(struct visit *v, const struct http_request *r, struct str raw, struct err *e)
{
	struct str content;

	(void)raw;
	if (take_form(v->x, r, &content, &v->path, e) < 0)
		return -1;
	if (v->path.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The file in the form must have a name");
	add(v, json_of_str(STR("content"), content));
	return 0;
}

void surface_upload(struct exchange *x, const struct http_request *r, struct str path)
{
	answer(x, r, path, &tool_upload, take_upload);
}

/* "0644": a zero and three octal digits. */
static int take_mode(struct visit *v, const struct http_request *r, struct err *e)
{
	char room[8];
	struct str text = STR("");
	const int given = http_query(r->head.query, STR("mode"), room, sizeof room, &text);
	bool good = given == 1 && text.n == 4 && text.p[0] == '0';
	int64_t mode = 0;

	if (given == 0)
		return 0;
	for (size_t i = 0; good && i < text.n; i++) {
		good = text.p[i] >= '0' && text.p[i] <= '7';
		mode = mode * 8 + (text.p[i] - '0');
	}
	if (!good)
		return err_set(e, ERR_INVALID_ARGUMENTS, "mode must be as in 0644");
	add(v, json_of_int(STR("mode"), mode));
	return 0;
}

static int take_put(struct visit *v, const struct http_request *r, struct str raw, struct err *e)
{
	struct str content = r->body, name;

	v->silent = true;
	if (take_path(v, r, raw, e) < 0 || take_mode(v, r, e) < 0)
		return -1;
	if (multipart_is_form(http_header(&r->head, STR("content-type"))) &&
	    take_form(v->x, r, &content, &name, e) < 0)
		return -1;
	add(v, json_of_str(STR("content"), content));
	return 0;
}

void surface_put(struct exchange *x, const struct http_request *r, struct str path)
{
	answer(x, r, path, &tool_put_file, take_put);
}

static int take_delete(struct visit *v, const struct http_request *r, struct str raw, struct err *e)
{
	char room[8];
	struct str text = STR("");
	const int given = http_query(r->head.query, STR("recursive"), room, sizeof room, &text);
	const bool tree = str_truthy(text);

	v->silent = true;
	if (take_path(v, r, raw, e) < 0)
		return -1;
	if (given < 0 ||
	    (given == 1 && !tree && !str_eq_nocase(text, STR("false")) && !str_eq(text, STR("0"))))
		return err_set(e, ERR_INVALID_ARGUMENTS, "recursive must be true or false");
	add(v, json_of_bool(STR("recursive"), tree));
	return 0;
}

void surface_delete(struct exchange *x, const struct http_request *r, struct str path)
{
	answer(x, r, path, &tool_remove, take_delete);
}

/* A program that cannot be started is an answer, as a shell would give it. */
static void send_not_started(struct exchange *x, const struct err *e)
{
	struct jw w = jw_to(x->out);

	buf_reset(x->out, SIZE_MAX);
	jw_object(&w, NULL);
	jw_str(&w, "stdout", STR(""));
	jw_open_str(&w, "stderr");
	jw_piece(&w, STR("Failed to execute command: "));
	jw_piece(&w, str_of(e->msg));
	jw_close_str(&w);
	jw_int(&w, "exit_code", 1);
	jw_end(&w);
	exchange_send(x, 200, NULL);
}

void surface_execute(struct exchange *x, const struct http_request *r, struct str path)
{
	struct jw w = jw_to(x->out);
	struct call_change change = { .id = 0 };
	char header[CHANGE_HEADERS];
	struct err e;
	const struct json *object = exchange_body(x, r, &e);
	struct dispatch d =
		exchange_call(x, CALL_SURFACE, &tool_execute, object ? object : &json_empty);

	(void)path;
	d.change = &change;
	if (!object) {
		(void)err_set(&e, ERR_INVALID_ARGUMENTS, "Invalid JSON body");
		dispatch_refused(x->front->service, &d, str_of(tool_execute.name), &e);
		fail(x, &e);
		return;
	}
	jw_object(&w, NULL);
	if (dispatch(x->front->service, &d, &w, &e) == 0) {
		jw_end(&w);
		exchange_send(x, 200, exchange_change_headers(&change, header));
	} else if (e.code == ERR_SPAWN_FAILED) {
		send_not_started(x, &e);
	} else {
		fail(x, &e);
	}
}

void surface_home(struct exchange *x, const struct http_request *r, struct str path)
{
	(void)r;
	(void)path;
	buf_add(x->out, STR("{\"status\":\"ok\",\"message\":\"The sandbox runtime is active.\"}"));
	exchange_send(x, 200, NULL);
}

void surface_health(struct exchange *x, const struct http_request *r, struct str path)
{
	(void)r;
	(void)path;
	buf_addf(x->out, "{\"status\":\"ok\",\"uptime_seconds\":%lld}",
		 (long long)(io_now_ms() - x->front->service->started_ms) / 1000);
	exchange_send(x, 200, NULL);
}

/* Whether a variable may be shown: every program in the sandbox may ask, so one whose name says
 * that it is a secret may not. */
static bool is_public(struct str name)
{
	static const struct str secret[] = { STR("TOKEN"), STR("SECRET"), STR("PASSWORD"),
					     STR("CREDENTIAL"), STR("KEY") };

	for (size_t i = 0; i < ARRAY_LEN(secret); i++)
		if (str_find_nocase(name, secret[i]) >= 0)
			return false;
	return str_starts(name, STR("SANDBOX_"));
}

void surface_metadata(struct exchange *x, const struct http_request *r, struct str path)
{
	struct jw w = jw_to(x->out);
	char name[256];
	struct str key, value;

	(void)r;
	(void)path;
	jw_object(&w, NULL);
	jw_object(&w, "env");
	for (char **variable = environ; *variable; variable++) {
		if (!str_cut(str_of(*variable), '=', &key, &value) || !is_public(key) ||
		    key.n >= sizeof name)
			continue;
		(void)snprintf(name, sizeof name, "%.*s", STR_FMT(key));
		jw_str(&w, name, value);
	}
	jw_end(&w);
	jw_end(&w);
	exchange_send(x, 200, NULL);
}
