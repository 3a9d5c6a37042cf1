/* SPDX-License-Identifier: MIT */
/* execute: a program and its arguments from one line of text, no shell; all of its output. */

#include <sys/stat.h>

#include "base/buf.h"
#include "base/limits.h"
#include "policy/policy.h"
#include "exec/proc.h"
#include "policy/words.h"
#include "tools/tool.h"
#include "workspace/workspace.h"

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

static int keep(void *arg, enum proc_stream which, struct str piece)
{
	struct buf *out = arg;

	/* Once it is full the rest goes by: the program is not ended for it. */
	buf_add(&out[which], str_upto(piece, out[which].max - out[which].n));
	return 0;
}

static void outputs_done(struct buf (*outputs)[2])
{
	buf_done(&(*outputs)[PROC_STDOUT]);
	buf_done(&(*outputs)[PROC_STDERR]);
}

static int execute_run(struct call *c, const void *args, struct err *e)
{
	const struct execute_args *a = args;
	CLEANUP(outputs_done)
	struct buf outputs[2] = { { .max = LIMIT_EXECUTE_OUTPUT },
				  { .max = LIMIT_EXECUTE_OUTPUT } };
	const struct proc_sink sink = { .write = keep, .arg = outputs };
	struct proc_request q = call_command(c);
	const struct path root = { .base = PATH_WORKSPACE };
	struct proc_result result;
	struct str *words;

	q.timeout_ms = LIMIT_BASH_MS;
	if (call_may_run(c, e) < 0 || words_split(a->command, c->arena, &words, &q.argc, e) < 0)
		return -1;
	q.argv = words;
	if (c->rules && policy_check_argv(c->rules, q.argv, q.argc, e) < 0)
		return -1;
	AUTO_FD cwd = ws_open_dir(c->ws, &root, e);
	if (cwd < 0)
		return -1;
	q.cwd_fd = cwd;
	if (proc_run(c->runner, &q, &sink, c->cancel, &result, e) < 0)
		return -1;
	jw_str(c->out, "stdout", buf_str(&outputs[PROC_STDOUT]));
	jw_str(c->out, "stderr", buf_str(&outputs[PROC_STDERR]));
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
