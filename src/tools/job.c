/* SPDX-License-Identifier: MIT */
/* job: commands in the background: list them, read or wait for their output, stop them. */

#include "base/io.h"
#include "base/utf8.h"
#include "exec/jobs.h"
#include "exec/limits.h"
#include "scrub/scrub.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/tool.h"

static int parse_id(struct str text, uint64_t *ret, struct err *e)
{
	int64_t id;

	if (!str_int(text, &id) || id < 0)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "There is no job \"%.*s\"; list the jobs to see which there are",
			       STR_FMT(str_upto(text, 40)));
	*ret = (uint64_t)id;
	return 0;
}

static int list_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)args;
	if (call_may_run(c, e) < 0)
		return -1;
	struct job_state *states = arena_array(c->arena, LIMIT_JOBS, sizeof *states);
	if (!states)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to list the jobs, try again");
	const size_t count = jobs_list(c->shared->jobs, states, LIMIT_JOBS);
	ret->kind = RESULT_JOBS;
	ret->jobs = (struct job_list){ states, count < LIMIT_JOBS ? count : LIMIT_JOBS };
	return 0;
}

struct job_args {
	struct str id;
	int64_t since, wait_ms;
};

/* The part of a piece that can be shown. The last *held bytes may be an unfinished character or
 * secret and wait for the next answer. If the piece begins inside a secret, the rest of that is
 * left out. */
static struct str shown_part(const struct call *c, const struct job_piece *p, size_t *held)
{
	const bool goes_on = p->state.running || p->cursor < p->state.cursor;
	const struct str all = buf_str(&p->text);
	const struct str text = str_from(all, scrub_cut(c->scrub, all, p->context).to);
	const size_t whole = !goes_on	? text.n
			     : c->scrub ? scrub_decided(c->scrub, text)
					: utf8_whole(text);

	*held = text.n - whole;
	return str_upto(text, whole);
}

static int output_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct job_args *a = args;
	const int64_t longest = LIMIT_JOB_NEWS_MS;
	const int64_t wait_ms = a->wait_ms < 0 ? 0 : a->wait_ms > longest ? longest : a->wait_ms;
	struct job_wait wait = { a->since, io_now_ms() + wait_ms, c->cancel };
	struct job_piece *p = &ret->job.piece;
	struct str text;
	size_t held;
	uint64_t id;

	if (call_may_run(c, e) < 0 || parse_id(a->id, &id, e) < 0)
		return -1;
	ret->kind = RESULT_JOB;
	*p = (struct job_piece){ .cursor = 0 };
	do {
		if (jobs_output(c->shared->jobs, id, a->since, &wait, p, e) < 0)
			return -1;
		text = shown_part(c, p, &held);
		/* If nothing of it can be shown yet, wait for more. */
		wait.seen = p->cursor;
	} while (text.n == 0 && p->state.running && io_now_ms() < wait.deadline_ms &&
		 !cancel_asked(c->cancel));
	/* If the dropped part ended inside a character, the rest of that is dropped too. */
	const size_t rest = p->dropped ? utf8_cut_rest(text) : 0;
	ret->job.text = str_from(text, rest);
	p->cursor -= (int64_t)held;
	p->dropped += (int64_t)rest;
	return 0;
}

static int stop_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct job_args *a = args;

	if (call_may_run(c, e) < 0 || parse_id(a->id, &ret->ended, e) < 0)
		return -1;
	ret->kind = RESULT_ENDED;
	return jobs_stop(c->shared->jobs, ret->ended, e);
}

static const struct arg no_arguments[] = { A_END };

static const char *const states[] = { "running", "exited", NULL };

/* The state of a job: for programs, and for models. */
#define WIRE_STATE                                                                                 \
	{ "state", "Whether it still runs", FIELD_STR, .choices = states },                        \
		{ "exitCode", "Once it has exited; else null", FIELD_INT, FIELD_NULLABLE },        \
		{ "timedOut", "Its time was up", FIELD_BOOL, FIELD_OPTIONAL },                     \
		{ "leftJobId", "The job in which what it left running continues", FIELD_STR,       \
		  FIELD_OPTIONAL },                                                                \
	{                                                                                          \
		"error", "Why it could not be run", FIELD_STR, FIELD_OPTIONAL                      \
	}
#define MODEL_STATE                                                                                \
	{ "state", "running or exited", FIELD_STR },                                               \
		{ "exit_code", "Once it has exited; null before that, and after a timeout",        \
		  FIELD_INT, FIELD_NULLABLE },                                                     \
		{ "timed_out", "Whether its time was up", FIELD_BOOL, FIELD_OPTIONAL },            \
		{ "left_job_id", "The job in which what it left running continues", FIELD_STR,     \
		  FIELD_OPTIONAL },                                                                \
	{                                                                                          \
		"error", "Why it could not be run", FIELD_STR, FIELD_OPTIONAL                      \
	}
/* What a job has written. */
#define OUTPUT                                                                                     \
	{ "output", "Standard output and error as they came", FIELD_STR },                         \
		{ "cursor", "Give this as since to continue", FIELD_INT },                         \
	{                                                                                          \
		"dropped", "Bytes after since that are no longer kept", FIELD_INT                  \
	}

