/* SPDX-License-Identifier: MIT */
/* receipt: commands: how they ended, what they wrote, what they left. */

#include "tools/receipt.h"

#include <stdio.h>

#include "base/human.h"
#include "base/limits.h"
#include "base/own.h"
#include "exec/limits.h"
#include "results/fit.h"
#include "results/results.h"
#include "tools/watched.h"
#include "tools/limits.h"

static void write_usage(struct jw *w, const struct proc_result *r)
{
	jw_object(w, "usage");
	jw_int(w, "cpu_ms", r->cpu_ms);
	jw_int(w, "peak_memory_bytes", r->peak_memory_bytes);
	jw_bool(w, "oom_killed", r->oom_killed);
	jw_str(w, "limit", str_of(proc_limit_name(r->limit)));
	jw_end(w);
}

/* A command line without secrets. */
static struct str shown_command(const struct way *out, const struct survivor *s)
{
	const struct call *c = out->c;
	const struct str text = call_shown_command(c, s->command, sizeof s->command);
	AUTO_BUF aside = { .max = LIMIT_ANSWER };

	if (!c->scrub)
		return text;
	const struct str clean = scrub_text(c->scrub, c->shared->scrubbed, text, &aside);
	return aside.failed ? STR("") : clean.p == text.p ? text : arena_dup(c->arena, clean);
}

static void write_survivors(const struct way *out, const struct proc_result *r)
{
	struct jw *w = out->members;

	jw_array(w, "survivors");
	for (size_t i = 0; i < r->survivor_count && i < LIMIT_SURVIVORS; i++) {
		const struct survivor *s = &r->survivors[i];
		jw_object(w, NULL);
		jw_int(w, "pid", s->pid);
		jw_str(w, "command", shown_command(out, s));
		way_write_ports(out, &s->ports);
		if (r->job)
			way_write_job(out, "job_id", r->job);
		jw_end(w);
	}
	jw_end(w);
}

static const char *survivors_hint(const struct proc_result *r)
{
	switch (r->fate) {
	case SURVIVORS_END:
		return "What the command left running in the background was ended with it.";
	case SURVIVORS_KEEP:
		return "What the command left running in the background continues.";
	case SURVIVORS_ADOPT:
		break;
	}
	return "What the command left running in the background continues as a job: job_output "
	       "shows "
	       "what it writes, job_stop ends it.";
}

static const char *hint_of(const struct way *out, const struct receipt *receipt)
{
	const struct proc_result *r = &receipt->end;

	/* A text says which ones. */
	if (receipt->denied && !out->text)
		return out->c->shared->read_only
			       ? "The workspace is read-only: a command can write to /tmp and "
				 "nowhere else."
			       : "The sandbox refused what is listed in denied; rule says what "
				 "is allowed instead.";
	if (r->stopped)
		return "A person stopped this: ask before it is run again.";
	if (r->timed_out && out->native)
		return "What takes longer can be started with & and its output sent to a file.";
	if (r->timed_out && r->duration_ms >= out->c->times.most_ms)
		return "No call has more time here: run it with background:true, which has no "
		       "limit.";
	if (r->timed_out)
		return "Give a larger timeout_ms if it needs more time, or run it with "
		       "background:true, which has no limit.";
	if (r->limit != PROC_LIMIT_NONE)
		return "It ran into a limit that was set for commands here: do the work in smaller "
		       "steps.";
	return r->survivor_count ? survivors_hint(r) : NULL;
}

enum { NOTE = 320 };

/* That the command had less time than was asked for; and, once in a session, that nothing is known of
 * what commands change, which is in *observed. NULL if nothing is to be said. */
static const char *note_of(const struct way *out, bool time_cut, bool *observed, char room[NOTE])
{
	bool is_new;
	size_t n = 0;
	const char *why = watched_not(out->c, &is_new);

	*observed = !why;
	if (time_cut)
		n = (size_t)snprintf(room, NOTE,
				     "timeout_ms was cut to %lld, the most that a call may have "
				     "here",
				     (long long)out->c->times.most_ms);
	/* A provider's own tool without a session would be told each time. */
	if (is_new && (!out->native || out->c->session.n))
		n += (size_t)snprintf(room + n, NOTE - n,
				      "%snot observed: %s; what commands change cannot be undone",
				      n ? "; " : "", why);
	return n ? room : NULL;
}

