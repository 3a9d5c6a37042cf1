/* SPDX-License-Identifier: MIT */
/* client: open a sidecar, as settings or the JSON configuration of the host program say; build a
 * request, send it, and tell success from failure. */

#include "client/client.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "client/limits.h"

void client_error(struct sidecar_error *error, const struct err *e)
{
	if (!error)
		return;
	(void)snprintf(error->code, sizeof error->code, "%s", err_name(e->code));
	(void)snprintf(error->message, sizeof error->message, "%s", e->msg);
}

bool client_is_graphic(const char *text)
{
	for (; text && *text; text++)
		if (!isgraph((unsigned char)*text))
			return false;
	return true;
}

static char *copy(const char *text)
{
	const size_t n = strlen(text) + 1;
	char *p = mem_new(n, 1);

	return p ? memcpy(p, text, n) : NULL;
}

static int open_in(struct sidecar *s, const struct sidecar_settings *settings, struct err *e)
{
	if (settings->session && !(s->session = copy(settings->session)))
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the executor");
	if (settings->local && (settings->socket_path || settings->host))
		return err_set(e, ERR_INVALID_CONFIG,
			       "Give a sidecar's address or a local workspace, not both");
	s->progress = settings->progress;
	s->progress_arg = settings->progress_arg;
	s->hints = settings->hints;
	if (settings->local)
		s->local = local_new(settings, e);
	else
		s->remote = remote_new(settings, e);
	return s->local || s->remote ? 0 : -1;
}

struct sidecar *sidecar_open(const struct sidecar_settings *settings, struct sidecar_error *error)
{
	struct sidecar *s = mem_new(1, sizeof *s);
	struct err e = { .code = ERR_TOO_BUSY, .msg = "Not enough memory for the executor" };

	if (s && open_in(s, settings, &e) == 0)
		return s;
	client_error(error, &e);
	sidecar_close(s);
	return NULL;
}

void sidecar_close(struct sidecar *sidecar)
{
	if (!sidecar)
		return;
	remote_free(sidecar->remote);
	local_free(sidecar->local);
	mem_free(sidecar->session);
	mem_free(sidecar);
}

int sidecar_ensure_ready(struct sidecar *sidecar, struct sidecar_error *error)
{
	struct err e;

	if (sidecar->local || remote_ensure_ready(sidecar->remote, &e) == 0)
		return 0;
	client_error(error, &e);
	return -1;
}

const char *sidecar_address(const struct sidecar *sidecar)
{
	return sidecar->local ? local_address(sidecar->local) : remote_address(sidecar->remote);
}

int client_call(struct sidecar *s, const struct request *q, struct answer *ret, struct err *e)
{
	struct request with_progress = *q;

	with_progress.hints = s->hints;
	with_progress.seen = s->progress;
	with_progress.seen_arg = s->progress_arg;
	return s->local ? local_call(s->local, &with_progress, ret, e)
			: remote_call(s->remote, &with_progress, ret, e);
}

void sidecar_free(void *result)
{
	mem_free(result);
}

void op_begin(struct op *op, struct sidecar *s, const char *target, bool repeatable)
{
	*op = (struct op){
		.sidecar = s,
		.request = { .method = "POST", .target = target, .repeatable = repeatable },
		.body = { .max = 2 * (size_t)LIMIT_BODY },
		.answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } },
		.arena = { .max = LIMIT_CLIENT_MEMORY },
	};
	op->w = jw_to(&op->body);
	jw_object(&op->w, NULL);
	if (s->session)
		op_text(op, "sessionId", str_of(s->session));
}

void op_done(struct op *op)
{
	buf_done(&op->body);
	answer_done(&op->answer);
	arena_done(&op->arena);
}

void op_text(struct op *op, const char *name, struct str text)
{
	if (!text.p)
		return;
	if (!op->not_text && !utf8_valid(text))
		op->not_text = name;
	jw_str(&op->w, name, text);
}

void op_bytes(struct op *op, const char *name, const char *encoding, struct str bytes)
{
	if (bytes.n < LIMIT_BODY / 8 && utf8_valid(bytes)) {
		jw_str(&op->w, name, bytes);
		return;
	}
	jw_base64(&op->w, name, bytes);
	jw_str(&op->w, encoding, STR("base64"));
}

