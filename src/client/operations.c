/* SPDX-License-Identifier: MIT */
/* operations: the calls of sidecar.h that are one request and one answer. */

#include "sidecar.h"

#include <string.h>

#include "base/limits.h"
#include "base/own.h"
#include "client/operation.h"
#include "client/results.h"

#define OPERATION CLEANUP(operation_done) struct operation

struct sidecar_file *sidecar_read_file(struct sidecar *sidecar, const char *path,
				       const struct sidecar_lines *lines,
				       struct sidecar_error *error)
{
	OPERATION op;

	operation_begin(&op, sidecar, "/read", true);
	operation_text(&op, "path", str_of(path));
	operation_number(&op, "offset", lines ? lines->offset : 0);
	operation_number(&op, "limit", lines ? lines->limit : 0);
	const struct json *result = operation_run(&op, error);
	return result ? result_file(&op.answer.body, result, error) : NULL;
}

struct sidecar_change *sidecar_write_file(struct sidecar *sidecar, const char *path,
					  const char *content, size_t length,
					  struct sidecar_error *error)
{
	OPERATION op;

	operation_begin(&op, sidecar, "/write", false);
	operation_text(&op, "path", str_of(path));
	operation_text(&op, "content", (struct str){ content ? content : "", length });
	const struct json *result = operation_run(&op, error);
	return result ? result_change(result, error) : NULL;
}

struct sidecar_change *sidecar_edit_file(struct sidecar *sidecar, const char *path,
					 const char *old_text, const char *new_text,
					 struct sidecar_error *error)
{
	OPERATION op;

	operation_begin(&op, sidecar, "/edit", false);
	operation_text(&op, "path", str_of(path));
	operation_text(&op, "oldText", str_of(old_text));
	operation_text(&op, "newText", str_of(new_text));
	const struct json *result = operation_run(&op, error);
	return result ? result_change(result, error) : NULL;
}

struct sidecar_text *sidecar_ls(struct sidecar *sidecar, const char *path, int64_t limit,
				struct sidecar_error *error)
{
	const int64_t most = limit > 0 ? limit : LIMIT_LS_ENTRIES;
	OPERATION op;

	operation_begin(&op, sidecar, "/ls", true);
	operation_text(&op, "path", str_of(path));
	/* The answer does not tell whether there are more names; one too many does. */
	operation_number(&op, "limit", most < INT64_MAX ? most + 1 : most);
	const struct json *result = operation_run(&op, error);
	return result ? result_listing(&op.answer.body, result, most, error) : NULL;
}

struct sidecar_names *sidecar_find(struct sidecar *sidecar, const char *pattern, const char *path,
				   int64_t limit, struct sidecar_error *error)
{
	OPERATION op;

	operation_begin(&op, sidecar, "/find", true);
	operation_text(&op, "pattern", str_of(pattern));
	operation_text(&op, "path", str_of(path));
	operation_number(&op, "limit", limit);
	const struct json *result = operation_run(&op, error);
	return result ? result_names(result, error) : NULL;
}

struct sidecar_text *sidecar_grep(struct sidecar *sidecar, const char *pattern,
				  const struct sidecar_grep_options *options,
				  struct sidecar_error *error)
{
	static const struct sidecar_grep_options none;
	const struct sidecar_grep_options *o = options ? options : &none;
	OPERATION op;

	operation_begin(&op, sidecar, "/grep", true);
	operation_text(&op, "pattern", str_of(pattern));
	operation_text(&op, "path", str_of(o->path));
	operation_text(&op, "glob", str_of(o->glob));
	if (o->ignore_case)
		jw_bool(&op.w, "ignoreCase", true);
	if (o->literal)
		jw_bool(&op.w, "literal", true);
	operation_number(&op, "context", o->context);
	operation_number(&op, "limit", o->limit);
	const struct json *result = operation_run(&op, error);
	return result ? result_text(&op.answer.body, result, STR("content"), error) : NULL;
}