static void write_note(const struct way *out, bool time_cut)
{
	char room[NOTE];
	bool observed;
	const char *note = note_of(out, time_cut, &observed, room);

	if (!observed)
		jw_bool(out->members, "observed", false);
	if (note)
		jw_str(out->members, "note", str_of(note));
}

static void say_note(const struct way *out, bool time_cut)
{
	char room[NOTE];
	bool observed;
	const char *note = note_of(out, time_cut, &observed, room);

	if (note)
		way_note(out, "%s", note);
}

/* A stream, of which nothing is shown if it is not text. */
static const struct ends *text_of(const struct receipt *r, int which)
{
	return screen_binary(&r->sink.streams[which].screen) ? NULL : &r->ends[which];
}

/* Say what is not shown because it is not text. */
static void say_binary(struct buf *out, const struct sink_stream *s)
{
	char size[HUMAN_SIZE];

	if (screen_binary(&s->screen))
		buf_addf(out, "[%s of binary output]\n", human_bytes(s->bytes, size));
}

/* Have the whole output kept if something of it is left out; its number, or 0. */
static uint64_t keep(const struct way *out, struct receipt *r, const struct fit_text *texts,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (texts[i].shown.bytes)
			return keeping_end(&r->keeping, out->c->session, texts[0].shown.tail);
	return 0;
}

/* How to read what is left out; empty if it is not kept. */
static const char *where_it_is(const struct way *out, const struct ends_shown *s, uint64_t number,
			       char room[96])
{
	*room = '\0';
	if (number && !out->native)
		(void)snprintf(room, 96, "read_file path=\"output:%llu\" start_line=%lld",
			       (unsigned long long)number, (long long)s->next_line);
	return room;
}

/* How the command ended, in a line; and where all of its output is, if `number` is not 0: clients cut
 * out the middle of a long text, where that is said as well. */
static void add_end(struct buf *text, const struct proc_result *end, uint64_t number)
{
	char took[HUMAN_SIZE];

	(void)human_ms(end->duration_ms, took);
	if (end->timed_out)
		buf_addf(text, "[timed out after %s; everything it started was ended", took);
	else if (end->cancelled)
		buf_addf(text, "[%s after %s; everything it started was ended",
			 end->stopped ? "stopped by a person" : "cancelled", took);
	else if (end->signal)
		buf_addf(text, "[ended by %s%s, %s", proc_signal_name(end->signal),
			 end->oom_killed ? ", out of memory" : "", took);
	else
		buf_addf(text, "[exit %d, %s", end->exit_code, took);
	if (number)
		buf_addf(text, "; all of it: output:%llu", (unsigned long long)number);
	buf_addc(text, ']');
}

static void note_survivors(const struct way *out, const struct proc_result *r)
{
	static const char *const fates[] = {
		[SURVIVORS_END] = "ended with it",
		[SURVIVORS_KEEP] = "still running",
		[SURVIVORS_ADOPT] = "still running",
	};

	for (size_t i = 0; i < r->survivor_count && i < LIMIT_SURVIVORS; i++) {
		const struct survivor *s = &r->survivors[i];
		const struct str command = shown_command(out, s);
		char ports[96] = "", job[96] = "";
		for (size_t j = 0, n = 0; j < s->ports.count && n < sizeof ports; j++)
			n += (size_t)snprintf(ports + n, sizeof ports - n, "%s%d",
					      j ? ", " : ", port ", s->ports.port[j]);
		/* A command in a sandbox cannot signal what an earlier one has left. */
		if (r->job && out->native && runner_is_sandboxed(out->c->shared->runner))
			(void)snprintf(job, sizeof job, "; it ends with the sidecar");
		else if (r->job && out->native)
			(void)snprintf(job, sizeof job, "; kill %d ends it", s->pid);
		else if (r->job)
			(void)snprintf(job, sizeof job, "; job_output or job_stop job_id=\"%llu\"",
				       (unsigned long long)r->job);
		way_note(out, "%s: %.*s (pid %d%s)%s", fates[r->fate],
			 STR_FMT(str_upto(command, 200)), s->pid, ports, job);
	}
}

/* What matters besides how it ended. */
static void note_rest(const struct way *out, const struct receipt *r)
{
	const char *const hint = hint_of(out, r);

	say_note(out, r->time_cut);
	note_survivors(out, &r->end);
	if (hint && !r->end.survivor_count)
		way_note(out, "%s", hint);
}

