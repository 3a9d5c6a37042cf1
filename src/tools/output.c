/* SPDX-License-Identifier: MIT */
/* output: clean what comes, remember it; a receipt as members of an observation or as text. */

#include "tools/output.h"

#include <stdio.h>

#include "base/human.h"
#include "base/own.h"
#include "exec/limits.h"
#include "tools/denied.h"
#include "tools/limits.h"

static const char *const limit_words[] = { "none",   "timeout",	  "cpu", "file_size",
					   "memory", "processes", NULL };

static const struct field usage_fields[] = {
	{ "cpu_ms", "CPU time of all its processes", FIELD_INT },
	{ "peak_memory_bytes", "Memory of its largest process", FIELD_INT },
	{ "oom_killed", "Whether it was killed because memory ran out", FIELD_BOOL },
	{ "limit", "Which limit it ran into", FIELD_STR, .choices = limit_words },
	F_END,
};

static const struct field survivor_fields[] = {
	{ "pid", "Process number", FIELD_INT },
	{ "command", "Its command line", FIELD_STR },
	{ "ports", "Ports it listened on", FIELD_INT, FIELD_LIST },
	{ "job_id", "The job in which it continues", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

/* A command in the background has job_id alone; every other command has the rest. */
const struct field receipt_fields[] = {
	{ "stdout",
	  "Standard output; of more than 50 KiB both ends, and between them a line with "
	  "the number of bytes left out",
	  FIELD_STR, FIELD_OPTIONAL },
	{ "stderr", "Standard error, cut likewise", FIELD_STR, FIELD_OPTIONAL },
	{ "exit_code", "0 is success; 128 and more: ended by a signal; null if it was ended",
	  FIELD_INT, FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "signal", "Name of the signal that ended it, or null", FIELD_STR,
	  FIELD_NULLABLE | FIELD_OPTIONAL },
	{ "timed_out", "Whether it took longer than timeout_ms", FIELD_BOOL, FIELD_OPTIONAL },
	{ "stopped", "If it was stopped by a person", FIELD_BOOL, FIELD_OPTIONAL },
	{ "truncated", "Whether output was left out", FIELD_BOOL, FIELD_OPTIONAL },
	{ "output_id", "If so: the path under which read_file and search_files find all of it",
	  FIELD_STR, FIELD_OPTIONAL },
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
		return "What the command left running in the background continues.";
	case SURVIVORS_ADOPT:
		break;
	}
	return "What the command left running in the background continues as a job: job_output "
	       "shows "
	       "what it writes, job_stop ends it.";
}

static const char *hint_of(const struct call *c, const struct proc_result *r)
{
	/* A text says which ones. */
	if (c->denied && !c->text)
		return c->read_only
			       ? "The workspace is read-only: a command can write to /tmp and "
				 "nowhere else."
			       : "The sandbox refused what is listed in denied; rule says what "
				 "is allowed instead.";
	if (r->stopped)
		return "A person stopped this: ask before it is run again.";
	if (r->timed_out && c->native)
		return "What takes longer can be started with & and its output sent to a file.";
	if (r->timed_out)
		return "Give a larger timeout_ms if it needs more time, or run it with "
		       "background:true, which has no limit.";
	if (r->limit != PROC_LIMIT_NONE)
		return "It ran into a limit that was set for commands here: do the work in smaller "
		       "steps.";
	return r->survivor_count ? survivors_hint(r) : NULL;
}

/* What is shown of each stream, or of all together in a text. */
static struct ends_limit limit_of(const struct receipt *r, const struct call *c)
{
	enum { NOTES = 8 }; /* lines about the result */
	const bool sized = c->max_bytes || r->room != RECEIPT_ROOM;

	return (struct ends_limit){
		.bytes = r->room != RECEIPT_ROOM ? r->room
			 : sized		 ? call_room(c)
						 : LIMIT_COMMAND_OUTPUT,
		.lines = c->max_lines ? c->max_lines - NOTES : INT64_MAX,
		.head = sized ? 40 : 25,
		.at_lines = sized,
	};
}

int receipt_init(struct receipt *r, const struct call *c, int64_t room, struct err *e)
{
	*r = (struct receipt){ .call = c, .room = room, .keeping = keeping_new(c->kept) };
	const struct ends_limit limit = limit_of(r, c);
	const size_t head = (size_t)limit.bytes * limit.head / 100;

	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		r->streams[i] = (struct receipt_stream){
			.scrubber = { .rules = c->scrub, .counts = c->scrubbed },
			.plain = { .max = LIMIT_SCREEN_ASIDE },
			.clean = { .max = LIMIT_SCREEN_ASIDE + 4 * LIMIT_SCRUB_HELD },
		};
		if ((i == PROC_STDOUT || !c->text) &&
		    ends_init(&r->streams[i].ends, head, (size_t)limit.bytes - head, c->arena, e) <
			    0)
			return -1;
	}
	return 0;
}

