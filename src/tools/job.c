/* SPDX-License-Identifier: MIT */
/* job: look at commands that run in the background, wait for them, stop them. */

#include "exec/jobs.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "tools/tool.h"

/* An id as a client gives it back: the digits of the number it was told. */
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

static int need_jobs(const struct call *c, struct err *e)
{
	if (c->jobs)
		return 0;
	return err_set(e, ERR_READ_ONLY, "Commands are refused in read-only mode here: %.*s",
		       STR_FMT(c->no_commands));
}

static void write_id(struct jw *w, uint64_t id)
{
	char text[24];
	struct buf b = { .p = text, .cap = sizeof text, .max = sizeof text };

	buf_addf(&b, "%llu", (unsigned long long)id);
	jw_str(w, "jobId", buf_str(&b));
}

static void write_state(struct jw *w, const struct job_state *s)
{
	jw_str(w, "state", s->running ? STR("running") : STR("exited"));
	if (s->running || s->failed)
		jw_null(w, "exitCode");
	else
		jw_int(w, "exitCode", s->result.exit_code);
	if (!s->running && !s->failed && s->result.timed_out)
		jw_bool(w, "timedOut", true);
	if (s->failed)
		jw_str(w, "error", str_of(s->err.msg));
}

struct jobs_args {
	int unused;
};

static const struct arg jobs_table[] = { A_END };

static int jobs_run(struct call *c, const void *args, struct err *e)
{
	(void)args;
	if (need_jobs(c, e) < 0)
		return -1;
	struct job_state *list = arena_array(c->arena, LIMIT_JOBS, sizeof *list);
	if (!list)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to list the jobs, try again");
	const size_t count = jobs_list(c->jobs, list, LIMIT_JOBS);
	jw_array(c->out, "jobs");
	for (size_t i = 0; i < count && i < LIMIT_JOBS; i++) {
		jw_object(c->out, NULL);
		write_id(c->out, list[i].id);
		jw_str(c->out, "command", str_of(list[i].command));
		write_state(c->out, &list[i]);
		jw_int(c->out, "startedMs", list[i].started_ms);
		jw_int(c->out, "cursor", list[i].cursor);
		jw_end(c->out);
	}
	jw_end(c->out);
	return 0;
}

const struct tool tool_jobs = {
	.name = "jobs",
	.about = "List the commands that run, or ran, in the background.",
	.args = jobs_table,
	.args_size = sizeof(struct jobs_args),
	.flags = TOOL_ROUTE,
	.run = jobs_run,
};

struct job_args {
	struct str id;
	int64_t since, wait_ms;
};

static const struct arg job_table[] = {
	A_STR(struct job_args, id, "id", REQUIRED | NONBLANK, "Which job"),
	A_INT(struct job_args, since, "since", 0, 0, INT64_MAX, "Cursor of the last answer"),
	A_INT(struct job_args, wait_ms, "waitMs", 0, 0, LIMIT_JOB_NEWS_MS,
	      "Wait for news this long"),
	A_END,
};

static int job_run(struct call *c, const void *args, struct err *e)
{
	const struct job_args *a = args;
	const int64_t wait_ms = a->wait_ms < 0			 ? 0
				: a->wait_ms > LIMIT_JOB_NEWS_MS ? LIMIT_JOB_NEWS_MS
								 : a->wait_ms;
	AUTO_BUF out = { .max = LIMIT_JOB_PIECE };
	struct job_state state;
	int64_t cursor, dropped;
	uint64_t id;

	if (need_jobs(c, e) < 0 || parse_id(a->id, &id, e) < 0)
		return -1;
	if (jobs_output(c->jobs, id, a->since < 0 ? 0 : a->since, io_now_ms() + wait_ms,
			c->cancel_fd, &out, &cursor, &dropped, &state, e) < 0)
		return -1;
	/* A character that has not come whole yet waits for the next answer. */
	const size_t whole = state.running ? utf8_whole(buf_str(&out)) : out.n;
	write_state(c->out, &state);
	jw_str(c->out, "output", str_upto(buf_str(&out), whole));
	jw_int(c->out, "cursor", cursor - (int64_t)(out.n - whole));
	jw_int(c->out, "dropped", dropped);
	return 0;
}

const struct tool tool_job = {
	.name = "job",
	.about = "The output of a background command since a cursor, and how it ended.",
	.args = job_table,
	.args_size = sizeof(struct job_args),
	.flags = TOOL_ROUTE | TOOL_SLOW,
	.run = job_run,
};

static int job_stop_run(struct call *c, const void *args, struct err *e)
{
	const struct job_args *a = args;
	uint64_t id;

	if (need_jobs(c, e) < 0 || parse_id(a->id, &id, e) < 0 || jobs_stop(c->jobs, id, e) < 0)
		return -1;
	jw_bool(c->out, "ok", true);
	return 0;
}

const struct tool tool_job_stop = {
	.name = "job_stop",
	.about = "End a background command and everything it started.",
	.args = job_table,
	.args_size = sizeof(struct job_args),
	.flags = TOOL_ROUTE,
	.run = job_stop_run,
};