int receipt_text(const struct way *out, struct result *result, struct err *e)
{
	struct receipt *const r = result->receipts.first;
	const struct sink_stream *s = &r->sink.streams[PROC_STDOUT];
	struct buf *text = out->text->text;
	struct fit_text shown = { .all = text_of(r, PROC_STDOUT), .limit = r->most };
	const struct fit fit = fit_of(out);
	char where[96];

	if (fit.bytes < shown.limit.bytes)
		shown.limit.bytes = fit.bytes;
	if (fit_ends(&fit, &shown, 1, out->c->arena, e) < 0)
		return -1;
	/* In a provider's own tool, output alone is a success. */
	const bool plain = out->native && s->bytes && !r->end.exit_code && !r->end.timed_out;
	const uint64_t number = keep(out, r, &shown, 1);
	if (!plain)
		add_end(text, &r->end, out->native ? 0 : number);
	if (s->bytes && !plain)
		buf_addc(text, '\n');
	ends_write(text, &shown.shown, where_it_is(out, &shown.shown, number, where));
	say_binary(text, s);
	note_rest(out, r);
	if (r->note)
		way_note(out, "%s", r->note);
	return 0;
}

/* What is shown of a stream, as one string. */
static void join(const struct way *out, const struct ends_shown *s, uint64_t number,
		 struct buf *text)
{
	char where[96];

	buf_reset(text, SIZE_MAX);
	if (out->c->size.bytes) {
		ends_write(text, s, where_it_is(out, s, number, where));
		return;
	}
	buf_add(text, s->head);
	if (s->bytes)
		buf_addf(text, "%s[... %lld bytes omitted ...]\n",
			 s->head.n && s->head.p[s->head.n - 1] == '\n' ? "" : "\n",
			 (long long)s->bytes);
	buf_add(text, s->tail);
}

/* Bytes that an answer has for a command, and how many of them are for other members. */
struct share {
	int64_t bytes; /* INT64_MAX: each stream has its own limit */
	int64_t others;
};

/* What is shown of both streams within the share. */
static int fit_streams(const struct receipt *r, const struct share *share, struct arena *a,
		       struct fit_text texts[2], struct err *e)
{
	const int64_t others = share->others;
	const int64_t room = share->bytes > 2 * others ? share->bytes - others : others;
	const struct fit f = { .bytes = share->bytes == INT64_MAX ? INT64_MAX : room,
			       .lines = INT64_MAX,
			       .escaped = true };

	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		texts[i] = (struct fit_text){ .all = text_of(r, i), .limit = r->most };
		if (share->bytes < r->most.bytes)
			texts[i].limit.bytes = share->bytes;
	}
	return fit_ends(&f, texts, 2, a, e);
}

/* Write stdout and stderr, and notes after that. *cut is whether something was left out, *number
 * where all of it is. */
static int write_streams(const struct way *out, struct receipt *r, const struct share *share,
			 struct str notes, bool *cut, uint64_t *number, struct err *e)
{
	static const char *const names[] = { "stdout", "stderr" };
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct fit_text texts[2];

	if (fit_streams(r, share, out->c->arena, texts, e) < 0)
		return -1;
	*number = keep(out, r, texts, ARRAY_LEN(texts));
	*cut = texts[PROC_STDOUT].shown.bytes || texts[PROC_STDERR].shown.bytes;
	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		join(out, &texts[i].shown, *number, &text);
		say_binary(&text, &r->sink.streams[i]);
		if (i == PROC_STDERR && notes.n) {
			buf_add(&text, text.n && text.p[text.n - 1] != '\n' ? STR("\n") : STR(""));
			buf_add(&text, notes);
			buf_addc(&text, '\n');
		}
		if (text.failed)
			return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
		jw_str(out->members, names[i], buf_str(&text));
	}
	return 0;
}

static void write_outcome(struct jw *w, int code)
{
	jw_object(w, "outcome");
	jw_str(w, "type", code < 0 ? STR("timeout") : STR("exit"));
	if (code >= 0)
		jw_int(w, "exit_code", code);
	jw_end(w);
}

/* A command as a provider's own shell reports it: what a text would say besides
 * how it ended is at the end of stderr, if there is room. */
static int write_native(const struct way *out, struct receipt *r, const struct share *share,
			struct err *e)
{
	AUTO_BUF notes = { .max = LIMIT_ANSWER };
	struct way_text text = { .text = &notes };
	struct way noting = *out;
	uint64_t number;
	bool cut;

