/* SPDX-License-Identifier: MIT */
/* operation: build the request, send it, and tell success from failure. */

#include "client/operation.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

void operation_begin(struct operation *op, struct sidecar *s, const char *target, bool repeatable)
{
	*op = (struct operation){
		.sidecar = s,
		.request = { .method = "POST",
			     .target = target,
			     .repeatable = repeatable,
			     .cancel_fd = -1 },
		.body = { .max = 2 * (size_t)LIMIT_BODY },
		.answer = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } },
		.arena = { .max = LIMIT_CLIENT_MEMORY },
	};
	op->w.out = &op->body;
	jw_object(&op->w, NULL);
	if (s->session)
		operation_text(op, "sessionId", str_of(s->session));
}

void operation_done(struct operation *op)
{
	buf_done(&op->body);
	answer_done(&op->answer);
	arena_done(&op->arena);
}

static void check_text(struct operation *op, const char *name, struct str text)
{
	if (!op->not_text && !utf8_valid(text))
		op->not_text = name;
}

void operation_text(struct operation *op, const char *name, struct str text)
{
	if (!text.p)
		return;
	check_text(op, name, text);
	jw_str(&op->w, name, text);
}

void operation_number(struct operation *op, const char *name, int64_t value)
{
	if (value)
		jw_int(&op->w, name, value);
}

int operation_send(struct operation *op, struct sidecar_error *error)
{
	struct err e;
	int rc = 0;

	if (op->w.depth)
		jw_end(&op->w);
	if (op->not_text)
		rc = err_set(&e, ERR_INVALID_ARGUMENTS, "%s is not UTF-8 text", op->not_text);
	else if (op->body.failed)
		rc = err_set(&e, ERR_FILE_TOO_LARGE, "The arguments are too large to be sent");
	else if (op->request.method[0] == 'P')
		op->request.body = buf_str(&op->body);
	if (rc == 0)
		rc = client_call(op->sidecar, &op->request, &op->answer, &e);
	if (rc < 0)
		client_tell(error, &e);
	return rc;
}

/* The answer as JSON, over its own text or not. */
static const struct json *parse(struct operation *op, bool over, struct sidecar_error *error)
{
	struct buf *b = &op->answer.body;
	const struct json *root;
	struct err e, why;

	/* For the result, which must not be larger than it has to be. */
	if (!buf_fit(b, ANSWER_SPARE))
		(void)err_set(&e, ERR_TOO_BUSY, "Not enough memory for the answer");
	else if ((over ? json_parse_over(b->p, b->n, &op->arena, &root, &why)
		       : json_parse(buf_str(b), &op->arena, &root, &why)) < 0)
		(void)err_set(&e, ERR_BAD_ANSWER, "What answered is no sidecar: %.200s", why.msg);
	else
		return root;
	client_tell(error, &e);
	return NULL;
}

const struct json *operation_parse(struct operation *op, struct sidecar_error *error)
{
	return parse(op, false, error);
}

/* The code when the answer has none: those of the request itself. */
static enum err_code code_of(int status)
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

int operation_refused(struct operation *op, struct sidecar_error *error)
{
	const struct json *root = NULL;
	struct err e;

	/* Whatever stands between may answer without a sidecar's words. */
	if (json_parse(buf_str(&op->answer.body), &op->arena, &root, &e) < 0)
		root = NULL;
	const struct str code = json_text(root, STR("code")), why = json_text(root, STR("error"));
	const enum err_code known = err_by_name(code);
	const enum err_code best = known ? known : code_of(op->answer.status);
	if (why.n > 0)
		(void)err_set(&e, best, "%.*s", STR_FMT(why));
	else
		(void)err_set(&e, best, "The sidecar answered with status %d", op->answer.status);
	client_tell(error, &e);
	/* A code that only a newer sidecar knows is passed on as it is. */
	if (error && code.n && !known)
		(void)snprintf(error->code, sizeof error->code, "%.*s", STR_FMT(code));
	return -1;
}

const struct json *operation_run(struct operation *op, struct sidecar_error *error)
{
	if (operation_send(op, error) < 0)
		return NULL;
	if (op->answer.status != 200) {
		(void)operation_refused(op, error);
		return NULL;
	}
	const struct json *root = parse(op, true, error);
	const struct json *result = root ? json_get(root, STR("result")) : NULL;
	if (root && (!result || result->type != JSON_OBJECT)) {
		struct err e;
		(void)err_set(&e, ERR_BAD_ANSWER, "The sidecar's answer has no result");
		client_tell(error, &e);
		return NULL;
	}
	return result;
}
