/* SPDX-License-Identifier: MIT */
/* run: a command in the workspace. The wire gets its output as it comes, a model both ends of it,
 * and an agent's runtime, which gives a line instead of a script, all of it. */

#include "tools/run.h"

#include <math.h>
#include <stdio.h>

#include "base/own.h"
#include "exec/jobs.h"
#include "exec/limits.h"
#include "exec/runner.h"
#include "policy/policy.h"
#include "policy/shword.h"
#include "tools/limits.h"
#include "tools/output.h"
#include "tools/watched.h"
#include "workspace/workspace.h"

struct bash_args {
	struct str command, cwd, input;
	int64_t input_encoding;
	double timeout_seconds;
	const struct json *env, *argv;
	bool background;
};

static const struct arg bash_table[] = {
	A_STR(struct bash_args, command, "command", NONBLANK | NO_NUL, "Script for the shell"),
	A_JSON(struct bash_args, argv, "argv", 0, "Instead: a program and its arguments, no shell"),
	A_NUM(struct bash_args, timeout_seconds, "timeoutSeconds", 0, 0, INT64_MAX,
	      "Longest run time"),
	A_STR(struct bash_args, cwd, "cwd", NONBLANK, "Directory to run in; the root if absent"),
	A_JSON(struct bash_args, env, "env", 0, "Variables to add to the environment"),
	A_STR(struct bash_args, input, "stdin", 0, "What it reads as standard input; else nothing"),
	A_CHOICE(struct bash_args, input_encoding, "stdinEncoding", 0, CALL_UTF8, call_encodings,
		 "What stdin is; base64 for bytes that are not text"),
	A_BOOL(struct bash_args, background, "background", false, "Answer at once with a job's id"),
	A_END,
};

static const struct field bash_fields[] = {
	{ "exitCode", "-1 after a timeout, 128+n when signal n ended it", FIELD_INT },
	{ "timedOut", "Its time was up", FIELD_BOOL, FIELD_OPTIONAL },
	{ "stopped", "It was stopped by a person", FIELD_BOOL, FIELD_OPTIONAL },
	F_END,
};

static const struct field background_fields[] = {
	{ "jobId", "The job, for /jobs/<id>", FIELD_STR },
	F_END,
};

static bool is_variable(struct str name, struct str value)
{
	return name.n > 0 && str_index(name, '=') < 0 && str_index(name, '\0') < 0 &&
	       str_index(value, '\0') < 0;
}

static struct str join_variable(struct arena *a, struct str name, struct str value)
{
	char *text = arena_alloc(a, name.n + 1 + value.n);

	if (!text)
		return (struct str){ NULL, 0 };
	memcpy(text, name.p, name.n);
	text[name.n] = '=';
	if (value.n)
		memcpy(text + name.n + 1, value.p, value.n);
	return (struct str){ text, name.n + 1 + value.n };
}

/* Add the variables of {"NAME":"value"} or ["NAME=value"] after those that are there. An item that
 * is not a variable is an error if `strict` is set; otherwise it is ignored. */
static int bind_env(struct call *c, const struct json *env, bool strict, struct proc_request *q,
		    struct err *e)
{
	size_t n = 0;

	if (!env)
		return 0;
	for (const struct json *v = env->first; v; v = v->next)
		n++;
	struct str *list = arena_array(c->arena, q->env_count + n + 1, sizeof *list);
	if (list && q->env_count)
		memcpy(list, q->env, q->env_count * sizeof *list);
	q->env = list;
	for (const struct json *v = env->first; v && list; v = v->next) {
		struct str name = v->name, value = v->type == JSON_STRING ? v->string : STR("");
		const bool pair = env->type == JSON_OBJECT || str_cut(value, '=', &name, &value);
		if (v->type == JSON_STRING && pair && is_variable(name, value))
			list[q->env_count++] = join_variable(c->arena, name, value);
		else if (strict)
			return err_set(
				e, ERR_INVALID_ARGUMENTS,
				"Each item of env must be \"NAME=value\", without NUL bytes");
	}
	return c->arena->failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory for the environment")
				: 0;
}

static int bind_argv(struct call *c, const struct json *argv, struct proc_request *q, struct err *e)
{
	size_t n = 0;

	for (const struct json *v = argv->first; v; v = v->next, n++)
		if (v->type != JSON_STRING || str_index(v->string, '\0') >= 0)
			return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid argv");
	if (n == 0 || argv->type != JSON_ARRAY)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid argv");
	struct str *list = arena_array(c->arena, n, sizeof *list);
	if (!list)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the arguments");
	q->argv = list;
	for (const struct json *v = argv->first; v; v = v->next)
		list[q->argc++] = v->string;
	return 0;
}

