/* SPDX-License-Identifier: MIT */
/* operations: the functions of sidecar.h that are one request and one answer. */

#include "sidecar.h"

#include <string.h>

#include "base/limits.h"
#include "base/own.h"
#include "client/client.h"
#include "client/limits.h"

struct sidecar_file *sidecar_read_file(struct sidecar *sidecar, const char *path,
				       const struct sidecar_lines *lines,
				       struct sidecar_error *error)
{
	OPERATION op;

	op_begin(&op, sidecar, "/read", true);
	op_text(&op, "path", str_of(path));
	op_number(&op, "offset", lines ? lines->offset : 0);
	op_number(&op, "limit", lines ? lines->limit : 0);
	const struct json *result = op_run(&op, error);
	return result ? result_file(&op.answer.body, result, error) : NULL;
}

struct sidecar_change *sidecar_write_file(struct sidecar *sidecar, const char *path,
					  const char *content, size_t length,
					  struct sidecar_error *error)
{
	OPERATION op;

	op_begin(&op, sidecar, "/write", false);
	op_text(&op, "path", str_of(path));
	op_bytes(&op, "content", "encoding", (struct str){ content ? content : "", length });
	const struct json *result = op_run(&op, error);
	return result ? result_change(result, error) : NULL;
}

struct sidecar_change *sidecar_edit_file(struct sidecar *sidecar, const char *path,
					 const char *old_text, const char *new_text,
					 struct sidecar_error *error)
{
	OPERATION op;

	op_begin(&op, sidecar, "/edit", false);
	op_text(&op, "path", str_of(path));
	op_text(&op, "oldText", str_of(old_text));
	op_text(&op, "newText", str_of(new_text));
	const struct json *result = op_run(&op, error);
	return result ? result_change(result, error) : NULL;
}

struct sidecar_patch *sidecar_apply_patch(struct sidecar *sidecar, const char *patch,
					  const struct sidecar_patch_options *options,
					  struct sidecar_error *error)
{
	static const struct sidecar_patch_options none;
	const struct sidecar_patch_options *o = options ? options : &none;
	OPERATION op;

	op_begin(&op, sidecar, "/patch", false);
	op_text(&op, "patch", str_of(patch));
	op_text(&op, "format", str_of(o->format));
	if (o->strip)
		jw_int(&op.w, "strip", o->strip < 0 ? 0 : o->strip);
	if (o->dry_run)
		jw_bool(&op.w, "dryRun", true);
	const struct json *result = op_run(&op, error);
	return result ? result_patch(result, error) : NULL;
}

struct sidecar_text *sidecar_ls(struct sidecar *sidecar, const char *path, int64_t limit,
				struct sidecar_error *error)
{
	const int64_t most = limit > 0 ? limit : LIMIT_LS_ENTRIES;
	OPERATION op;

	op_begin(&op, sidecar, "/ls", true);
	op_text(&op, "path", str_of(path));
	/* The answer does not say whether there are more names: ask for one more than needed. */
	op_number(&op, "limit", most < INT64_MAX ? most + 1 : most);
	const struct json *result = op_run(&op, error);
	return result ? result_listing(&op.answer.body, result, most, error) : NULL;
}

struct sidecar_names *sidecar_find(struct sidecar *sidecar, const char *pattern, const char *path,
				   int64_t limit, struct sidecar_error *error)
{
	OPERATION op;

	op_begin(&op, sidecar, "/find", true);
	op_text(&op, "pattern", str_of(pattern));
	op_text(&op, "path", str_of(path));
	op_number(&op, "limit", limit);
	const struct json *result = op_run(&op, error);
	return result ? result_names(result, error) : NULL;
}

struct sidecar_text *sidecar_grep(struct sidecar *sidecar, const char *pattern,
				  const struct sidecar_grep_options *options,
				  struct sidecar_error *error)
{
	static const struct sidecar_grep_options none;
	const struct sidecar_grep_options *o = options ? options : &none;
	OPERATION op;

	op_begin(&op, sidecar, "/grep", true);
	op_text(&op, "pattern", str_of(pattern));
	op_text(&op, "path", str_of(o->path));
	op_text(&op, "glob", str_of(o->glob));
	if (o->ignore_case)
		jw_bool(&op.w, "ignoreCase", true);
	if (o->literal)
		jw_bool(&op.w, "literal", true);
	op_number(&op, "context", o->context);
	op_number(&op, "limit", o->limit);
	const struct json *result = op_run(&op, error);
	return result ? result_text(&op.answer.body, result, STR("content"), error) : NULL;
}

struct sidecar_health *sidecar_health(struct sidecar *sidecar, struct sidecar_error *error)
{
	OPERATION op;

	op_begin(&op, sidecar, "/health", true);
	op.request.method = "GET";
	if (op_send(&op, error) < 0)
		return NULL;
	const struct json *root = op_parse(&op, error);
	return root ? result_health(buf_str(&op.answer.body), root, error) : NULL;
}

/* Add a parameter to the query. False if the word has characters that a query cannot have. */
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
	char text[128];
	struct buf target = buf_over(text, sizeof text);
	const struct err e = {
		.code = ERR_INVALID_ARGUMENTS,
		.msg = "format and set must be words: ollama, openai, openai-strict, "
		       "openai-responses, anthropic, gemini, mcp, anthropic-native or "
		       "openai-native; core or full"
	};
	OPERATION op;

	buf_add(&target, STR("/tools"));
	op_begin(&op, sidecar, text, true);
	if (!add_word(&target, "format", format) || !add_word(&target, "set", set)) {
		client_error(error, &e);
		return NULL;
	}
	buf_addc(&target, '\0');
	op.request.method = "GET";
	return op_send(&op, error) < 0 ? NULL : result_body(&op.answer.body, error);
}

/* Whether a model's tool only reads. A tool that is not listed here may change something. */
static bool tool_only_reads(struct str name)
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

	op_begin(&op, sidecar, "/tools", tool_only_reads(str_of(name)));
	op_text(&op, "name", str_of(name));
	/* As text, not parsed here: the model reads what is wrong with it. */
	op_text(&op, "arguments", str_of(arguments && *arguments ? arguments : "{}"));
	if (op_send(&op, error) < 0)
		return NULL;
	const struct json *root = op_parse(&op, error);
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
		client_error(error, &e);
		return NULL;
	}
	if (status)
		*status = a.status;
	return result_body(&a.body, error);
}
