/* SPDX-License-Identifier: MIT */
/* output: a head that fills once with a tail that is a ring, and the end of a command. */

#include "tools/output.h"

#include <stdio.h>
#include <string.h>

/* What is remembered of either end: more than is shown, to recognise a secret across the cut. */
enum {
	HEAD = ENDS_HEAD + LIMIT_SCRUB_HELD,
	TAIL = ENDS_TAIL + LIMIT_SCRUB_HELD,
};

int ends_init(struct ends *o, struct arena *a, struct err *e)
{
	char *bytes = arena_alloc(a, HEAD + TAIL);

	if (!bytes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
	*o = (struct ends){ .bytes = bytes };
	return 0;
}

void ends_add(struct ends *o, struct str piece)
{
	char *const tail = o->bytes + HEAD;

	if (o->total < HEAD) {
		const struct str head = str_upto(piece, (size_t)(HEAD - o->total));
		if (head.n)
			memcpy(o->bytes + o->total, head.p, head.n);
		o->total += (int64_t)head.n;
		piece = str_from(piece, head.n);
	}
	/* Of a piece that is longer than the ring, only the end is kept. */
	if (piece.n > TAIL) {
		o->total += (int64_t)(piece.n - TAIL);
		piece = str_from(piece, piece.n - TAIL);
	}
	while (piece.n) {
		const size_t at = (size_t)((o->total - HEAD) % TAIL);
		const struct str part = str_upto(piece, TAIL - at);
		memcpy(tail + at, part.p, part.n);
		o->total += (int64_t)part.n;
		piece = str_from(piece, part.n);
	}
}

bool ends_cut(const struct ends *o)
{
	return o->total > LIMIT_COMMAND_OUTPUT;
}

/* Everything that is remembered, in order. If that is less than the total, the missing part comes
 * after the first HEAD bytes. */
static struct str remembered(const struct ends *o, struct arena *a)
{
	const char *const ring = o->bytes + HEAD;
	char *all = arena_alloc(a, HEAD + TAIL);

	if (!all)
		return (struct str){ NULL, 0 };
	if (o->total <= HEAD + TAIL) {
		memcpy(all, o->bytes, (size_t)o->total);
		return (struct str){ all, (size_t)o->total };
	}
	const size_t start = (size_t)((o->total - HEAD) % TAIL);
	memcpy(all, o->bytes, HEAD);
	memcpy(all + HEAD, ring + start, TAIL - start);
	memcpy(all + HEAD + TAIL - start, ring, start);
	return (struct str){ all, HEAD + TAIL };
}

struct str ends_text(const struct ends *o, const struct scrub *rules, struct arena *a)
{
	enum { MARK = 64 };
	struct str head = remembered(o, a), tail = head;
	char *text = ends_cut(o) ? arena_alloc(a, LIMIT_COMMAND_OUTPUT + MARK) : NULL;

	if (!text)
		return ends_cut(o) ? (struct str){ NULL, 0 } : head;
	if ((int64_t)head.n < o->total) {
		head = str_upto(head, HEAD);
		tail = str_from(tail, HEAD);
	}
	head = str_upto(head, scrub_cut(rules, head, ENDS_HEAD).from);
	tail = str_from(tail, scrub_cut(rules, tail, tail.n - ENDS_TAIL).to);
	tail = str_from(tail, utf8_cut_rest(tail));
	size_t n = utf8_whole(head);
	memcpy(text, head.p, n);
	const int64_t omitted = o->total - (int64_t)n - (int64_t)tail.n;
	n += (size_t)snprintf(text + n, MARK, "%s[... %lld bytes omitted ...]\n",
			      n && text[n - 1] == '\n' ? "" : "\n", (long long)omitted);
	memcpy(text + n, tail.p, tail.n);
	return (struct str){ text, n + tail.n };
}

static const char *const limit_words[] = { "none",   "timeout",	  "cpu", "file_size",
					   "memory", "processes", NULL };

static const struct field usage_fields[] = {
	{ "cpu_ms", "CPU time of all its processes", FIELD_INT },
	{ "peak_memory_bytes", "Memory of its largest process", FIELD_INT },
	{ "oom_killed", "Whether it was killed for want of memory", FIELD_BOOL },
	{ "limit", "Which limit it ran into", FIELD_STR, .choices = limit_words },
	F_END,
};

static const struct field survivor_fields[] = {
	{ "pid", "Process number", FIELD_INT },
	{ "command", "Its command line", FIELD_STR },
	{ "ports", "Ports it listened on", FIELD_INT, FIELD_LIST },
	{ "job_id", "The job in which it goes on", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

/* A command in the background has job_id alone; every other command has the rest. */
const struct field receipt_fields[] = {
	{ "stdout",
	  "Standard output; of more than 50 KiB both ends, and between them a line with "
	  "the number of bytes left out",
	  FIELD_STR, FIELD_OPTIONAL },
	{ "stderr", "Standard error, cut likewise", FIELD_STR, FIELD_OPTIONAL },
	{ "exit_code", "0 is success; 128 and more: ended by a signal; null after a timeout",
	  FIELD_INT, FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "signal", "Name of the signal that ended it, or null", FIELD_STR,
	  FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "timed_out", "Whether it took longer than timeout_ms", FIELD_BOOL, FIELD_OPTIONAL },
	{ "truncated", "Whether output was left out", FIELD_BOOL, FIELD_OPTIONAL },
	{ "duration_ms", "How long it took", FIELD_INT, FIELD_OPTIONAL },
	{ "usage", "What it cost", FIELD_OBJECT, FIELD_OPTIONAL, usage_fields },
	{ "survivors", "Processes it left running; hint tells what became of them", FIELD_OBJECT,
	  FIELD_LIST | FIELD_OPTIONAL, survivor_fields },
	{ "hint", "Advice, if there is any", FIELD_STR, FIELD_OPTIONAL },
	{ "job_id", "With background: the job, and nothing else", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

static void write_usage(struct jw *w, const struct proc_result *r)
{
	jw_object(w, "usage");
	jw_int(w, "cpu_ms", r->cpu_ms);
	jw_int(w, "peak_memory_bytes", r->peak_memory_bytes);
	jw_bool(w, "oom_killed", r->oom_killed);
	jw_str(w, "limit", str_of(proc_limit_name(r->limit)));
	jw_end(w);
}

static void write_survivors(struct call *c, const struct proc_result *r)
{
	struct jw *w = c->out;

	jw_array(w, "survivors");
	for (size_t i = 0; i < r->survivor_count && i < LIMIT_SURVIVORS; i++) {
		const struct survivor *s = &r->survivors[i];
		jw_object(w, NULL);
		jw_int(w, "pid", s->pid);
		jw_str(w, "command", call_shown_command(c, s->command, sizeof s->command));
		call_write_ports(c, &s->ports);
		if (r->job)
			call_write_job(c, "job_id", r->job);
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
		return "What the command left running in the background goes on.";
	case SURVIVORS_ADOPT:
		break;
	}
	return "What the command left running in the background goes on as a job: job_output shows "
	       "what it writes, job_stop ends it.";
}

static const char *hint_of(const struct call *c, const struct proc_result *r)
{
	if (r->denied && c->read_only)
		return "The workspace is read-only: a command can write to /tmp and nowhere else.";
	if (r->denied)
		return "The sandbox refused a write outside the workspace: write below the "
		       "workspace or to /tmp.";
	if (r->timed_out)
		return "Give a larger timeout_ms if it needs more time, or run it with "
		       "background:true, which has no limit.";
	if (r->limit != PROC_LIMIT_NONE)
		return "It ran into a limit that was set for commands here: do the work in smaller "
		       "steps.";
	return r->survivor_count ? survivors_hint(r) : NULL;
}

int receipt_init(struct receipt *r, const struct call *c, struct err *e)
{
	struct ends out, err;

	if (ends_init(&out, c->arena, e) < 0 || ends_init(&err, c->arena, e) < 0)
		return -1;
	*r = (struct receipt){ c->progress, { [PROC_STDOUT] = out, [PROC_STDERR] = err } };
	return 0;
}

int receipt_write(void *receipt, enum proc_stream which, struct str piece)
{
	struct receipt *r = receipt;

	ends_add(&r->ends[which], piece);
	if (r->progress && r->progress->output)
		r->progress->output(r->progress->arg, which == PROC_STDERR, piece, piece.n);
	return 0;
}

int receipt_show(const struct receipt *r, struct call *c, const struct proc_result *end,
		 struct err *e)
{
	const struct ends *const out = &r->ends[PROC_STDOUT], *const err = &r->ends[PROC_STDERR];
	const struct str out_text = ends_text(out, c->scrub, c->arena);
	const struct str err_text = ends_text(err, c->scrub, c->arena);
	const char *hint = hint_of(c, end);

	if (!out_text.p || !err_text.p)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
	jw_str(c->out, "stdout", out_text);
	jw_str(c->out, "stderr", err_text);
	if (end->exit_code >= 0 && !end->timed_out)
		jw_int(c->out, "exit_code", end->exit_code);
	else
		jw_null(c->out, "exit_code");
	if (end->signal)
		jw_str(c->out, "signal", str_of(proc_signal_name(end->signal)));
	else
		jw_null(c->out, "signal");
	jw_bool(c->out, "timed_out", end->timed_out);
	jw_bool(c->out, "truncated", ends_cut(out) || ends_cut(err));
	jw_int(c->out, "duration_ms", end->duration_ms);
	write_usage(c->out, end);
	write_survivors(c, end);
	if (hint)
		jw_str(c->out, "hint", str_of(hint));
	return 0;
}
