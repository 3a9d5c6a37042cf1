/* SPDX-License-Identifier: MIT */
/* bash: run a command, pass on its output, which arrives as JSON lines, and cancel it. */

#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/own.h"
#include "base/utf8.h"
#include "client/client.h"
#include "client/limits.h"

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
	const struct json *code = json_get(line, STR("exitCode"));
	const struct json *timed_out = json_get(line, STR("timedOut"));

	if (!code || code->type != JSON_NUMBER || !code->whole || code->integer < -1 ||
	    code->integer > 255)
		return bad(e, "there is no exit code");
	s->exit.code = (int)code->integer;
	s->exit.timed_out = timed_out && timed_out->type == JSON_BOOL && timed_out->boolean;
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