static const struct field wire_state_fields[] = {
	{ "jobId", "Which job", FIELD_STR },
	{ "command", "The beginning of its command", FIELD_STR },
	WIRE_STATE,
	{ "startedMs", "When it was started, in milliseconds since 1970", FIELD_INT },
	{ "cursor", "Bytes of output so far", FIELD_INT },
	{ "ports", "Ports that its processes listen on", FIELD_INT, FIELD_LIST },
	F_END,
};

static const struct field jobs_fields[] = {
	{ "jobs", "Oldest first", FIELD_OBJECT, FIELD_LIST, wire_state_fields },
	F_END,
};

const struct tool tool_jobs = {
	.name = "jobs",
	.about = "List the commands that run, or ran, in the background, and what others left "
		 "running.",
	.args = no_arguments,
	.args_size = 1,
	.fields = jobs_fields,
	.flags = TOOL_ROUTE | TOOL_READ_ONLY,
	.run = list_run,
};

static const struct arg job_table[] = {
	A_STR(struct job_args, id, "id", REQUIRED | NONBLANK, "Which job"),
	A_INT(struct job_args, since, "since", 0, 0, INT64_MAX, "Cursor of the last answer"),
	A_INT(struct job_args, wait_ms, "waitMs", 0, 0, LIMIT_JOB_NEWS_MS, "Wait for news so long"),
	A_END,
};

static const struct field job_fields[] = { WIRE_STATE, OUTPUT, F_END };

const struct tool tool_job = {
	.name = "job",
	.about = "The output of a background command since a cursor, and how it ended.",
	.args = job_table,
	.args_size = sizeof(struct job_args),
	.fields = job_fields,
	.flags = TOOL_ROUTE | TOOL_READ_ONLY | TOOL_SLOW,
	.slow_with = "waitMs",
	.run = output_run,
};

static const struct field stop_fields[] = {
	{ "ok", "It is being ended; its state tells when it has", FIELD_BOOL },
	F_END,
};

static const struct arg stop_table[] = {
	A_STR(struct job_args, id, "id", REQUIRED | NONBLANK, "Which job"),
	A_END,
};

const struct tool tool_stop_job = {
	.name = "stop_job",
	.about = "End a background command and everything it started.",
	.args = stop_table,
	.args_size = sizeof(struct job_args),
	.fields = stop_fields,
	.flags = TOOL_ROUTE,
	.run = stop_run,
};

static const struct field state_fields[] = {
	{ "job_id", "Which job", FIELD_STR },
	{ "command", "The beginning of its command", FIELD_STR },
	MODEL_STATE,
	{ "started_ms", "When it was started, in milliseconds since 1970", FIELD_INT },
	{ "cursor", "Bytes of output so far", FIELD_INT },
	{ "ports", "Ports that its processes listen on", FIELD_INT, FIELD_LIST },
	F_END,
};

static const struct field job_list_fields[] = {
	{ "jobs", "Oldest first", FIELD_OBJECT, FIELD_LIST, state_fields },
	F_END,
};

const struct tool tool_job_list = {
	.name = "job_list",
	.title = "List jobs",
	.about = "List background commands, and what others left running.",
	.args = no_arguments,
	.args_size = 1,
	.fields = job_list_fields,
	.flags = TOOL_MODEL | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SCRUB,
	.run = list_run,
};

static const struct arg job_output_table[] = {
	A_STR(struct job_args, id, "job_id", REQUIRED | NONBLANK, "Job"),
	A_INT(struct job_args, since, "since", 0, 0, INT64_MAX,
	      "Cursor of the last result; 0: from the start"),
	A_INT(struct job_args, wait_ms, "wait_ms", 0, 0, LIMIT_JOB_NEWS_MS,
	      "Wait so long for more"),
	A_END,
};

static const struct field job_output_fields[] = { MODEL_STATE, OUTPUT, F_END };

const struct tool tool_job_output = {
	.name = "job_output",
	.title = "Output of a job",
	.about = "Read the output of a background command, and whether it still runs.",
	.args = job_output_table,
	.args_size = sizeof(struct job_args),
	.fields = job_output_fields,
	.flags = TOOL_MODEL | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SLOW | TOOL_SCRUB,
	.slow_with = "wait_ms",
	.run = output_run,
};

static const struct arg job_stop_table[] = {
	A_STR(struct job_args, id, "job_id", REQUIRED | NONBLANK, "Job"),
	A_END,
};

static const struct field job_stop_fields[] = {
	{ "ok", "It is being ended; job_output tells when it has", FIELD_BOOL },
	F_END,
};

const struct tool tool_job_stop = {
	.name = "job_stop",
	.title = "Stop a job",
	.about = "End a background command with all it started. Use it instead of kill.",
	.args = job_stop_table,
	.args_size = sizeof(struct job_args),
	.fields = job_stop_fields,
	.flags = TOOL_MODEL | TOOL_DESTRUCTIVE | TOOL_IDEMPOTENT,
	.run = stop_run,
};