/* A GET that is answered with 200; the body is in op->answer. */
static int get(struct operation *op, struct sidecar_error *error)
{
	op->request.method = "GET";
	if (operation_send(op, error) < 0)
		return -1;
	return op->answer.status == 200 ? 0 : operation_refused(op, error);
}

struct sidecar_health *sidecar_health(struct sidecar *sidecar, struct sidecar_error *error)
{
	OPERATION op;

	operation_begin(&op, sidecar, "/health", true);
	if (get(&op, error) < 0)
		return NULL;
	const struct json *root = operation_parse(&op, error);
	return root ? result_health(buf_str(&op.answer.body), root, error) : NULL;
}

/* A word of a query, as it is when it can stand there. */
static bool add_word(struct buf *target, const char *name, const char *word)
{
	if (!word || !*word)
		return true;
	buf_addf(target, "%c%s=%.40s", str_index(buf_str(target), '?') < 0 ? '?' : '&', name, word);
	return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
	       strlen(word);
}

struct sidecar_text *sidecar_tools(struct sidecar *sidecar, const char *format, const char *set,
				   struct sidecar_error *error)
{
	char text[128] = "/tools";
	struct buf target = {
		.p = text, .n = strlen(text), .cap = sizeof text, .max = sizeof text
	};
	const struct err e = {
		.code = ERR_INVALID_ARGUMENTS,
		.msg = "format and set must be words: ollama, openai, openai-strict, "
		       "openai-responses, anthropic, gemini or mcp; core or full"
	};
	OPERATION op;

	operation_begin(&op, sidecar, text, true);
	if (!add_word(&target, "format", format) || !add_word(&target, "set", set)) {
		client_tell(error, &e);
		return NULL;
	}
	buf_addc(&target, '\0');
	return get(&op, error) < 0 ? NULL : result_body(&op.answer.body, error);
}

/* Whether a model's tool only reads. One that is not known here is taken to change something. */
static bool tool_reads(struct str name)
{
	static const char *const names[] = {
		"read_file",  "list_directory", "search_files",
		"find_files", "job_list",	"job_output",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

struct sidecar_observation *sidecar_call_tool(struct sidecar *sidecar, const char *name,
					      const char *arguments, struct sidecar_error *error)
{
	OPERATION op;

	operation_begin(&op, sidecar, "/tools", tool_reads(str_of(name)));
	operation_text(&op, "name", str_of(name));
	/* As text: what is wrong with it is for the model to read. */
	operation_text(&op, "arguments", str_of(arguments && *arguments ? arguments : "{}"));
	if (operation_send(&op, error) < 0)
		return NULL;
	if (op.answer.status != 200) {
		(void)operation_refused(&op, error);
		return NULL;
	}
	const struct json *root = operation_parse(&op, error);
	return root ? result_observation(&op.answer.body, root, error) : NULL;
}

static bool is_graphic(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

struct sidecar_text *sidecar_request(struct sidecar *sidecar, const char *method,
				     const char *target, const char *body, int *status,
				     struct sidecar_error *error)
{
	const struct request q = {
		.method = method,
		.target = target,
		.body = str_of(body),
		.repeatable = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0,
		.cancel_fd = -1,
	};
	CLEANUP(answer_done)
	struct answer a = { .body = { .max = LIMIT_CLIENT_ANSWER + ANSWER_SPARE } };
	struct err e;
	int rc;

	if (sidecar->local)
		rc = err_set(&e, ERR_INVALID_ARGUMENTS, "A local executor has no routes");
	else if (!*method || !is_graphic(method) || *target != '/' || !is_graphic(target))
		rc = err_set(&e, ERR_INVALID_ARGUMENTS,
			     "A request is a method and a target that begins with \"/\"");
	else
		rc = client_call(sidecar, &q, &a, &e);
	if (rc < 0) {
		client_tell(error, &e);
		return NULL;
	}
	if (status)
		*status = a.status;
	return result_body(&a.body, error);
}