void receipt_done(struct receipt *r)
{
	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		screen_done(&r->streams[i].screen);
		scrubber_done(&r->streams[i].scrubber);
		buf_done(&r->streams[i].plain);
		buf_done(&r->streams[i].clean);
	}
	keeping_done(&r->keeping);
}

/* Take text that a terminal would show. With `last` it is the end of the stream. */
static int take(struct receipt *r, enum proc_stream which, struct str text, bool last)
{
	struct receipt_stream *s = &r->streams[which];

	buf_reset(&s->clean, SIZE_MAX);
	if (r->call->scrub) {
		scrubber_feed(&s->scrubber, text, &s->clean);
		if (last)
			scrubber_end(&s->scrubber, &s->clean);
		text = buf_str(&s->clean);
	}
	ends_add(&r->streams[r->call->text ? PROC_STDOUT : which].ends, text);
	keeping_add(&r->keeping, text);
	return s->clean.failed ? -1 : 0;
}

/* Tell of progress: what can be shown after so many bytes more. */
static void tell(struct receipt *r, enum proc_stream which, struct str plain, size_t bytes)
{
	const struct call_progress *p = r->call->progress;
	const struct str shown = r->call->scrub ? buf_str(&r->streams[which].clean) : plain;

	if (p && p->output && (bytes || shown.n))
		p->output(p->arg, which == PROC_STDERR, shown, bytes);
}

int receipt_write(void *receipt, enum proc_stream which, struct str piece)
{
	struct receipt *r = receipt;
	struct receipt_stream *s = &r->streams[which];

	s->bytes += (int64_t)piece.n;
	const struct str plain = screen_feed(&s->screen, piece, &s->plain);
	if (s->plain.failed || take(r, which, plain, false) < 0) {
		r->failed = true; /* and the command ends */
		return -1;
	}
	tell(r, which, plain, piece.n);
	return 0;
}

/* Take what has been held back. */
static int flush(struct receipt *r, struct err *e)
{
	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		struct receipt_stream *s = &r->streams[i];
		const struct str plain = screen_end(&s->screen, &s->plain);
		if (r->failed || s->plain.failed || take(r, (enum proc_stream)i, plain, true) < 0)
			return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
		tell(r, (enum proc_stream)i, plain, 0);
	}
	return 0;
}

/* What can be shown of a stream within a limit: nothing if it is not text. */
static int show_stream(const struct receipt_stream *s, const struct ends_limit *limit,
		       struct arena *a, struct ends_shown *ret, struct err *e)
{
	if (!screen_binary(&s->screen))
		return ends_show(&s->ends, limit, a, ret, e);
	*ret = (struct ends_shown){ .head = STR("") };
	return 0;
}

/* Say what is not shown because it is not text. */
static void say_binary(struct buf *out, const struct receipt_stream *s)
{
	char size[HUMAN_SIZE];

	if (screen_binary(&s->screen))
		buf_addf(out, "[%s of binary output]\n", human_bytes(s->bytes, size));
}

/* Have the whole output kept if something of it is left out; its number, or 0. */
static uint64_t keep(struct receipt *r, const struct ends_shown *shown, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (shown[i].bytes)
			return keeping_end(&r->keeping, r->call->session, shown[0].tail);
	return 0;
}

/* How to read what is left out; empty if it is not kept. */
static const char *where_it_is(const struct ends_shown *s, uint64_t number, bool native,
			       char room[96])
{
	*room = '\0';
	if (number && !native)
		(void)snprintf(room, 96, "read_file path=\"output:%llu\" start_line=%lld",
			       (unsigned long long)number, (long long)s->next_line);
	return room;
}

