/* SPDX-License-Identifier: MIT */
/* shell: the providers' own tools for commands: a shell that keeps its state (Anthropic's bash),
 * several commands at once (OpenAI's shell), a program (its older local_shell). */

#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/own.h"
#include "exec/jobs.h"
#include "exec/limits.h"
#include "policy/policy.h"
#include "tools/limits.h"
#include "tools/output.h"
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
	size_t n = shells_restart(c->shells, c->session, jobs);

	while (n)
		(void)jobs_stop(c->jobs, jobs[--n], &ended);
}

/* Run the command in its turn. */
static int run_turn(struct call *c, const struct shell_turn *t, struct str command,
		    struct receipt *receipt, struct proc_result *ret, struct err *e)
{
	const struct proc_sink sink = { .write = receipt_write, .arg = receipt };
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
	return receipt_init(receipt, c, RECEIPT_ROOM, e) < 0 ? -1
							     : run_order(c, &order, &sink, ret, e);
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

static int session_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct session_args *a = args;
	CLEANUP(receipt_done) struct receipt receipt = RECEIPT_NONE;
	struct proc_result result = { .exit_code = 0 };
	struct shell_turn t;

	if (call_may_run(c, e) < 0)
		return -1;
	if (a->restart)
		restart(c);
	if (str_trim(a->command).n == 0 && !a->restart)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The command is missing: give a command, or restart");
	if (str_trim(a->command).n == 0) {
		buf_add(c->text->text, STR("The shell has been restarted."));
		return 0;
	}
	if (shells_begin(c->shells, c->session, ws_generation(c->ws), c->cancel, &t, e) < 0)
		return -1;
	const int ran = run_turn(c, &t, a->command, &receipt, &result, e);
	const bool whole = ran == 0 && !result.timed_out && !result.cancelled;
	const bool kept = shells_end(c->shells, &t, whole, ran == 0 ? result.job : 0);
	if (ran == 0)
		hide_script(&result, a->command);
	if (ran < 0 || receipt_show(&receipt, c, &result, e) < 0)
		return -1;
	if (!kept)
		call_note(c, "the shell %s: its directory and variables are as before this command",
			  whole ? "ended without leaving its state" : "was ended");
	return 0;
}

const struct tool tool_shell_session = {
	.name = "shell_session",
	.about = "Run a command in the shell of the session.",
	.args = session_table,
	.args_size = sizeof(struct session_args),
	.flags = TOOL_NATIVE | TOOL_SLOW | TOOL_SCRUB,
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

static void write_exit(struct jw *w, int code)
{
	jw_object(w, "outcome");
	jw_str(w, "type", code < 0 ? STR("timeout") : STR("exit"));
	if (code >= 0)
		jw_int(w, "exit_code", code);
	jw_end(w);
}

/* The call ended before it began. */
static void write_not_run(struct jw *w, const struct cancel *cancel)
{
	const bool ended = cancel_asked(cancel);

	jw_str(w, "stdout", STR(""));
	jw_str(w, "stderr",
	       !ended			  ? STR("not run: the time was up")
	       : cancel_by_person(cancel) ? STR("not run: stopped by a person")
					  : STR("not run: the call was cancelled"));
	write_exit(w, ended ? 1 : -1);
}

/* Run one command and write the members of its output, of which so many bytes are shown. */
static int run_one(struct call *c, const struct run_order *order, int64_t room, struct err *e)
{
	CLEANUP(receipt_done) struct receipt receipt = RECEIPT_NONE;
	const struct proc_sink sink = { .write = receipt_write, .arg = &receipt };
	struct proc_result result;

	if (receipt_init(&receipt, c, room, e) < 0)
		return -1;
	if (run_order(c, order, &sink, &result, e) < 0)
		return -1;
	if (receipt_write_streams(&receipt, c, &result, e) < 0)
		return -1;
	write_exit(c->out, result.timed_out ? -1 : result.exit_code < 0 ? 1 : result.exit_code);
	return 0;
}

static int64_t time_of(const struct call *c, int64_t asked_ms)
{
	return asked_ms <= 0		     ? c->times.usual_ms
	       : asked_ms > c->times.most_ms ? c->times.most_ms
					     : asked_ms;
}

static int shell_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct shell_args *a = args;
	const int64_t until_ms = io_now_ms() + time_of(c, a->timeout_ms);
	int64_t room = call_room(c);
	size_t left = 0;

	if (call_may_run(c, e) < 0)
		return -1;
	/* If one of them is refused, none is run. */
	for (const struct json *v = a->commands->first; v; v = v->next, left++)
		if (c->rules && policy_check(c->rules, v->string, false, e) < 0)
			return -1;
	if (left == 0 || left > LIMIT_SHELL_COMMANDS)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "commands must have 1 to %d items, not %zu", LIMIT_SHELL_COMMANDS,
			       left);
	if (a->max_output > 0 && a->max_output < room)
		room = a->max_output;
	jw_array(c->out, "output");
	for (const struct json *v = a->commands->first; v; v = v->next, left--) {
		const struct run_order order = { .command = v->string,
						 .timeout_ms = until_ms - io_now_ms() };
		const size_t before = jw_length(c->out);
		jw_object(c->out, NULL);
		if (order.timeout_ms <= 0 || cancel_asked(c->cancel))
			write_not_run(c->out, c->cancel);
		/* Each has its share of the room that is left. */
		else if (run_one(c, &order, room / (int64_t)left, e) < 0)
			return -1;
		jw_end(c->out);
		const int64_t used = (int64_t)(jw_length(c->out) - before);
		room = room > used ? room - used : 0;
	}
	jw_end(c->out);
	return 0;
}

const struct tool tool_shell = {
	.name = "shell",
	.about = "Run shell commands, one after the other.",
	.args = shell_table,
	.args_size = sizeof(struct shell_args),
	.flags = TOOL_NATIVE | TOOL_SLOW | TOOL_SCRUB,
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
	(void)ret;
	const struct local_args *a = args;
	const struct run_order order = { .argv = a->command,
					 .env = a->env,
					 .cwd = a->cwd,
					 .timeout_ms = time_of(c, a->timeout_ms) };

	if (a->user.n)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Commands run as the user of this server: leave out user");
	if (!a->command->first)
		return err_set(e, ERR_INVALID_ARGUMENTS, "command must name a program");
	return run_one(c, &order, RECEIPT_ROOM, e);
}

const struct tool tool_local_shell = {
	.name = "local_shell",
	.about = "Run a program without a shell.",
	.args = local_table,
	.args_size = sizeof(struct local_args),
	.flags = TOOL_NATIVE | TOOL_SLOW | TOOL_SCRUB,
	.run = local_run,
};
