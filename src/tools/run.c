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
#include "policy/shlex.h"
#include "tools/limits.h"
#include "tools/receipt.h"
#include "tools/result.h"
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
	{ "timeoutSeconds", "The time it had, if the server allows no more", FIELD_INT,
	  FIELD_OPTIONAL },
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

/* Not longer than the operator allows. */
static int64_t bounded(const struct call *c, int64_t ms)
{
	return ms < c->times.most_ms ? ms : c->times.most_ms;
}

static int open_cwd(struct call *c, struct str requested, struct err *e)
{
	struct path path = { .base = PATH_WORKSPACE }; /* its root */

	if (requested.n && call_path(c, requested, &path, e) < 0)
		return -1;
	const int cwd = ws_open_dir(c->shared->ws, &path, e);
	if (cwd >= 0)
		runner_follow(c->shared->runner, ws_generation(c->shared->ws));
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

static int start_job(struct call *c, const struct proc_request *q, struct result *ret,
		     struct err *e)
{
	struct proc_request watched = *q;
	struct watched *w = watched_new(c, &watched);
	const int done = jobs_start(c->shared->jobs, &watched, &ret->started, e);

	watched_leave(w, c);
	if (done < 0)
		return -1;
	ret->kind = RESULT_STARTED;
	return 0;
}

/* Run a command that was admitted, and note how it ended. */
static int run_admitted(struct call *c, const struct proc_request *q, const struct proc_sink *sink,
			struct proc_result *ret, struct err *e)
{
	struct proc_request watched = *q;
	struct watched *w = watched_new(c, &watched);
	struct proc *left = NULL;

	const int done =
		proc_run_admitted(c->shared->runner, &watched, sink, c->cancel, &left, ret, e);
	if (left)
		jobs_adopt(c->shared->jobs, q, left, sink, c->cancel, ret);
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
	return proc_admit(c->shared->runner, q, e) < 0 ? -1 : run_admitted(c, q, sink, ret, e);
}

/* Run a command whose output is passed on as it comes. */
static int stream(struct call *c, const struct proc_request *q, struct sink *sink,
		  struct result *ret, struct err *e)
{
	const struct proc_sink to = { .write = sink_write, .arg = sink };
	struct proc_result end;

	if (proc_admit(c->shared->runner, q, e) < 0)
		return -1;
	if (sink_begin(sink) < 0) {
		runner_leave(c->shared->runner);
		return err_set(e, ERR_EXECUTION_ERROR, "The client has gone");
	}
	ret->kind = RESULT_EXIT;
	ret->exit = (struct exit_result){ 0 };
	const int done = run_admitted(c, q, &to, &end, e);
	ret->exit.streamed = sink->streams[PROC_STDOUT].bytes + sink->streams[PROC_STDERR].bytes;
	if (done < 0 || sink_end(sink, e) < 0)
		return -1;
	ret->exit.exit_code = end.exit_code;
	ret->exit.timed_out = end.timed_out;
	ret->exit.stopped = end.stopped;
	return 0;
}

static int bash_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct bash_args *a = args;
	CLEANUP(sink_done) struct sink sink;
	struct proc_request q = call_command(c);

	sink_init(&sink, c, SINK_CHARACTERS, NULL);
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
	const int64_t asked_ms = timeout_of(a->timeout_seconds);
	if (a->background) {
		/* No client waits for it: only a time that was asked for ends it. */
		q.timeout_ms = a->timeout_seconds > 0 ? asked_ms : 0;
		return start_job(c, &q, ret, e);
	}
	q.timeout_ms = bounded(c, asked_ms);
	if (stream(c, &q, &sink, ret, e) < 0)
		return -1;
	ret->exit.cut_ms = q.timeout_ms < asked_ms ? q.timeout_ms : 0;
	return 0;
}

