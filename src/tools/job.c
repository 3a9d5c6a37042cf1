/* SPDX-License-Identifier: MIT */
/* job: commands in the background: list them, read or wait for their output, stop them. */

#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/human.h"
#include "base/io.h"
#include "base/own.h"
#include "base/utf8.h"
#include "exec/jobs.h"
#include "exec/limits.h"
#include "scrub/scrub.h"
#include "tools/ends.h"
#include "tools/limits.h"
#include "tools/tool.h"

/* The names of members on the wire and for models. As with every command, models are told no exit
 * code after a timeout. */
struct job_names {
	const char *id, *exit_code, *timed_out, *started, *left;
	bool null_after_timeout;
};

static const struct job_names wire_names = { "jobId",	  "exitCode",  "timedOut",
					     "startedMs", "leftJobId", false };
static const struct job_names model_names = { "job_id",	    "exit_code",   "timed_out",
					      "started_ms", "left_job_id", true };

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

static void write_state(const struct call *c, const struct job_names *n, const struct job_state *s)
{
	struct jw *w = c->out;
	const bool ended = !s->running && !s->failed, timed_out = ended && s->timed_out;

	jw_str(w, "state", s->running ? STR("running") : STR("exited"));
	if (!ended || (timed_out && n->null_after_timeout))
		jw_null(w, n->exit_code);
	else
		jw_int(w, n->exit_code, s->exit_code);
	if (timed_out)
		jw_bool(w, n->timed_out, true);
	if (s->left)
		call_write_job(c, n->left, s->left);
	if (s->failed)
		jw_str(w, "error", str_of(s->err.msg));
}

/* The state of a job in a few words. */
static const char *state_words(const struct job_state *s, char room[64])
{
	if (s->running && s->ports.count) {
		(void)snprintf(room, 64, "running, port %d", s->ports.port[0]);
		return room;
	}
	if (s->running)
		return "running";
	if (s->failed)
		return "failed";
	if (s->timed_out)
		return "timed out";
	if (s->cancelled)
		return "stopped";
	(void)snprintf(room, 64, "exit %d", s->exit_code);
	return room;
}

static void write_table(const struct call *c, const struct job_state *states, size_t count)
{
	struct buf *out = c->text->text;
	char room[64], age[HUMAN_SIZE];

	if (count == 0)
		call_note(c, "no jobs");
	else
		buf_addf(out, "%-4s  %-18s  %-12s  %s\n", "id", "state", "started", "command");
	for (size_t i = 0; i < count; i++) {
		const struct job_state *s = &states[i];
		const int64_t ms = (int64_t)time(NULL) * 1000 - s->started_ms;
		(void)human_ms(ms > 0 ? ms : 0, age);
		buf_addf(out, "%-4llu  %-18s  %-8s ago  ", (unsigned long long)s->id,
			 state_words(s, room), age);
		buf_add(out, call_shown_command(c, s->command, sizeof s->command));
		buf_addc(out, '\n');
	}
}

