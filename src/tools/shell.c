/* SPDX-License-Identifier: MIT */
/* shell: the providers' own tools for commands: a shell that keeps its state (Anthropic's bash),
 * several commands at once (OpenAI's shell), a program (its older local_shell). */

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "exec/jobs.h"
#include "exec/limits.h"
#include "policy/policy.h"
#include "tools/limits.h"
#include "tools/receipt.h"
#include "tools/result.h"
#include "tools/run.h"
#include "tools/shells.h"
#include "workspace/workspace.h"

struct session_args {
	struct str command;
	bool restart;
};

static const struct arg session_table[] = {
	A_STR(struct session_args, command, "command", NO_NUL, "For the shell of the session"),
	A_BOOL(struct session_args, restart, "restart", false, "Begin a new shell"),
	A_END,
};

static void restart(struct call *c)
{
	uint64_t jobs[LIMIT_SHELL_JOBS];
	struct err ended; /* a job that is gone needs no end */
	size_t n = shells_restart(c->shared->shells, c->session, jobs);

	while (n)
		(void)jobs_stop(c->shared->jobs, jobs[--n], &ended);
}

/* Run the command in its turn. */
static int run_turn(struct call *c, const struct shell_turn *t, struct str command,
		    struct receipt *receipt, struct err *e)
{
	AUTO_BUF script = { .max = LIMIT_SCRIPT };

	shells_script(t, command, &script);
	if (script.failed)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The command is too long: write it to a file and run that");
	const struct run_order order = {
		.command = command,
		.script = buf_str(&script),
		.input_fd = &t->fd,
		.diverted = policy_diverts(t->state),
	};
	return run_order(c, &order, receipt, e);
}

/* A process that the shell forked has its command line: show the command, and not our part of it.
 */
static void hide_script(struct proc_result *r, struct str command)
{
	for (size_t i = 0; i < r->survivor_count && i < LIMIT_SURVIVORS; i++) {
		struct survivor *s = &r->survivors[i];
		char *const at = strstr(s->command, SHELLS_SCRIPT);
		const size_t room = sizeof s->command - (size_t)(at ? at - s->command : 0);
		if (at)
			(void)snprintf(at, room, "%.*s", STR_FMT(str_upto(command, room - 1)));
	}
}

/* The result is the receipts of commands. */
static struct receipt *add_receipt(struct call *c, struct result *ret, int64_t bytes, struct err *e)
{
	if (ret->kind != RESULT_RECEIPT)
		ret->receipts = (struct receipt_list){ NULL };
	ret->kind = RESULT_RECEIPT;
	return receipt_new(&ret->receipts.first, c, bytes, e);
}

static int session_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct session_args *a = args;
	struct shell_turn t;

	if (call_may_run(c, e) < 0)
		return -1;
	if (a->restart)
		restart(c);
	if (str_trim(a->command).n == 0 && !a->restart)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The command is missing: give a command, or restart");
	if (str_trim(a->command).n == 0) {
		ret->kind = RESULT_SENTENCE;
		ret->sentence = (struct sentence){ "The shell has been restarted.", STR(""), "" };
		return 0;
	}
	struct receipt *r = add_receipt(c, ret, RECEIPT_ROOM, e);
	if (!r || shells_begin(c->shared->shells, c->session, ws_generation(c->shared->ws),
			       c->cancel, &t, e) < 0)
		return -1;
	const int ran = run_turn(c, &t, a->command, r, e);
	const bool whole = ran == 0 && !r->end.timed_out && !r->end.cancelled;
	const bool kept = shells_end(c->shared->shells, &t, whole, ran == 0 ? r->end.job : 0);
	if (ran < 0)
		return -1;
	hide_script(&r->end, a->command);
	if (!kept && whole)
		r->note = "the shell ended without leaving its state: its directory and variables "
			  "are as before this command";
	else if (!kept)
		r->note = "the shell was ended: its directory and variables are as before this "
			  "command";
	return 0;
}

const struct tool tool_shell_session = {
	.name = "shell_session",
	.about = "Run a command in the shell of the session.",
	.args = session_table,
	.args_size = sizeof(struct session_args),
	.flags = TOOL_NATIVE | TOOL_SLOW,
	.run = session_run,
};

struct shell_args {
	const struct json *commands;
	int64_t timeout_ms, max_output;
};

