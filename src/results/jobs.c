/* SPDX-License-Identifier: MIT */
/* jobs: commands in the background: all of them, or what one of them has written. */

#include <stdio.h>
#include <time.h>

#include "base/human.h"
#include "base/limits.h"
#include "results/fit.h"
#include "results/results.h"

/* The names of members, on the wire and for models. */
static const struct job_names {
	const char *id, *exit_code, *timed_out, *started, *left;
} wire_names = { "jobId", "exitCode", "timedOut", "startedMs", "leftJobId" },
  model_names = { "job_id", "exit_code", "timed_out", "started_ms", "left_job_id" };

static const struct job_names *names_of(const struct way *out)
{
	return out->model ? &model_names : &wire_names;
}

static void write_state(const struct way *out, const struct job_state *s)
{
	const struct job_names *n = names_of(out);
	const bool ended = !s->running && !s->failed, timed_out = ended && s->timed_out;

	jw_str(out->members, "state", s->running ? STR("running") : STR("exited"));
	/* As with every command, models are told no exit code after a timeout. */
	if (!ended || (timed_out && out->model))
		jw_null(out->members, n->exit_code);
	else
		jw_int(out->members, n->exit_code, s->exit_code);
	if (timed_out)
		jw_bool(out->members, n->timed_out, true);
	if (s->left)
		way_write_job(out, n->left, s->left);
	if (s->failed)
		jw_str(out->members, "error", str_of(s->err.msg));
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

int jobs_members(const struct way *out, struct result *r, struct err *e)
{
	const struct job_names *n = names_of(out);
	struct jw *w = out->members;

	(void)e;
	jw_array(w, "jobs");
	for (size_t i = 0; i < r->jobs.count; i++) {
		const struct job_state *s = &r->jobs.states[i];
		jw_object(w, NULL);
		way_write_job(out, n->id, s->id);
		jw_str(w, "command", call_shown_command(out->c, s->command, sizeof s->command));
		write_state(out, s);
		jw_int(w, n->started, s->started_ms);
		jw_int(w, "cursor", s->cursor);
		way_write_ports(out, &s->ports);
		jw_end(w);
	}
	jw_end(w);
	return 0;
}

int jobs_text(const struct way *out, struct result *r, struct err *e)
{
	struct buf *text = out->text->text;
	char room[64], age[HUMAN_SIZE];

	(void)e;
	if (r->jobs.count == 0)
		way_note(out, "no jobs");
	else
		buf_addf(text, "%-4s  %-18s  %-12s  %s\n", "id", "state", "started", "command");
	for (size_t i = 0; i < r->jobs.count; i++) {
		const struct job_state *s = &r->jobs.states[i];
		const int64_t ms = (int64_t)time(NULL) * 1000 - s->started_ms;
		(void)human_ms(ms > 0 ? ms : 0, age);
		buf_addf(text, "%-4llu  %-18s  %-8s ago  ", (unsigned long long)s->id,
			 state_words(s, room), age);
		buf_add(text, call_shown_command(out->c, s->command, sizeof s->command));
		buf_addc(text, '\n');
	}
	return 0;
}

/* As much of the output as fits, its ends first. */
static int show_output(const struct way *out, const struct job_news *j, struct buf *to,
		       struct err *e)
{
	enum { NOTES = 4 }; /* lines about the result */
	const struct fit f = fit_of(out);
	const struct ends all = fit_whole(j->text);
	struct fit_text text = {
		.all = &all,
		.limit = { f.bytes, f.lines - NOTES, .head = 40, .at_lines = true },
	};
	char where[96];

	if (fit_ends(&f, &text, 1, out->c->arena, e) < 0)
		return -1;
	(void)snprintf(where, sizeof where, "job_output job_id=\"%llu\" since=%lld",
		       (unsigned long long)j->piece.state.id,
		       (long long)(j->piece.cursor - (int64_t)(j->text.n - text.shown.head.n)));
	ends_write(to, &text.shown, where);
	return to->failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory for the output") : 0;
}

int job_members(const struct way *out, struct result *r, struct err *e)
{
	const struct job_piece *p = &r->job.piece;
	AUTO_BUF text = { .max = LIMIT_ANSWER };

	if (show_output(out, &r->job, &text, e) < 0)
		return -1;
	write_state(out, &p->state);
	jw_str(out->members, "output", buf_str(&text));
	jw_int(out->members, "cursor", p->cursor);
	jw_int(out->members, "dropped", p->dropped);
	return 0;
}

int job_text(const struct way *out, struct result *r, struct err *e)
{
	const struct job_piece *p = &r->job.piece;
	const struct job_state *s = &p->state;
	struct buf *text = out->text->text;
	char room[64], size[HUMAN_SIZE];

	way_note(out, "%s", state_words(s, room));
	buf_addc(text, '\n');
	if (s->failed)
		way_note(out, "%s", s->err.msg);
	if (p->dropped)
		buf_addf(text, "[… %s not kept any more]\n", human_bytes(p->dropped, size));
	if (show_output(out, &r->job, text, e) < 0)
		return -1;
	if (s->left)
		way_note(out, "what it left running continues as job %llu",
			 (unsigned long long)s->left);
	if (s->running)
		way_note(out, "next: since=%lld", (long long)p->cursor);
	else if (text->n && text->p[text->n - 1] == '\n' && r->job.text.n == 0)
		text->n--;
	return 0;
}

int ended_members(const struct way *out, struct result *r, struct err *e)
{
	(void)r;
	(void)e;
	jw_bool(out->members, "ok", true);
	return 0;
}

int ended_text(const struct way *out, struct result *r, struct err *e)
{
	(void)e;
	way_note(out, "job %llu is being ended; job_output shows how it ended",
		 (unsigned long long)r->ended);
	return 0;
}
