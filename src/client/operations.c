/* SPDX-License-Identifier: MIT */
/* operations: the functions of sidecar.h that are one request: with one answer, or with the output
 * of a command, which arrives as JSON lines and can be cancelled. */

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "client/client.h"
#include "client/limits.h"
#include "sidecar.h"

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

/* `result` is NULL if the call has failed. */
static struct sidecar_change *change_of(const struct json *result, const struct answer *answer,
					struct sidecar_error *error)
{
	struct sidecar_change *c = result ? result_change(result, answer->change, error) : NULL;

	if (c)
		c->not_kept = answer->not_kept;
	return c;
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
	return change_of(result, &op.answer, error);
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
	return change_of(result, &op.answer, error);
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
	return result ? result_patch(result, op.answer.change, error) : NULL;
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
	const struct json *root = op_parse(&op, false, error);
	return root ? result_health(buf_str(&op.answer.body), root, error) : NULL;
}

static bool is_word(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
	       strlen(text);
}

/* Add a parameter to the query. False if the word has characters that a query cannot have. */
static bool add_word(struct buf *target, const char *name, const char *word)
{
	if (!word || !*word)
		return true;
	buf_addf(target, "%c%s=%.40s", str_index(buf_str(target), '?') < 0 ? '?' : '&', name, word);
	return is_word(word);
}

/* Ask for definitions of tools: at that path, in that format. */
static struct sidecar_text *ask_for_tools(struct sidecar *sidecar, const char *path,
					  const char *format, const char *set,
					  struct sidecar_error *error)
{
	char text[192];
	struct buf target = buf_over(text, sizeof text);
	const struct err e = {
		.code = ERR_INVALID_ARGUMENTS,
		.msg = "format and set must be words: ollama, openai, openai-strict, "
		       "openai-responses, anthropic, gemini, mcp, anthropic-native or "
		       "openai-native; core or full"
	};
	OPERATION op;

	buf_add(&target, str_of(path));
	op_begin(&op, sidecar, text, true);
	if (!add_word(&target, "format", format) || !add_word(&target, "set", set)) {
		client_error(error, &e);
		return NULL;
	}
	buf_addc(&target, '\0');
	op.request.method = "GET";
	return op_send(&op, error) < 0 ? NULL : result_body(&op.answer.body, error);
}

struct sidecar_text *sidecar_tools(struct sidecar *sidecar, const char *format, const char *set,
				   struct sidecar_error *error)
{
	return ask_for_tools(sidecar, "/tools", format, set, error);
}

struct sidecar_text *sidecar_tool_by_name(struct sidecar *sidecar, const char *name,
					  const char *format, struct sidecar_error *error)
{
	char path[64];
	struct err e;

	if (*name && is_word(name) &&
	    (size_t)snprintf(path, sizeof path, "/tools/%s", name) < sizeof path)
		return ask_for_tools(sidecar, path, format, NULL, error);
	(void)err_set(&e, ERR_UNKNOWN_TOOL, "There is no tool \"%.100s\"", name);
	client_error(error, &e);
	return NULL;
}

int sidecar_is_command_blocked(struct sidecar *sidecar, const char *command,
			       struct sidecar_error *error)
{
	struct err e;
	OPERATION op;

	op_begin(&op, sidecar, "/policy", true);
	op_text(&op, "command", str_of(command));
	const struct json *result = op_run(&op, error);
	if (!result)
		return -1;
	if (!json_is_true(result, STR("blocked")))
		return 0;
	(void)err_set(&e, ERR_COMMAND_BLOCKED, "%.*s", STR_FMT(json_text(result, STR("reason"))));
	client_error(error, &e);
	return 1;
}