const struct tool tool_bash = {
	.name = "bash",
	.about = "Run a command in the workspace.",
	.args = bash_table,
	.args_size = sizeof(struct bash_args),
	.fields = bash_fields,
	.other = { background_fields },
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
	A_INT_FLAGS(struct run_args, order.timeout_ms, "timeout_ms", RUN_TIME, 0, 1, INT64_MAX,
		    "Time limit in milliseconds"),
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

/* What is to be run, and where: the descriptor of its directory, which the caller closes. */
static int bind_order(struct call *c, const struct run_order *o, struct proc_request *q,
		      struct err *e)
{
	*q = call_command(c);
	q->input_fd = o->input_fd;
	q->one_pipe = c->for_reader;
	if (bind_what(c, o, q, e) < 0 || bind_env(c, o->env, true, q, e) < 0)
		return -1;
	q->timeout_ms = bounded(c, o->timeout_ms ? o->timeout_ms : c->times.usual_ms);
	q->cwd_fd = open_cwd(c, o->cwd, e);
	return q->cwd_fd;
}

int run_order(struct call *c, const struct run_order *o, struct receipt *receipt, struct err *e)
{
	const struct proc_sink to = { .write = sink_write, .arg = &receipt->sink };
	struct proc_request q;
	AUTO_FD cwd = bind_order(c, o, &q, e);

	if (cwd < 0 || run_now(c, &q, &to, &receipt->end, e) < 0)
		return -1;
	receipt->denied = c->denied;
	receipt->time_cut |= o->timeout_ms > c->times.most_ms;
	return sink_end(&receipt->sink, e);
}

/* Run it in the background: no client waits, so it has as long as it likes. */
static int run_job(struct call *c, const struct run_order *o, struct result *ret, struct err *e)
{
	struct proc_request q;
	AUTO_FD cwd = bind_order(c, o, &q, e);

	q.timeout_ms = 0;
	return cwd < 0 ? -1 : start_job(c, &q, ret, e);
}

static int run_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct run_args *a = args;

	if (a->background)
		return run_job(c, &a->order, ret, e);
	ret->kind = RESULT_RECEIPT;
	ret->receipts = (struct receipt_list){ NULL };
	struct receipt *receipt = receipt_new(&ret->receipts.first, c, RECEIPT_ROOM, e);
	return receipt ? run_order(c, &a->order, receipt, e) : -1;
}

const struct tool tool_run_command = {
	.name = "run_command",
	.title = "Run command",
	.about = "Run a shell command to build, test, use git and so on: each in a new shell in "
		 "`cwd`, without input; in a sandbox it can write the workspace and a private "
		 "/tmp. To read, search and change files, the other tools are better.",
	.args = run_table,
	.args_size = sizeof(struct run_args),
	.fields = receipt_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_SLOW | TOOL_DESTRUCTIVE | TOOL_OPEN_WORLD,
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

/* Once it is full, the rest is dropped: the program is not ended for it. */
static int keep_all(void *arg, bool is_stderr, struct str piece, size_t bytes)
{
	struct buf *to = &((struct buf *)arg)[is_stderr];

	(void)bytes;
	buf_add(to, str_upto(piece, to->max - to->n));
	return 0;
}

static void outputs_done(struct buf (*outputs)[2])
{
	buf_done(&(*outputs)[PROC_STDOUT]);
	buf_done(&(*outputs)[PROC_STDERR]);
}

/* In the arena: in whole characters, if the rest was dropped. */
static struct str kept_text(const struct call *c, const struct buf *kept)
{
	const struct str all = buf_str(kept);

	return arena_dup(c->arena, all.n < kept->max ? all : str_upto(all, utf8_whole(all)));
}

static int execute_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct execute_args *a = args;
	CLEANUP(outputs_done)
	struct buf outputs[2] = { { .max = LIMIT_EXECUTE_OUTPUT },
				  { .max = LIMIT_EXECUTE_OUTPUT } };
	struct sink_taker keep = { .take = keep_all, .arg = outputs };
	CLEANUP(sink_done) struct sink sink;
	const struct proc_sink to = { .write = sink_write, .arg = &sink };
	struct proc_request q = call_command(c);
	struct proc_result end;
	struct str *words;

	sink_init(&sink, c, SINK_CHARACTERS, &keep);
	q.timeout_ms = bounded(c, LIMIT_BASH_MS);
	if (call_may_run(c, e) < 0 || shword_split(a->command, c->arena, &words, &q.argc, e) < 0)
		return -1;
	q.argv = words;
	if (c->rules && policy_check_argv(c->rules, q.argv, q.argc, false, e) < 0)
		return -1;
	AUTO_FD cwd = open_cwd(c, STR(""), e);
	if (cwd < 0)
		return -1;
	q.cwd_fd = cwd;
	if (run_now(c, &q, &to, &end, e) < 0 || sink_end(&sink, e) < 0)
		return -1;
	ret->kind = RESULT_OUTPUTS;
	ret->outputs = (struct outputs){
		.text = { kept_text(c, &outputs[PROC_STDOUT]),
			  kept_text(c, &outputs[PROC_STDERR]) },
		.exit_code = end.exit_code,
	};
	if (outputs[PROC_STDOUT].failed || outputs[PROC_STDERR].failed || c->arena->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
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