static int list(struct call *c, const struct job_names *n, struct err *e)
{
	if (call_may_run(c, e) < 0)
		return -1;
	struct job_state *states = arena_array(c->arena, LIMIT_JOBS, sizeof *states);
	if (!states)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to list the jobs, try again");
	size_t count = jobs_list(c->jobs, states, LIMIT_JOBS);
	count = count < LIMIT_JOBS ? count : LIMIT_JOBS;
	if (c->text) {
		write_table(c, states, count);
		return 0;
	}
	jw_array(c->out, "jobs");
	for (size_t i = 0; i < count; i++) {
		jw_object(c->out, NULL);
		call_write_job(c, n->id, states[i].id);
		jw_str(c->out, "command",
		       call_shown_command(c, states[i].command, sizeof states[i].command));
		write_state(c, n, &states[i]);
		jw_int(c->out, n->started, states[i].started_ms);
		jw_int(c->out, "cursor", states[i].cursor);
		call_write_ports(c, &states[i].ports);
		jw_end(c->out);
	}
	jw_end(c->out);
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

static void piece_done(struct job_piece *p)
{
	buf_done(&p->text);
}

/* What is to be said of a job. */
struct job_answer {
	const struct job_state *state;
	uint64_t id;
	struct str text;
	int64_t cursor, dropped;
};

/* As much of the text as fits, its ends first. */
static int shorten(struct call *c, const struct job_answer *a, struct buf *out, struct err *e)
{
	enum { NOTES = 4 }; /* lines about the result */
	struct ends_limit limit = { call_room(c), c->max_lines - NOTES, .head = 40,
				    .at_lines = true };
	struct ends_shown shown = { .head = a->text };
	struct ends ends;
	char where[96];

	if (c->max_bytes) {
		const size_t head = a->text.n * limit.head / 100;
		if (ends_init(&ends, head, a->text.n - head, c->arena, e) < 0)
			return -1;
		ends_add(&ends, a->text);
		do {
			if (ends_show(&ends, &limit, c->arena, &shown, e) < 0)
				return -1;
			limit.bytes /= 2;
		} while (!c->text && limit.bytes > 0 &&
			 (int64_t)(jw_escaped_length(shown.head) + jw_escaped_length(shown.tail)) >
				 call_room(c));
	}
	(void)snprintf(where, sizeof where, "job_output job_id=\"%llu\" since=%lld",
		       (unsigned long long)a->id,
		       (long long)(a->cursor - (int64_t)(a->text.n - shown.head.n)));
	ends_write(out, &shown, where);
	return out->failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory for the output") : 0;
}

static int write_answer(struct call *c, const struct job_names *n, const struct job_answer *a,
			struct err *e)
{
	AUTO_BUF text = { .max = LIMIT_ANSWER };

	if (shorten(c, a, &text, e) < 0)
		return -1;
	write_state(c, n, a->state);
	jw_str(c->out, "output", buf_str(&text));
	jw_int(c->out, "cursor", a->cursor);
	jw_int(c->out, "dropped", a->dropped);
	return 0;
}

static int write_answer_text(struct call *c, const struct job_answer *a, struct err *e)
{
	struct buf *out = c->text->text;
	char room[64], size[HUMAN_SIZE];

	call_note(c, "%s", state_words(a->state, room));
	buf_addc(out, '\n');
	if (a->state->failed)
		call_note(c, "%s", a->state->err.msg);
	if (a->dropped)
		buf_addf(out, "[… %s not kept any more]\n", human_bytes(a->dropped, size));
	if (shorten(c, a, out, e) < 0)
		return -1;
	if (a->state->left)
		call_note(c, "what it left running continues as job %llu",
			  (unsigned long long)a->state->left);
	if (a->state->running)
		call_note(c, "next: since=%lld", (long long)a->cursor);
	else if (out->n && out->p[out->n - 1] == '\n' && a->text.n == 0)
		out->n--;
	return 0;
}

static int output(struct call *c, const struct job_args *a, const struct job_names *n,
		  struct err *e)
{
	const int64_t longest = LIMIT_JOB_NEWS_MS;
	const int64_t wait_ms = a->wait_ms < 0 ? 0 : a->wait_ms > longest ? longest : a->wait_ms;
	struct job_wait wait = { a->since, io_now_ms() + wait_ms, c->cancel };
	CLEANUP(piece_done) struct job_piece p = { 0 };
	struct str text;
	size_t held;
	uint64_t id;

	if (call_may_run(c, e) < 0 || parse_id(a->id, &id, e) < 0)
		return -1;
	do {
		if (jobs_output(c->jobs, id, a->since, &wait, &p, e) < 0)
			return -1;
		text = shown_part(c, &p, &held);
		/* If nothing of it can be shown yet, wait for more. */
		wait.seen = p.cursor;
	} while (text.n == 0 && p.state.running && io_now_ms() < wait.deadline_ms &&
		 !cancel_asked(c->cancel));
	/* If the dropped part ended inside a character, the rest of that is dropped too. */
	const size_t rest = p.dropped ? utf8_cut_rest(text) : 0;
	const struct job_answer answer = {
		.state = &p.state,
		.id = id,
		.text = str_from(text, rest),
		.cursor = p.cursor - (int64_t)held,
		.dropped = p.dropped + (int64_t)rest,
	};
	return c->text ? write_answer_text(c, &answer, e) : write_answer(c, n, &answer, e);
}

static int stop(struct call *c, const struct job_args *a, struct err *e)
{
	uint64_t id;

	if (call_may_run(c, e) < 0 || parse_id(a->id, &id, e) < 0 || jobs_stop(c->jobs, id, e) < 0)
		return -1;
	if (c->text)
		call_note(c, "job %llu is being ended; job_output shows how it ended",
			  (unsigned long long)id);
	else
		jw_bool(c->out, "ok", true);
	return 0;
}

static const struct arg no_arguments[] = { A_END };

static const char *const states[] = { "running", "exited", NULL };

static const struct field wire_state_fields[] = {
	{ "jobId", "Which job", FIELD_STR },
	{ "command", "The beginning of its command", FIELD_STR },
	{ "state", "Whether it still runs", FIELD_STR, .choices = states },
	{ "exitCode", "Once it has exited; else null", FIELD_INT, FIELD_NULLABLE },
	{ "timedOut", "Its time was up", FIELD_BOOL, FIELD_OPTIONAL },
	{ "leftJobId", "The job in which what it left running continues", FIELD_STR,
	  FIELD_OPTIONAL },
	{ "error", "Why it could not be run", FIELD_STR, FIELD_OPTIONAL },
	{ "startedMs", "When it was started, in milliseconds since 1970", FIELD_INT },
	{ "cursor", "Bytes of output so far", FIELD_INT },
	{ "ports", "Ports that its processes listen on", FIELD_INT, FIELD_LIST },
	F_END,
};

static const struct field jobs_fields[] = {
	{ "jobs", "Oldest first", FIELD_OBJECT, FIELD_LIST, wire_state_fields },
	F_END,
};

static int list_jobs_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	(void)args;
	return list(c, &wire_names, e);
}