static int64_t timeout_of(double seconds)
{
	if (!(seconds > 0))
		return LIMIT_BASH_MS;
	return seconds * 1000 < LIMIT_COMMAND_MS ? (int64_t)ceil(seconds * 1000) : LIMIT_COMMAND_MS;
}

static int open_cwd(struct call *c, struct str requested, struct err *e)
{
	struct path path = { .base = PATH_WORKSPACE }; /* its root */

	if (requested.n && call_path(c, requested, &path, e) < 0)
		return -1;
	const int cwd = ws_open_dir(c->ws, &path, e);
	if (cwd >= 0)
		runner_follow(c->runner, ws_generation(c->ws));
	return cwd;
}

static int check_length(struct str command, struct err *e)
{
	if (command.n <= LIMIT_SCRIPT)
		return 0;
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "The command has %zu bytes, the longest is %d: write it to a file and run "
		       "that",
		       command.n, LIMIT_SCRIPT);
}

/* Start a job and write its id into the result, as a member of that name. */
static int start_job(struct call *c, const struct proc_request *q, const char *name, struct err *e)
{
	uint64_t id;

	struct proc_request watched = *q;
	struct watched *w = watched_new(c, &watched);
	const int done = jobs_start(c->jobs, &watched, &id, e);
	watched_leave(w, c);
	if (done < 0)
		return -1;
	if (c->text)
		call_note(c,
			  "job %llu runs in the background: job_output job_id=\"%llu\" shows its "
			  "output, job_stop ends it",
			  (unsigned long long)id, (unsigned long long)id);
	else
		call_write_job(c, name, id);
	return 0;
}

/* Run a command that was admitted, and note how it ended. */
static int run_admitted(struct call *c, const struct proc_request *q, const struct proc_sink *sink,
			struct proc_result *ret, struct err *e)
{
	struct proc_request watched = *q;
	struct watched *w = watched_new(c, &watched);
	struct proc *left = NULL;

	const int done = proc_run_admitted(c->runner, &watched, sink, c->cancel, &left, ret, e);
	if (left)
		jobs_adopt(c->jobs, q, left, sink, c->cancel, ret);
	watched_leave(w, c);
	if (done < 0)
		return -1;
	ret->stopped = ret->cancelled && cancel_by_person(c->cancel);
	c->end = (struct call_end){ .ran = true,
				    .timed_out = ret->timed_out,
				    .cancelled = ret->cancelled,
				    .exit_code = ret->exit_code,
				    .signal = ret->signal,
				    .cpu_ms = ret->cpu_ms,
				    .peak_memory_bytes = ret->peak_memory_bytes,
				    .survivors = (int64_t)ret->survivor_count };
	return 0;
}

static int run_now(struct call *c, const struct proc_request *q, const struct proc_sink *sink,
		   struct proc_result *ret, struct err *e)
{
	return proc_admit(c->runner, q, e) < 0 ? -1 : run_admitted(c, q, sink, ret, e);
}

int relay_write(void *relay, enum proc_stream which, struct str piece)
{
	struct relay *r = relay;
	struct str part;

	while ((part = utf8_take(&r->texts[which], &piece)).n)
		if (r->stream->emit(r->stream->arg, which == PROC_STDERR, part) < 0)
			return -1;
	return 0;
}

void relay_end(struct relay *r)
{
	for (int which = PROC_STDOUT; which <= PROC_STDERR; which++) {
		const struct str rest = utf8_rest(&r->texts[which]);
		if (rest.n)
			(void)r->stream->emit(r->stream->arg, which == PROC_STDERR, rest);
	}
}

static int bash_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct bash_args *a = args;
	struct relay r = { .stream = c->stream };
	const struct proc_sink sink = { .write = relay_write, .arg = &r };
	struct proc_request q = call_command(c);
	struct proc_result result;

	if (a->command.n == 0 && !a->argv)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid command");
	if (a->command.n && a->argv && a->argv->first)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Give command or argv, not both");
	if (call_may_run(c, e) < 0 || check_length(a->command, e) < 0)
		return -1;
	if ((a->argv && a->command.n == 0 && bind_argv(c, a->argv, &q, e) < 0) ||
	    bind_env(c, a->env && a->env->type == JSON_OBJECT ? a->env : NULL, false, &q, e) < 0 ||
	    call_decode(c, "stdin", a->input, a->input_encoding, &q.input, e) < 0)
		return -1;
	AUTO_FD cwd = open_cwd(c, a->cwd, e);
	if (cwd < 0)
		return -1;
	q.cwd_fd = cwd;
	q.command = a->command;
	q.timeout_ms = timeout_of(a->timeout_seconds);
	if (a->background) {
		/* No client waits for it: only a time that was asked for ends it. */
		q.timeout_ms = a->timeout_seconds > 0 ? timeout_of(a->timeout_seconds) : 0;
		return start_job(c, &q, "jobId", e);
	}
	if (proc_admit(c->runner, &q, e) < 0)
		return -1;
	if (c->stream->begin(c->stream->arg) < 0) {
		runner_leave(c->runner);
		return err_set(e, ERR_EXECUTION_ERROR, "The client has gone");
	}
	if (run_admitted(c, &q, &sink, &result, e) < 0)
		return -1;
	relay_end(&r);
	jw_int(c->out, "exitCode", result.exit_code);
	if (result.timed_out)
		jw_bool(c->out, "timedOut", true);
	if (result.stopped)
		jw_bool(c->out, "stopped", true);
	return 0;
}

