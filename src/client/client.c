/* SPDX-License-Identifier: MIT */
/* client: open a sidecar, build a request, send it, and tell success from failure. */

#include "client/client.h"

#include <stdio.h>
#include <string.h>

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

/* Parse the answer, in place (its text is overwritten) or beside its text. */
static const struct json *parse(struct op *op, bool in_place, struct sidecar_error *error)
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

const struct json *op_parse(struct op *op, struct sidecar_error *error)
{
	return parse(op, false, error);
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
	const struct json *root = parse(op, true, error);
	const struct json *result = root ? json_get(root, STR("result")) : NULL;
	if (root && (!result || result->type != JSON_OBJECT)) {
		struct err e;
		(void)err_set(&e, ERR_BAD_ANSWER, "The sidecar's answer has no result");
		client_error(error, &e);
		return NULL;
	}
	return result;
}