const struct tool tool_jobs = {
	.name = "jobs",
	.about = "List the commands that run, or ran, in the background, and what others left "
		 "running.",
	.args = no_arguments,
	.args_size = 1,
	.fields = jobs_fields,
	.flags = TOOL_ROUTE | TOOL_READ_ONLY,
	.run = list_jobs_run,
};

static const struct arg job_table[] = {
	A_STR(struct job_args, id, "id", REQUIRED | NONBLANK, "Which job"),
	A_INT(struct job_args, since, "since", 0, 0, INT64_MAX, "Cursor of the last answer"),
	A_INT(struct job_args, wait_ms, "waitMs", 0, 0, LIMIT_JOB_NEWS_MS, "Wait for news so long"),
	A_END,
};

static const struct field job_fields[] = {
	{ "state", "Whether it still runs", FIELD_STR, .choices = states },
	{ "exitCode", "Once it has exited; else null", FIELD_INT, FIELD_NULLABLE },
	{ "timedOut", "Its time was up", FIELD_BOOL, FIELD_OPTIONAL },
	{ "leftJobId", "The job in which what it left running continues", FIELD_STR,
	  FIELD_OPTIONAL },
	{ "error", "Why it could not be run", FIELD_STR, FIELD_OPTIONAL },
	{ "output", "Standard output and error as they came", FIELD_STR },
	{ "cursor", "Give this as since to continue", FIELD_INT },
	{ "dropped", "Bytes after since that are no longer kept", FIELD_INT },
	F_END,
};

static int job_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	return output(c, args, &wire_names, e);
}

const struct tool tool_job = {
	.name = "job",
	.about = "The output of a background command since a cursor, and how it ended.",
	.args = job_table,
	.args_size = sizeof(struct job_args),
	.fields = job_fields,
	.flags = TOOL_ROUTE | TOOL_READ_ONLY | TOOL_SLOW,
	.slow_with = "waitMs",
	.run = job_run,
};

static const struct field stop_fields[] = {
	{ "ok", "It is being ended; its state tells when it has", FIELD_BOOL },
	F_END,
};

static int stop_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	return stop(c, args, e);
}

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
	{ "state", "running or exited", FIELD_STR },
	{ "exit_code", "Once it has exited; null before that, and after a timeout", FIELD_INT,
	  FIELD_NULLABLE },
	{ "timed_out", "Whether its time was up", FIELD_BOOL, FIELD_OPTIONAL },
	{ "left_job_id", "The job in which what it left running continues", FIELD_STR,
	  FIELD_OPTIONAL },
	{ "error", "Why it could not be run", FIELD_STR, FIELD_OPTIONAL },
	{ "started_ms", "When it was started, in milliseconds since 1970", FIELD_INT },
	{ "cursor", "Bytes of output so far", FIELD_INT },
	{ "ports", "Ports that its processes listen on", FIELD_INT, FIELD_LIST },
	F_END,
};

static const struct field job_list_fields[] = {
	{ "jobs", "Oldest first", FIELD_OBJECT, FIELD_LIST, state_fields },
	F_END,
};

static int job_list_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	(void)args;
	return list(c, &model_names, e);
}

const struct tool tool_job_list = {
	.name = "job_list",
	.title = "List jobs",
	.about = "List background commands, and what others left running.",
	.args = no_arguments,
	.args_size = 1,
	.fields = job_list_fields,
	.flags = TOOL_MODEL | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SCRUB,
	.run = job_list_run,
};

static const struct arg job_output_table[] = {
	A_STR(struct job_args, id, "job_id", REQUIRED | NONBLANK, "Job"),
	A_INT(struct job_args, since, "since", 0, 0, INT64_MAX,
	      "Cursor of the last result; 0: from the start"),
	A_INT(struct job_args, wait_ms, "wait_ms", 0, 0, LIMIT_JOB_NEWS_MS,
	      "Wait so long for more"),
	A_END,
};

static const struct field job_output_fields[] = {
	{ "state", "running or exited", FIELD_STR },
	{ "exit_code", "Once it has exited; null before that, and after a timeout", FIELD_INT,
	  FIELD_NULLABLE },
	{ "timed_out", "Whether its time was up", FIELD_BOOL, FIELD_OPTIONAL },
	{ "left_job_id", "The job in which what it left running continues", FIELD_STR,
	  FIELD_OPTIONAL },
	{ "error", "Why it could not be run", FIELD_STR, FIELD_OPTIONAL },
	{ "output", "Standard output and error as they came", FIELD_STR },
	{ "cursor", "Give this as since to continue", FIELD_INT },
	{ "dropped", "Bytes after since that are no longer kept", FIELD_INT },
	F_END,
};

static int job_output_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	return output(c, args, &model_names, e);
}

const struct tool tool_job_output = {
	.name = "job_output",
	.title = "Output of a job",
	.about = "Read the output of a background command, and whether it still runs.",
	.args = job_output_table,
	.args_size = sizeof(struct job_args),
	.fields = job_output_fields,
	.flags = TOOL_MODEL | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SLOW | TOOL_SCRUB,
	.slow_with = "wait_ms",
	.run = job_output_run,
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