const struct tool tool_bash = {
	.name = "bash",
	.about = "Run a command in the workspace.",
	.args = bash_table,
	.args_size = sizeof(struct bash_args),
	.fields = bash_fields,
	.other = background_fields,
	.flags = TOOL_WIRE | TOOL_SLOW | TOOL_STREAM,
	.run = bash_run,
};

struct run_args {
	struct run_order order;
	bool background;
};

static const struct arg run_table[] = {
	A_STR(struct run_args, order.command, "command", EXPECTED | NO_NUL,
	      "Shell command: make test"),
	A_INT_FLAGS(struct run_args, order.timeout_ms, "timeout_ms", RUN_TIME, 0, 1,
		    LIMIT_COMMAND_MS, "Time limit in milliseconds"),
	A_STRINGS(struct run_args, order.argv, "argv", RARE,
		  "Program and arguments, without a shell; command is empty then"),
	A_STR(struct run_args, order.cwd, "cwd", RARE | NONBLANK, "Directory to run in"),
	A_PAIRS(struct run_args, order.env, "env", RARE, "Variables, each NAME=value"),
	A_BOOL_FLAGS(
		struct run_args, background, "background", RARE, false,
		"Return a job_id at once, for servers and long work: see job_output and job_stop"),
	A_END,
};

/* Does one of the variables lead programs elsewhere than their arguments say? */
static bool diverts(const struct json *env)
{
	for (const struct json *v = env ? env->first : NULL; v; v = v->next) {
		struct str name = v->type == JSON_STRING ? v->string : STR("");
		if (policy_diverts(env->type == JSON_OBJECT ? v->name : name))
			return true;
	}
	return false;
}

/* Bind either command or argv, if the rules allow it. */
static int bind_what(struct call *c, const struct run_order *o, struct proc_request *q,
		     struct err *e)
{
	const bool shell = str_trim(o->command).n > 0;
	const bool diverted = o->diverted || diverts(o->env);

	if (call_may_run(c, e) < 0)
		return -1;
	if (!shell && (!o->argv || !o->argv->first))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Invalid arguments for run_command: command is missing (a "
			       "non-empty string)");
	if (shell && o->argv && o->argv->first)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Invalid arguments for run_command: give command or argv, not both");
	if (shell) {
		q->command = o->script.n ? o->script : o->command;
		q->name = o->command;
		if (check_length(q->command, e) < 0)
			return -1;
		return c->rules ? policy_check(c->rules, o->command, diverted, e) : 0;
	}
	if (bind_argv(c, o->argv, q, e) < 0)
		return -1;
	return c->rules ? policy_check_argv(c->rules, q->argv, q->argc, diverted, e) : 0;
}

/* How long the command may run. */
static int bind_time(const struct call *c, const struct run_order *o, struct proc_request *q,
		     struct err *e)
{
	if (o->timeout_ms > c->times.most_ms) {
		(void)err_set(e, ERR_INVALID_ARGUMENTS,
			      "Invalid arguments for run_command: timeout_ms must be an integer "
			      "from 1 to %lld, not %lld.",
			      (long long)c->times.most_ms, (long long)o->timeout_ms);
		return err_advise(e, "What takes longer can be run in the background.");
	}
	q->timeout_ms = o->timeout_ms ? o->timeout_ms : c->times.usual_ms;
	return 0;
}

static int bind_order(struct call *c, const struct run_order *o, struct proc_request *q,
		      struct err *e)
{
	*q = call_command(c);
	q->input_fd = o->input_fd;
	q->one_pipe = c->text;
	return bind_what(c, o, q, e) < 0 || bind_env(c, o->env, true, q, e) < 0
		       ? -1
		       : bind_time(c, o, q, e);
}

int run_order(struct call *c, const struct run_order *o, const struct proc_sink *sink,
	      struct proc_result *ret, struct err *e)
{
	struct proc_request q;

	if (bind_order(c, o, &q, e) < 0)
		return -1;
	AUTO_FD cwd = open_cwd(c, o->cwd, e);
	if (cwd < 0)
		return -1;
	q.cwd_fd = cwd;
	return run_now(c, &q, sink, ret, e);
}