static const struct arg shell_table[] = {
	A_STRINGS(struct shell_args, commands, "commands", REQUIRED, "In this order"),
	A_INT(struct shell_args, timeout_ms, "timeout_ms", 0, 0, INT64_MAX, "For all of them"),
	A_INT(struct shell_args, max_output, "max_output_length", 0, 0, INT64_MAX,
	      "Most characters of output"),
	A_END,
};

/* The call ended before it began. */
static void not_run(struct receipt *r, const struct cancel *cancel)
{
	r->in_time = cancel_asked(cancel);
	r->not_run = !r->in_time		? "not run: the time was up"
		     : cancel_by_person(cancel) ? "not run: stopped by a person"
						: "not run: the call was cancelled";
}

static int64_t time_of(const struct call *c, int64_t asked_ms)
{
	return asked_ms <= 0		     ? c->times.usual_ms
	       : asked_ms > c->times.most_ms ? c->times.most_ms
					     : asked_ms;
}

static int shell_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct shell_args *a = args;
	const int64_t until_ms = io_now_ms() + time_of(c, a->timeout_ms);
	int64_t room = call_room(c), left = 0;

	if (call_may_run(c, e) < 0)
		return -1;
	/* If one of them is refused, none is run. */
	for (const struct json *v = a->commands->first; v; v = v->next, left++)
		if (c->rules && policy_check(c->rules, v->string, false, e) < 0)
			return -1;
	if (left == 0 || left > LIMIT_SHELL_COMMANDS)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "commands must have 1 to %d items, not %lld", LIMIT_SHELL_COMMANDS,
			       (long long)left);
	if (a->max_output > 0 && a->max_output < room)
		room = a->max_output;
	const int64_t most = room;
	/* Each has its share of what those before it have not used. */
	for (const struct json *v = a->commands->first; v; v = v->next, left--) {
		const struct run_order order = { .command = v->string,
						 .timeout_ms = until_ms - io_now_ms() };
		struct receipt *r = add_receipt(c, ret, room / left, e);
		if (!r)
			return -1;
		r->time_cut = v == a->commands->first && a->timeout_ms > c->times.most_ms;
		if (order.timeout_ms <= 0 || cancel_asked(c->cancel))
			not_run(r, c->cancel);
		else if (run_order(c, &order, r, e) < 0)
			return -1;
		const int64_t wrote = r->ends[PROC_STDOUT].total + r->ends[PROC_STDERR].total;
		room -= wrote < room / left ? wrote : room / left;
	}
	ret->receipts.listed = true;
	ret->receipts.bytes = most;
	return 0;
}

const struct tool tool_shell = {
	.name = "shell",
	.about = "Run shell commands, one after the other.",
	.args = shell_table,
	.args_size = sizeof(struct shell_args),
	.flags = TOOL_NATIVE | TOOL_SLOW,
	.run = shell_run,
};

struct local_args {
	const struct json *command, *env;
	struct str cwd, user, type;
	int64_t timeout_ms;
};

static const struct arg local_table[] = {
	A_STRINGS(struct local_args, command, "command", REQUIRED, "Program and arguments"),
	A_PAIRS(struct local_args, env, "env", 0, "Variables"),
	A_STR(struct local_args, cwd, "working_directory", NONBLANK, "Where it runs"),
	A_INT(struct local_args, timeout_ms, "timeout_ms", 0, 0, INT64_MAX, "Longest run time"),
	A_STR(struct local_args, user, "user", NONBLANK, "Not supported"),
	A_STR(struct local_args, type, "type", 0, "exec"),
	A_END,
};

static int local_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct local_args *a = args;
	const struct run_order order = {
		.argv = a->command, .env = a->env, .cwd = a->cwd, .timeout_ms = a->timeout_ms
	};

	if (a->user.n)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Commands run as the user of this server: leave out user");
	if (!a->command->first)
		return err_set(e, ERR_INVALID_ARGUMENTS, "command must name a program");
	struct receipt *r = add_receipt(c, ret, RECEIPT_ROOM, e);
	return r ? run_order(c, &order, r, e) : -1;
}

const struct tool tool_local_shell = {
	.name = "local_shell",
	.about = "Run a program without a shell.",
	.args = local_table,
	.args_size = sizeof(struct local_args),
	.flags = TOOL_NATIVE | TOOL_SLOW,
	.run = local_run,
};