void op_number(struct op *op, const char *name, int64_t value)
{
	if (value)
		jw_int(&op->w, name, value);
}

int op_send(struct op *op, struct sidecar_error *error)
{
	struct err e;
	int rc = 0;

	if (jw_is_open(&op->w))
		jw_end(&op->w);
	if (op->not_text)
		rc = err_set(&e, ERR_INVALID_ARGUMENTS, "%s is not UTF-8 text", op->not_text);
	else if (op->body.failed)
		rc = err_set(&e, ERR_FILE_TOO_LARGE, "The arguments are too large to be sent");
	else if (op->request.method[0] == 'P')
		op->request.body = buf_str(&op->body);
	if (rc == 0)
		rc = client_call(op->sidecar, &op->request, &op->answer, &e);
	if (rc < 0) {
		client_error(error, &e);
		return -1;
	}
	return op->answer.status == 200 ? 0 : op_failed(op, error);
}

const struct json *op_parse(struct op *op, bool in_place, struct sidecar_error *error)
{
	struct buf *b = &op->answer.body;
	const struct json *root;
	struct err e, why;

	/* The body becomes the result, which should not be larger than it has to be. */
	if (!buf_fit(b, ANSWER_SPARE))
		(void)err_set(&e, ERR_TOO_BUSY, "Not enough memory for the answer");
	else if ((in_place ? json_parse_over(b->p, b->n, &op->arena, &root, &why)
			   : json_parse(buf_str(b), &op->arena, &root, &why)) < 0)
		(void)err_set(&e, ERR_BAD_ANSWER, "What answered is not a sidecar: %.200s",
			      why.msg);
	else
		return root;
	client_error(error, &e);
	return NULL;
}

/* The code for an answer that names none. */
static enum err_code code_of_status(int status)
{
	switch (status) {
	case 401:
	case 403:
		return ERR_UNAUTHORIZED;
	case 400:
	case 404:
	case 405:
		return ERR_INVALID_ARGUMENTS;
	case 413:
		return ERR_FILE_TOO_LARGE;
	case 408:
	case 503:
		return ERR_TOO_BUSY;
	default:
		return ERR_BAD_ANSWER;
	}
}

int op_failed(struct op *op, struct sidecar_error *error)
{
	const struct json *root = NULL;
	struct err e;

	/* A proxy in between may have answered, in its own words. */
	if (json_parse(buf_str(&op->answer.body), &op->arena, &root, &e) < 0)
		root = NULL;
	const struct str code = json_text(root, STR("code")), why = json_text(root, STR("error"));
	const enum err_code known = err_by_name(code);
	const enum err_code best = known ? known : code_of_status(op->answer.status);
	if (why.n > 0)
		(void)err_set(&e, best, "%.*s", STR_FMT(why));
	else
		(void)err_set(&e, best, "The sidecar answered with status %d", op->answer.status);
	client_error(error, &e);
	/* A code that only a newer sidecar knows is passed on unchanged. */
	if (error && code.n && !known)
		(void)snprintf(error->code, sizeof error->code, "%.*s", STR_FMT(code));
	return -1;
}

const struct json *op_run(struct op *op, struct sidecar_error *error)
{
	if (op_send(op, error) < 0)
		return NULL;
	const struct json *root = op_parse(op, true, error);
	const struct json *result = root ? json_get(root, STR("result")) : NULL;
	if (root && (!result || result->type != JSON_OBJECT)) {
		struct err e;
		(void)err_set(&e, ERR_BAD_ANSWER, "The sidecar's answer has no result");
		client_error(error, &e);
		return NULL;
	}
	return result;
}

/* An object of the configuration and its full name, "plugins.coding.sidecar". */
struct section {
	const struct json *object; /* NULL: it is missing */
	const char *name;
	struct arena *arena; /* where strings are copied to */
};

/* Say that a member must be something and what it is instead; `is` NULL: it is missing. */
static int mistake(struct err *e, struct section s, const char *member, const char *must,
		   const struct json *is)
{
	if (is && is->type == JSON_STRING)
		return err_set(e, ERR_INVALID_CONFIG, "%s%s%s must be %s, not \"%.*s\"", s.name,
			       *s.name && *member ? "." : "", member, must,
			       STR_FMT(str_upto(is->string, 100)));
	return err_set(e, ERR_INVALID_CONFIG, "%s%s%s must be %s%s%s", s.name,
		       *s.name && *member ? "." : "", member, must,
		       is ? ", not " : "; it is missing", is ? json_type_name(is) : "");
}