/* Run it in the background: no client waits, so it has as long as it likes. */
static int run_job(struct call *c, const struct run_order *o, struct err *e)
{
	struct proc_request q;

	if (bind_order(c, o, &q, e) < 0)
		return -1;
	AUTO_FD cwd = open_cwd(c, o->cwd, e);
	if (cwd < 0)
		return -1;
	q.cwd_fd = cwd;
	q.timeout_ms = 0;
	return start_job(c, &q, "job_id", e);
}

static int run_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct run_args *a = args;
	CLEANUP(receipt_done) struct receipt receipt = RECEIPT_NONE;
	const struct proc_sink sink = { .write = receipt_write, .arg = &receipt };
	struct proc_result result;

	if (a->background)
		return run_job(c, &a->order, e);
	if (receipt_init(&receipt, c, RECEIPT_ROOM, e) < 0 ||
	    run_order(c, &a->order, &sink, &result, e) < 0)
		return -1;
	return receipt_show(&receipt, c, &result, e);
}

const struct tool tool_run_command = {
	.name = "run_command",
	.title = "Run command",
	.about = "Run a shell command to build, test, use git and so on. To read, search and "
		 "change files, the other tools are better.",
	.args = run_table,
	.args_size = sizeof(struct run_args),
	.fields = receipt_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_SLOW | TOOL_DESTRUCTIVE | TOOL_OPEN_WORLD |
		 TOOL_SCRUB,
	.run = run_run,
};

struct execute_args {
	struct str command;
};

static const struct arg execute_table[] = {
	A_STR(struct execute_args, command, "command", REQUIRED | NONBLANK | NO_NUL,
	      "A program and its arguments, quoted as for a shell"),
	A_END,
};

static const struct field execute_fields[] = {
	{ "stdout", "Its output, up to 3 MiB", FIELD_STR },
	{ "stderr", "Its messages, up to 3 MiB", FIELD_STR },
	{ "exit_code", "-1 after a timeout, 128+n when signal n ended it", FIELD_INT },
	F_END,
};

struct keep {
	struct buf *outputs; /* by enum proc_stream */
	const struct call_progress *progress;
};

static int keep_all(void *arg, enum proc_stream which, struct str piece)
{
	const struct keep *k = arg;
	struct buf *out = k->outputs;

	if (k->progress && k->progress->output)
		k->progress->output(k->progress->arg, which == PROC_STDERR, piece, piece.n);

	/* Once it is full, the rest is dropped: the program is not ended for it. */
	buf_add(&out[which], str_upto(piece, out[which].max - out[which].n));
	return 0;
}

static void outputs_done(struct buf (*outputs)[2])
{
	buf_done(&(*outputs)[PROC_STDOUT]);
	buf_done(&(*outputs)[PROC_STDERR]);
}

static void write_kept(struct jw *w, const char *name, const struct buf *kept)
{
	const struct str all = buf_str(kept);

	jw_str(w, name, all.n < kept->max ? all : str_upto(all, utf8_whole(all)));
}

static int execute_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct execute_args *a = args;
	CLEANUP(outputs_done)
	struct buf outputs[2] = { { .max = LIMIT_EXECUTE_OUTPUT },
				  { .max = LIMIT_EXECUTE_OUTPUT } };
	struct keep keep = { outputs, c->progress };
	const struct proc_sink sink = { .write = keep_all, .arg = &keep };
	struct proc_request q = call_command(c);
	struct proc_result result;
	struct str *words;

	q.timeout_ms = LIMIT_BASH_MS;
	if (call_may_run(c, e) < 0 || shword_split(a->command, c->arena, &words, &q.argc, e) < 0)
		return -1;
	q.argv = words;
	if (c->rules && policy_check_argv(c->rules, q.argv, q.argc, false, e) < 0)
		return -1;
	AUTO_FD cwd = open_cwd(c, STR(""), e);
	if (cwd < 0)
		return -1;
	q.cwd_fd = cwd;
	if (run_now(c, &q, &sink, &result, e) < 0)
		return -1;
	if (outputs[PROC_STDOUT].failed || outputs[PROC_STDERR].failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
	write_kept(c->out, "stdout", &outputs[PROC_STDOUT]);
	write_kept(c->out, "stderr", &outputs[PROC_STDERR]);
	jw_int(c->out, "exit_code", result.exit_code);
	return 0;
}

const struct tool tool_execute = {
	.name = "execute",
	.about = "Run a program without a shell, and wait for it.",
	.args = execute_table,
	.args_size = sizeof(struct execute_args),
	.fields = execute_fields,
	.flags = TOOL_ROUTE | TOOL_SLOW,
	.run = execute_run,
};