/* How the command ended, in a line. */
static void write_end(struct buf *out, const struct proc_result *end)
{
	char took[HUMAN_SIZE];

	(void)human_ms(end->duration_ms, took);
	if (end->timed_out)
		buf_addf(out, "[timed out after %s; everything it started was ended]", took);
	else if (end->cancelled)
		buf_addf(out, "[%s after %s; everything it started was ended]",
			 end->stopped ? "stopped by a person" : "cancelled", took);
	else if (end->signal)
		buf_addf(out, "[ended by %s%s, %s]", proc_signal_name(end->signal),
			 end->oom_killed ? ", out of memory" : "", took);
	else
		buf_addf(out, "[exit %d, %s]", end->exit_code, took);
}

static void note_survivors(const struct call *c, const struct proc_result *r)
{
	static const char *const fates[] = {
		[SURVIVORS_END] = "ended with it",
		[SURVIVORS_KEEP] = "still running",
		[SURVIVORS_ADOPT] = "still running",
	};

	for (size_t i = 0; i < r->survivor_count && i < LIMIT_SURVIVORS; i++) {
		const struct survivor *s = &r->survivors[i];
		const struct str command = call_shown_command(c, s->command, sizeof s->command);
		char ports[96] = "", job[96] = "";
		for (size_t j = 0, n = 0; j < s->ports.count && n < sizeof ports; j++)
			n += (size_t)snprintf(ports + n, sizeof ports - n, "%s%d",
					      j ? ", " : ", port ", s->ports.port[j]);
		/* A command in a sandbox cannot signal what an earlier one has left. */
		if (r->job && c->native && runner_is_sandboxed(c->runner))
			(void)snprintf(job, sizeof job, "; it ends with the sidecar");
		else if (r->job && c->native)
			(void)snprintf(job, sizeof job, "; kill %d ends it", s->pid);
		else if (r->job)
			(void)snprintf(job, sizeof job, "; job_output or job_stop job_id=\"%llu\"",
				       (unsigned long long)r->job);
		call_note(c, "%s: %.*s (pid %d%s)%s", fates[r->fate],
			  STR_FMT(str_upto(command, 200)), s->pid, ports, job);
	}
}

/* What matters besides how it ended. */
static void note_rest(const struct call *c, const struct proc_result *end)
{
	note_survivors(c, end);
	if (hint_of(c, end) && !end->survivor_count)
		call_note(c, "%s", hint_of(c, end));
}

static int show_text(struct receipt *r, struct call *c, const struct proc_result *end,
		     struct err *e)
{
	const struct ends_limit limit = limit_of(r, c);
	const struct receipt_stream *s = &r->streams[PROC_STDOUT];
	struct buf *out = c->text->text;
	struct ends_shown shown;
	char where[96];

	if (show_stream(s, &limit, c->arena, &shown, e) < 0)
		return -1;
	/* In a provider's own tool, output alone is a success. */
	const bool plain = c->native && s->bytes && !end->exit_code && !end->timed_out;
	if (!plain)
		write_end(out, end);
	if (s->bytes && !plain)
		buf_addc(out, '\n');
	ends_write(out, &shown, where_it_is(&shown, keep(r, &shown, 1), c->native, where));
	say_binary(out, s);
	note_rest(c, end);
	return 0;
}

/* What is shown of a stream, as one string. */
static void join(struct buf *out, const struct call *c, const struct ends_shown *s, uint64_t number)
{
	char where[96];

	buf_reset(out, SIZE_MAX);
	if (c->max_bytes) {
		ends_write(out, s, where_it_is(s, number, c->native, where));
		return;
	}
	buf_add(out, s->head);
	if (s->bytes)
		buf_addf(out, "%s[... %lld bytes omitted ...]\n",
			 s->head.n && s->head.p[s->head.n - 1] == '\n' ? "" : "\n",
			 (long long)s->bytes);
	buf_add(out, s->tail);
}

static int64_t encoded(const struct ends_shown *s)
{
	return (int64_t)(jw_escaped_length(s->head) + jw_escaped_length(s->tail));
}