/* The member; NULL if it is missing or null. */
static const struct json *member(struct section s, const char *name)
{
	const struct json *v = json_get(s.object, str_of(name));

	return v && v->type != JSON_NULL ? v : NULL;
}

/* Get a member that is an object; ret->object is NULL if it is missing. */
static int get_section(struct section in, const char *member_name, const char *full,
		       struct section *ret, struct err *e)
{
	const struct json *v = member(in, member_name);

	if (v && v->type != JSON_OBJECT)
		return mistake(e, in, member_name, "an object", v);
	*ret = (struct section){ v, full, in.arena };
	return 0;
}

static int get_text(struct section s, const char *name, const char **ret, struct err *e)
{
	const struct json *v = member(s, name);

	if (!v)
		return 0;
	if (v->type != JSON_STRING || v->string.n == 0 || memchr(v->string.p, '\0', v->string.n))
		return mistake(e, s, name, "a string that is not empty", v);
	*ret = arena_dup(s.arena, v->string).p;
	return *ret ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory for the configuration");
}

static int get_number(struct section s, const char *name, int64_t least, int64_t most, int64_t *ret,
		      struct err *e)
{
	const struct json *v = member(s, name);

	if (!v)
		return 0;
	if (v->type != JSON_NUMBER)
		return mistake(e, s, name, "a number", v);
	if (!v->whole || v->integer < least || v->integer > most)
		return err_set(e, ERR_INVALID_CONFIG,
			       "%s.%s must be a whole number from %lld to %lld, not %.15g", s.name,
			       name, (long long)least, (long long)most, v->number);
	*ret = v->integer;
	return 0;
}

static int get_switch(struct section s, const char *name, bool *ret, struct err *e)
{
	const struct json *v = member(s, name);

	if (!v)
		return 0;
	if (v->type != JSON_BOOL)
		return mistake(e, s, name, "true or false", v);
	*ret = v->boolean;
	return 0;
}

/* Refuse unknown members: they are probably misspelt. `names` are separated by spaces. */
static int check_names(struct section s, const char *names, struct err *e)
{
	for (const struct json *v = s.object ? s.object->first : NULL; v; v = v->next) {
		if (!str_is_listed(names, v->name))
			return err_set(e, ERR_INVALID_CONFIG,
				       "%s has no member \"%.*s\"; it may have: %s", s.name,
				       STR_FMT(str_upto(v->name, 100)), names);
	}
	return 0;
}

static int read_tcp(struct section sidecar, struct sidecar_settings *ret, struct err *e)
{
	struct section tcp = { 0 };
	int64_t port = 0;

	if (get_section(sidecar, "tcp", "plugins.coding.sidecar.tcp", &tcp, e) < 0 ||
	    check_names(tcp, "host port", e) < 0 || get_text(tcp, "host", &ret->host, e) < 0 ||
	    get_number(tcp, "port", 1, 65535, &port, e) < 0)
		return -1;
	ret->port = (int)port;
	if (tcp.object && !ret->host)
		return mistake(e, tcp, "host", "a name or an address", NULL);
	if (tcp.object && !port)
		return mistake(e, tcp, "port", "a number", NULL);
	if (tcp.object && ret->socket_path)
		return err_set(e, ERR_INVALID_CONFIG, "%s must have socketPath or tcp, not both",
			       sidecar.name);
	if (!tcp.object && !ret->socket_path)
		return err_set(e, ERR_INVALID_CONFIG,
			       "%s must have socketPath or tcp; it has neither", sidecar.name);
	return 0;
}

static int read_auth(struct section sidecar, struct sidecar_settings *ret, struct err *e)
{
	struct section auth = { 0 };
	bool required = false;

	if (get_section(sidecar, "auth", "plugins.coding.sidecar.auth", &auth, e) < 0 ||
	    check_names(auth, "token required", e) < 0 ||
	    get_text(auth, "token", &ret->token, e) < 0 ||
	    get_switch(auth, "required", &required, e) < 0)
		return -1;
	if (required && !ret->token)
		return err_set(e, ERR_INVALID_CONFIG, "%s.required is true and %s.token is missing",
			       auth.name, auth.name);
	return 0;
}