/* Whether a model's tool only reads. A tool that is not listed here may change something. */
static bool tool_only_reads(struct str name)
{
	return str_is_listed("read_file list_directory search_files find_files job_list job_output",
			     name);
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
	const struct json *root = op_parse(&op, false, error);
	return root ? result_observation(&op.answer.body, root, error) : NULL;
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

	if (sidecar->local && !local_has_routes(sidecar->local))
		rc = err_set(&e, ERR_INVALID_ARGUMENTS, "A local executor has no routes");
	else if (!*method || !client_is_graphic(method) || *target != '/' ||
		 !client_is_graphic(target))
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

/* The public name of a cancel object. */
struct sidecar_cancel {
	struct cancel cancel;
};

struct sidecar_cancel *sidecar_cancel_new(void)
{
	struct sidecar_cancel *c = mem_new(1, sizeof *c);

	if (!c)
		return NULL;
	c->cancel = (struct cancel)CANCEL_INIT;
	/* Made now: several calls may wait on it at the same time. */
	if (cancel_fd(&c->cancel) >= 0)
		return c;
	mem_free(c);
	return NULL;
}

void sidecar_cancel(struct sidecar_cancel *cancel)
{
	cancel_ask(&cancel->cancel);
}

void sidecar_cancel_free(struct sidecar_cancel *cancel)
{
	if (!cancel)
		return;
	cancel_done(&cancel->cancel);
	mem_free(cancel);
}

/* The output of a command on its way to the caller. */
struct stream {
	const struct sidecar_bash_options *options;
	struct buf line; /* the beginning of a line whose end has not arrived */
	struct arena line_memory;
	bool ended; /* the last line has arrived, with … */
	struct sidecar_exit exit;
	char code[40]; /* … a failure; "" if the command ran */
	char message[1024];
};

static void stream_done(struct stream *s)
{
	buf_done(&s->line);
	arena_done(&s->line_memory);
}

static int bad(struct err *e, const char *why)
{
	return err_set(e, ERR_BAD_ANSWER, "The sidecar's stream is not understood: %s", why);
}

static int take_output(const struct stream *s, const struct json *line, struct err *e)
{
	const struct json *data = json_get(line, STR("data"));
	const bool is_stderr = str_eq(json_text(line, STR("stream")), STR("stderr"));

	if (!data || data->type != JSON_STRING)
		return bad(e, "output is not text");
	if (s->options->output && data->string.n &&
	    s->options->output(s->options->arg, is_stderr, data->string.p, data->string.n) != 0)
		return err_set(e, ERR_CANCELLED, "The command was cancelled");
	return 0;
}

static int take_end(struct stream *s, const struct json *line, struct err *e)
{
	const int64_t code = json_int(line, STR("exitCode"), INT64_MIN);

	if (code < -1 || code > 255)
		return bad(e, "there is no exit code");
	s->exit.code = (int)code;
	s->exit.timed_out = json_is_true(line, STR("timedOut"));
	s->exit.stopped = json_is_true(line, STR("stopped"));
	s->exit.change = json_int(line, STR("change"), 0);
	s->exit.not_kept = json_int(line, STR("notKept"), 0);
	s->ended = true;
	return 0;
}

static void take_failure(struct stream *s, const struct json *line)
{
	const struct str code = json_text(line, STR("code"));
	const struct str message = json_text(line, STR("message"));

	(void)snprintf(s->code, sizeof s->code, "%.*s",
		       STR_FMT(code.n ? code : STR("EXECUTION_ERROR")));
	(void)snprintf(s->message, sizeof s->message, "%.*s", STR_FMT(message));
	s->ended = true;
}

static int take_line(struct stream *s, struct str text, struct err *e)
{
	const struct json *line;
	struct err why;

	if (text.n == 0)
		return 0;
	if (s->ended)
		return bad(e, "it goes on after its end");
	arena_reset(&s->line_memory);
	if (json_parse(text, &s->line_memory, &line, &why) < 0)
		return bad(e, why.msg);
	const struct str type = json_text(line, STR("type"));
	if (str_eq(type, STR("delta")))
		return take_output(s, line, e);
	if (str_eq(type, STR("done")))
		return take_end(s, line, e);
	if (str_eq(type, STR("error")))
		take_failure(s, line);
	return 0; /* ignore a type of line that only a newer sidecar knows */
}

static int take_piece(void *arg, struct str piece, struct err *e)
{
	struct stream *s = arg;
	struct str text;

	while (str_cut(piece, '\n', &text, &piece)) {
		if (s->line.n) {
			buf_add(&s->line, text);
			text = buf_str(&s->line);
		}
		if (s->line.failed)
			return bad(e, "a line is too long");
		if (take_line(s, text, e) < 0)
			return -1;
		buf_reset(&s->line, LIMIT_CLIENT_READ);
	}
	buf_add(&s->line, text);
	return s->line.failed ? bad(e, "a line is too long") : 0;
}

static void write_arguments(struct op *op, const char *command,
			    const struct sidecar_bash_options *o)
{
	op_text(op, "command", str_of(command));
	op_text(op, "cwd", str_of(o->cwd));
	if (o->input)
		op_bytes(op, "stdin", "stdinEncoding", (struct str){ o->input, o->input_length });
	if (o->timeout_seconds > 0)
		jw_num(&op->w, "timeoutSeconds", o->timeout_seconds);
	if (!o->env)
		return;
	/* On the wire they are an object. */
	jw_object(&op->w, "env");
	for (const char *const *v = o->env; *v; v++) {
		struct str name, value;
		(void)str_cut(str_of(*v), '=', &name, &value);
		const struct str key = arena_dup(&op->arena, name);
		if (key.p)
			op_text(op, key.p, value);
		else
			op->body.failed = true;
	}
	jw_end(&op->w);
}

static int check_env(const struct sidecar_bash_options *o, struct sidecar_error *error)
{
	struct err e;

	for (const char *const *v = o->env; v && *v; v++) {
		const struct str pair = str_of(*v);
		if (str_index(pair, '=') > 0 && utf8_valid(pair))
			continue;
		(void)err_set(&e, ERR_INVALID_ARGUMENTS,
			      "Each variable must be NAME=value in UTF-8");
		client_error(error, &e);
		return -1;
	}
	return 0;
}

/* The outcome of a stream that was read to its end. */
static int finish(const struct stream *s, struct sidecar_exit *ret, struct sidecar_error *error)
{
	struct err e;

	if (!s->ended) {
		(void)bad(&e, "it has no end");
		client_error(error, &e);
		return -1;
	}
	if (!*s->code) {
		if (ret)
			*ret = s->exit;
		return 0;
	}
	if (error) {
		memcpy(error->code, s->code, sizeof error->code);
		memcpy(error->message, s->message, sizeof error->message);
	}
	return -1;
}

int sidecar_run_bash(struct sidecar *sidecar, const char *command,
		     const struct sidecar_bash_options *options, struct sidecar_exit *ret,
		     struct sidecar_error *error)
{
	static const struct sidecar_bash_options none;
	OPERATION op;
	CLEANUP(stream_done)
	struct stream stream = {
		.options = options ? options : &none,
		.line = { .max = LIMIT_STREAM_LINE },
		.line_memory = { .max = 2 * (size_t)LIMIT_STREAM_LINE },
	};

	op_begin(&op, sidecar, "/bash", false);
	if (check_env(stream.options, error) < 0)
		return -1;
	if (stream.options->cancel)
		op.request.cancel = &stream.options->cancel->cancel;
	op.request.piece = take_piece;
	op.request.arg = &stream;
	write_arguments(&op, command, stream.options);
	struct sidecar_error why;
	const int rc = op_send(&op, &why);
	/* If the end of the command is known, a connection that fails after it does not matter. */
	if (rc < 0 && !stream.ended) {
		if (error)
			*error = why;
		return -1;
	}
	if (rc == 0 && !op.answer.streamed)
		return op_failed(&op, error);
	return finish(&stream, ret, error);
}