/* Show less of the streams until both fit into the result; the shorter one is spared. */
static int fit(const struct receipt *r, const struct call *c, struct ends_shown shown[2],
	       struct err *e)
{
	struct ends_limit limits[2] = { limit_of(r, c), limit_of(r, c) };
	/* Members of the result. */
	const int64_t others = r->room == RECEIPT_ROOM ? LIMIT_RESULT_NOTES : 0;
	const int64_t room = limits[0].bytes > 2 * others ? limits[0].bytes - others : others;

	for (;;) {
		for (int i = PROC_STDOUT; i <= PROC_STDERR; i++)
			if (show_stream(&r->streams[i], &limits[i], c->arena, &shown[i], e) < 0)
				return -1;
		if (!c->max_bytes && others)
			return 0;
		const int64_t out = encoded(&shown[PROC_STDOUT]),
			      err = encoded(&shown[PROC_STDERR]);
		if (out + err <= room)
			return 0;
		const int larger = err > out;
		const int64_t has = larger ? err : out, rest = larger ? out : err;
		const int64_t may = room - rest > room / 2 ? room - rest : room / 2;
		const int64_t bytes =
			(int64_t)(shown[larger].head.n + shown[larger].tail.n) * may / has;
		limits[larger].bytes =
			bytes < limits[larger].bytes ? bytes : limits[larger].bytes / 2;
	}
}

/* Write stdout and stderr, and notes after that. *ret is whether something was left out, *number
 * where all of it is. */
static int write_streams(struct receipt *r, struct call *c, struct str notes, bool *ret,
			 uint64_t *number, struct err *e)
{
	static const char *const names[] = { "stdout", "stderr" };
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct ends_shown shown[2];

	if (fit(r, c, shown, e) < 0)
		return -1;
	*number = keep(r, shown, ARRAY_LEN(shown));
	*ret = shown[PROC_STDOUT].bytes || shown[PROC_STDERR].bytes;
	for (int i = PROC_STDOUT; i <= PROC_STDERR; i++) {
		join(&text, c, &shown[i], *number);
		say_binary(&text, &r->streams[i]);
		if (i == PROC_STDERR && notes.n) {
			buf_add(&text, text.n && text.p[text.n - 1] != '\n' ? STR("\n") : STR(""));
			buf_add(&text, notes);
			buf_addc(&text, '\n');
		}
		if (text.failed)
			return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
		jw_str(c->out, names[i], buf_str(&text));
	}
	return 0;
}

int receipt_write_streams(struct receipt *r, struct call *c, const struct proc_result *end,
			  struct err *e)
{
	AUTO_BUF notes = { .max = LIMIT_ANSWER };
	struct call_text text = { .text = &notes };
	struct call noting = *c;
	uint64_t number;
	bool cut;

	noting.text = &text;
	note_rest(&noting, end);
	if (c->denied)
		denied_show(&notes, LIMIT_RESULT_BYTES, c->denied);
	if (r->room != RECEIPT_ROOM && r->room < LIMIT_RESULT_NOTES)
		buf_reset(&notes, 0);
	return flush(r, e) < 0 ? -1 : write_streams(r, c, buf_str(&notes), &cut, &number, e);
}

int receipt_show(struct receipt *r, struct call *c, const struct proc_result *end, struct err *e)
{
	const char *hint = hint_of(c, end);
	uint64_t number;
	char name[32];
	bool cut;

	if (flush(r, e) < 0)
		return -1;
	if (c->text)
		return show_text(r, c, end, e);
	if (write_streams(r, c, STR(""), &cut, &number, e) < 0)
		return -1;
	if (end->exit_code >= 0 && !end->timed_out)
		jw_int(c->out, "exit_code", end->exit_code);
	else
		jw_null(c->out, "exit_code");
	if (end->signal)
		jw_str(c->out, "signal", str_of(proc_signal_name(end->signal)));
	else
		jw_null(c->out, "signal");
	jw_bool(c->out, "timed_out", end->timed_out);
	if (end->stopped)
		jw_bool(c->out, "stopped", true);
	jw_bool(c->out, "truncated", cut);
	(void)snprintf(name, sizeof name, "output:%llu", (unsigned long long)number);
	if (number)
		jw_str(c->out, "output_id", str_of(name));
	jw_int(c->out, "duration_ms", end->duration_ms);
	write_usage(c->out, end);
	write_survivors(c, end);
	if (hint)
		jw_str(c->out, "hint", str_of(hint));
	return 0;
}