static int read_sidecar(struct section coding, struct sidecar_settings *ret, struct err *e)
{
	struct section s = { 0 };

	if (get_section(coding, "sidecar", "plugins.coding.sidecar", &s, e) < 0)
		return -1;
	if (!s.object)
		return mistake(e, coding, "sidecar", "an object when the mode is \"sidecar\"",
			       NULL);
	if (check_names(s, "socketPath tcp auth waitForReadyMs timeoutMs session", e) < 0 ||
	    get_text(s, "socketPath", &ret->socket_path, e) < 0 || read_tcp(s, ret, e) < 0 ||
	    read_auth(s, ret, e) < 0 ||
	    get_number(s, "waitForReadyMs", 1, LIMIT_READY_MOST_MS, &ret->wait_for_ready_ms, e) <
		    0 ||
	    get_number(s, "timeoutMs", 0, INT64_MAX, &ret->timeout_ms, e) < 0)
		return -1;
	return get_text(s, "session", &ret->session, e);
}

static int read_local(struct section coding, struct sidecar_options *ret, struct err *e)
{
	struct section s = { 0 };

	if (get_section(coding, "local", "plugins.coding.local", &s, e) < 0)
		return -1;
	if (check_names(s, "workspaceRoot allowOutsideWorkspaceRoot", e) < 0 ||
	    get_text(s, "workspaceRoot", &ret->workspace_root, e) < 0 ||
	    get_switch(s, "allowOutsideWorkspaceRoot", &ret->allow_outside, e) < 0)
		return -1;
	if (!ret->workspace_root || *ret->workspace_root != '/')
		return mistake(e, s, "workspaceRoot", "an absolute path",
			       member(s, "workspaceRoot"));
	return 0;
}

static int read_mode(struct section coding, bool *local, struct err *e)
{
	const struct json *v = member(coding, "mode");

	*local = v && v->type == JSON_STRING && str_eq(v->string, STR("local"));
	if (*local || (v && v->type == JSON_STRING && str_eq(v->string, STR("sidecar"))))
		return 0;
	return mistake(e, coding, "mode", "\"sidecar\" or \"local\"", v);
}

/* Read the settings; their strings are in the arena. */
static int read_config(struct str text, struct arena *a, struct sidecar_settings *ret,
		       struct sidecar_options *options, struct err *e)
{
	struct section root = { .name = "", .arena = a }, plugins = { 0 }, coding = { 0 };
	struct err why;
	bool enabled = true, local;

	if (json_parse(text, a, &root.object, &why) < 0)
		return err_set(e, ERR_INVALID_CONFIG, "The configuration is not JSON: %.500s",
			       why.msg);
	if (root.object->type != JSON_OBJECT)
		return mistake(e, root, "The configuration", "an object", root.object);
	if (get_section(root, "plugins", "plugins", &plugins, e) < 0 ||
	    get_section(plugins, "coding", "plugins.coding", &coding, e) < 0)
		return -1;
	if (!coding.object)
		return mistake(e, coding, "", "an object", NULL);
	if (check_names(coding, "enabled mode sidecar local", e) < 0 ||
	    get_switch(coding, "enabled", &enabled, e) < 0)
		return -1;
	if (!enabled)
		return err_set(e, ERR_DISABLED, "plugins.coding.enabled is false");
	if (read_mode(coding, &local, e) < 0)
		return -1;
	if (!local)
		return read_sidecar(coding, ret, e);
	ret->local = options;
	return read_local(coding, options, e);
}

struct sidecar *sidecar_open_json(const char *json, struct sidecar_error *error)
{
	AUTO_ARENA arena = { .max = LIMIT_CONFIG_MEMORY };
	struct sidecar_options options = { 0 };
	struct sidecar_settings settings = { 0 };
	struct err e;

	if (read_config(str_of(json), &arena, &settings, &options, &e) == 0)
		return sidecar_open(&settings, error);
	client_error(error, &e);
	return NULL;
}