	if (r->not_run) {
		jw_str(out->members, "stdout", STR(""));
		jw_str(out->members, "stderr", str_of(r->not_run));
		write_outcome(out->members, r->in_time ? 1 : -1);
		return 0;
	}
	noting.text = &text;
	note_rest(&noting, r);
	if (r->denied)
		denied_show(&notes, LIMIT_RESULT_BYTES, r->denied);
	way_clean(out, &notes, 0);
	if (!share->others && share->bytes < LIMIT_RESULT_NOTES)
		buf_reset(&notes, 0);
	if (write_streams(out, r, share, buf_str(&notes), &cut, &number, e) < 0)
		return -1;
	write_outcome(out->members, r->end.timed_out	   ? -1
				    : r->end.exit_code < 0 ? 1
							   : r->end.exit_code);
	return 0;
}

/* Each has its share of the room that those before it have left. */
static int write_list(const struct way *out, const struct receipt_list *list, struct err *e)
{
	int64_t room = way_room(out), left = 0;

	for (const struct receipt *r = list->first; r; r = r->next)
		left++;
	if (list->bytes && list->bytes < room)
		room = list->bytes;
	jw_array(out->members, "output");
	for (struct receipt *r = list->first; left > 0; r = r->next, left--) {
		const struct share share = { .bytes = room / left };
		const size_t before = jw_length(out->members);
		jw_object(out->members, NULL);
		if (write_native(out, r, &share, e) < 0)
			return -1;
		jw_end(out->members);
		const int64_t used = (int64_t)(jw_length(out->members) - before);
		room = room > used ? room - used : 0;
	}
	jw_end(out->members);
	return 0;
}

static int write_observation(const struct way *out, struct receipt *r, const struct share *share,
			     struct err *e)
{
	const char *hint = hint_of(out, r);
	struct jw *w = out->members;
	uint64_t number;
	char name[32];
	bool cut;

	if (write_streams(out, r, share, STR(""), &cut, &number, e) < 0)
		return -1;
	if (r->end.exit_code >= 0 && !r->end.timed_out)
		jw_int(w, "exit_code", r->end.exit_code);
	else
		jw_null(w, "exit_code");
	if (r->end.signal)
		jw_str(w, "signal", str_of(proc_signal_name(r->end.signal)));
	else
		jw_null(w, "signal");
	jw_bool(w, "timed_out", r->end.timed_out);
	if (r->end.stopped)
		jw_bool(w, "stopped", true);
	jw_bool(w, "truncated", cut);
	(void)snprintf(name, sizeof name, "output:%llu", (unsigned long long)number);
	if (number)
		jw_str(w, "output_id", str_of(name));
	jw_int(w, "duration_ms", r->end.duration_ms);
	write_usage(w, &r->end);
	write_survivors(out, &r->end);
	if (hint)
		jw_str(w, "hint", str_of(hint));
	write_note(out, r->time_cut);
	return 0;
}

int receipt_observation(const struct way *out, struct result *result, struct err *e)
{
	const struct receipt_list *list = &result->receipts;
	const struct share all = { way_room(out), LIMIT_RESULT_NOTES };

	if (list->listed)
		return write_list(out, list, e);
	return out->native ? write_native(out, list->first, &all, e)
			   : write_observation(out, list->first, &all, e);
}

int exit_wire(const struct way *out, struct result *r, struct err *e)
{
	(void)e;
	jw_int(out->members, "exitCode", r->exit.exit_code);
	if (r->exit.timed_out)
		jw_bool(out->members, "timedOut", true);
	if (r->exit.stopped)
		jw_bool(out->members, "stopped", true);
	if (r->exit.cut_ms)
		jw_int(out->members, "timeoutSeconds", r->exit.cut_ms / 1000);
	return 0;
}

int outputs_wire(const struct way *out, struct result *r, struct err *e)
{
	(void)e;
	jw_str(out->members, "stdout", r->outputs.text[PROC_STDOUT]);
	jw_str(out->members, "stderr", r->outputs.text[PROC_STDERR]);
	jw_int(out->members, "exit_code", r->outputs.exit_code);
	return 0;
}

int started_members(const struct way *out, struct result *r, struct err *e)
{
	(void)e;
	way_write_job(out, out->model ? "job_id" : "jobId", r->started);
	if (out->model)
		write_note(out, false);
	return 0;
}

int started_text(const struct way *out, struct result *r, struct err *e)
{
	const unsigned long long id = r->started;

	(void)e;
	way_note(out,
		 "job %llu runs in the background: job_output job_id=\"%llu\" shows its output, "
		 "job_stop ends it",
		 id, id);
	say_note(out, false);
	return 0;
}
