/* SPDX-License-Identifier: MIT */
/* live: a list of calls, taps on their output, and the events that come of it. */

#include "service/live.h"

#include <string.h>

#include "base/io.h"
#include "base/own.h"
#include "base/utf8.h"
#include "service/limits.h"
#include "service/values.h"
#include "tools/changed.h"

int live_open(struct live *l, const struct scrub *secrets, struct journal *journal, struct err *e)
{
	l->events = events_new();
	if (!l->events)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to keep events");
	l->secrets = secrets;
	l->journal = journal;
	return 0;
}

void live_done(struct live *l)
{
	events_free(l->events);
	l->events = NULL;
}

/* Whether output waits to be told. The caller holds the call's lock. */
static bool output_waits(const struct live_call *lc)
{
	return lc->output[0].clean.n || lc->output[1].clean.n;
}

/* Tell the output that is ready. The caller holds the ring and the call's lock. */
static void tell_output(struct live_call *lc, int64_t now_us)
{
	for (int i = 0; i < 2; i++) {
		struct buf *text = &lc->output[i].clean;
		if (text->n == 0)
			continue;
		struct event event = {
			.type = EVENT_OUTPUT,
			.call = lc->id,
			.is_stderr = i == 1,
			.text = buf_str(text),
		};
		events_add_held(lc->live->events, &event, now_us);
		text->n = 0;
		lc->told_us = now_us;
	}
}

static void start_output(struct live_call *lc)
{
	(void)pthread_mutex_init(&lc->lock, NULL);
	for (int i = 0; i < 2; i++)
		lc->output[i] = (struct live_output){
			.scrubber = { .rules = lc->live->secrets },
			.clean = { .max = LIMIT_EVENT_OUTPUT + 2 * LIMIT_SCRUB_HELD },
		};
	lc->taken = lc->dropped = lc->told_us = 0;
	lc->has_output = true;
}

static void tell_waiting(struct live_call *lc, int64_t now_us)
{
	events_hold(lc->live->events);
	(void)pthread_mutex_lock(&lc->lock);
	tell_output(lc, now_us);
	(void)pthread_mutex_unlock(&lc->lock);
	events_release(lc->live->events);
}

/* Take output on its way. Of what is not in the ring only the length is known. */
static void take_output(struct live_call *lc, bool is_stderr, struct str piece)
{
	struct live_output *o = &lc->output[is_stderr];
	const int64_t now_us = io_now_us();

	if (!lc->has_output)
		start_output(lc);
	(void)pthread_mutex_lock(&lc->lock);
	const struct str kept = str_upto(piece, (size_t)(LIMIT_EVENT_OUTPUT - lc->taken));
	const struct str whole = kept.n < piece.n ? str_upto(kept, utf8_whole(kept)) : kept;
	lc->taken += (int64_t)whole.n;
	lc->dropped += (int64_t)(piece.n - whole.n);
	if (whole.n < piece.n)
		lc->taken = LIMIT_EVENT_OUTPUT;
	if (whole.n)
		scrubber_feed(&o->scrubber, whole, &o->clean);
	const bool waits = output_waits(lc);
	const bool due = now_us - lc->told_us >= LIMIT_EVENT_JOIN_MS * 1000;
	(void)pthread_mutex_unlock(&lc->lock);
	if (!waits)
		return;
	/* Who watches tells it when its time has come, if no more output does. */
	if (due)
		tell_waiting(lc, now_us);
	else
		events_wake(lc->live->events);
}

static int tap_begin(void *arg)
{
	struct live_call *lc = arg;

	return lc->stream->begin(lc->stream->arg);
}

static int tap_emit(void *arg, bool is_stderr, struct str text)
{
	struct live_call *lc = arg;

	lc->bytes += (int64_t)text.n;
	if (lc->live->events)
		take_output(lc, is_stderr, text);
	return lc->stream->emit(lc->stream->arg, is_stderr, text);
}

static void tap_output(void *arg, bool is_stderr, struct str piece, size_t bytes)
{
	struct live_call *lc = arg;

	take_output(lc, is_stderr, piece);
	if (lc->progress && lc->progress->output)
		lc->progress->output(lc->progress->arg, is_stderr, piece, bytes);
}

static void tap_seen(void *arg, int64_t files)
{
	const struct live_call *lc = arg;

	lc->progress->seen(lc->progress->arg, files);
}

static void tap(struct live_call *lc, struct call *c)
{
	lc->stream = c->stream;
	lc->progress = c->progress;
	lc->tap_stream = (struct call_stream){ tap_begin, tap_emit, lc };
	if (c->stream)
		c->stream = &lc->tap_stream;
	if (!lc->live->events)
		return;
	lc->tap_progress = (struct call_progress){ .output = tap_output, .arg = lc };
	if (c->progress && c->progress->seen)
		lc->tap_progress.seen = tap_seen;
	c->progress = &lc->tap_progress;
}

/* From now on it is in the list, and its start in the ring. */
static void enter(struct live *l, struct live_call *lc, struct event *start)
{
	events_hold(l->events);
	lc->before = NULL;
	lc->next = l->first;
	if (l->first)
		l->first->before = lc;
	l->first = lc;
	events_add_held(l->events, start, lc->account->began_us);
	events_release(l->events);
}

static void leave(struct live *l, struct live_call *lc, struct event *end, int64_t now_us)
{
	events_hold(l->events);
	if (lc->next)
		lc->next->before = lc->before;
	if (lc->before)
		lc->before->next = lc->next;
	else
		l->first = lc->next;
	events_add_held(l->events, end, now_us);
	events_release(l->events);
	/* No other thread knows of it any more. */
	if (lc->has_output)
		(void)pthread_mutex_destroy(&lc->lock);
	if (lc->cancel == &lc->own)
		cancel_done(&lc->own);
}

/* What the start of a call tells, without its arguments. */
static struct event start_of(const struct live_call *lc)
{
	const struct account *a = lc->account;

	return (struct event){
		.type = EVENT_CALL_START,
		.call = lc->id,
		.mcp = lc->about.mcp,
		.uid = a->uid,
		.pid = a->pid,
		.tool = str_upto(a->tool, LIMIT_SUBJECT),
		.subject = a->subject,
		.session = a->session,
		.client = str_upto(lc->about.client, LIMIT_LOG_SESSION),
	};
}

/* Tell the start of a call whose arguments are not small. */
static void enter_large(struct live *l, struct live_call *lc, struct event *start)
{
	char room[512] UNINITIALISED;
	struct buf small = buf_over(room, sizeof room);
	AUTO_BUF large = { .max = LIMIT_EVENT_ARGUMENTS };

	start->details =
		values_write(l->secrets, lc->about.arguments, start->subject, &small, &large);
	enter(l, lc, start);
}

void live_begin(struct live *l, struct live_call *lc, const struct account *a, struct call *c)
{
	char room[VALUES_PACKED] UNINITIALISED;

	lc->live = l;
	lc->bytes = 0;
	tap(lc, c);
	if (!l->events)
		return;
	lc->id = (uint64_t)a->id;
	lc->account = a;
	if (!c->cancel) {
		lc->own = (struct cancel)CANCEL_INIT;
		c->cancel = &lc->own;
	}
	lc->cancel = c->cancel;
	atomic_init(&lc->has_output, false);
	struct event start = start_of(lc);
	if (values_pack(l->secrets, lc->about.arguments, a->subject, room, &start.details))
		enter(l, lc, &start);
	else
		enter_large(l, lc, &start);
}

/* The rest of the output, which nothing can change any more. */
static void end_output(struct live_call *lc)
{
	(void)pthread_mutex_lock(&lc->lock);
	for (int i = 0; i < 2; i++)
		scrubber_end(&lc->output[i].scrubber, &lc->output[i].clean);
	(void)pthread_mutex_unlock(&lc->lock);
	tell_waiting(lc, io_now_us());
	(void)pthread_mutex_lock(&lc->lock);
	for (int i = 0; i < 2; i++) {
		scrubber_done(&lc->output[i].scrubber);
		buf_done(&lc->output[i].clean);
	}
	(void)pthread_mutex_unlock(&lc->lock);
}

/* How many lines it adds and removes; null if that is not known, or would take long. */
static void write_size(struct live *l, const struct change_item *item, int64_t *left, struct jw *w)
{
	struct diff_size size;

	*left -= item->before.size + item->after.size;
	if (!l->journal || *left < 0 || !changed_size(l->journal, item, LIMIT_EVENT_DIFF, &size)) {
		jw_null(w, "added");
		jw_null(w, "removed");
		return;
	}
	jw_int(w, "added", size.added);
	jw_int(w, "removed", size.removed);
}

static void tell_change(struct live *l, uint64_t call, const struct change *change)
{
	AUTO_BUF files = { .max = LIMIT_ANSWER };
	struct value_cleaner c = { .secrets = l->secrets, .aside = { .max = LIMIT_ANSWER } };
	const struct jw_filter filter = { .apply = value_clean, .arg = &c };
	struct jw w = jw_to(&files);
	int64_t count = 0, left = LIMIT_EVENT_DIFFS;

	jw_set_filter(&w, &filter);
	jw_array(&w, NULL);
	for (size_t i = 0; i < change->item_count; i++) {
		const struct change_item *item = &change->items[i];
		if (item->kind == ITEM_TIMES || ++count > LIMIT_EVENT_FILES)
			continue;
		jw_object(&w, NULL);
		jw_str(&w, "path", item->path);
		jw_str(&w, "kind", str_of(changed_kind(item->kind)));
		write_size(l, item, &left, &w);
		jw_end(&w);
	}
	jw_end(&w);
	struct event event = {
		.type = EVENT_CHANGE,
		.call = call,
		.change = change->id,
		.count = count,
		.details = files.failed || c.failed ? STR("[]") : buf_str(&files),
	};
	events_add(l->events, &event);
	buf_done(&c.aside);
}

void live_change(struct live *l, uint64_t call, const struct change *change)
{
	if (l->events)
		tell_change(l, call, change);
}

static void tell_refusal(struct live *l, uint64_t call, const char *what, struct str subject,
			 const char *why)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };
	struct event event = {
		.type = EVENT_REFUSED,
		.call = call,
		.tool = str_of(what),
		.subject = subject,
		.text = scrub_text(l->secrets, NULL, str_of(why), &aside),
	};

	events_add(l->events, &event);
}

void live_denied(struct live *l, uint64_t call, const char *what, const char *path, const char *why)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };

	if (l->events)
		tell_refusal(l, call, what, account_clean(l->secrets, str_of(path), &aside), why);
}

void live_refused(struct live *l, const char *what, struct str subject, const char *why)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };

	if (l->events)
		tell_refusal(l, 0, what, account_clean(l->secrets, subject, &aside), why);
}

/* The beginning of a result, as a person reads it: its texts without escapes, which could also hide
 * a secret. */
static struct str excerpt(struct str result, char room[static LIMIT_EVENT_RESULT])
{
	size_t n = 0;

	while (result.n && n < LIMIT_EVENT_RESULT) {
		const struct str most = str_upto(result, LIMIT_EVENT_RESULT - n);
		const ptrdiff_t at = str_index(most, '\\');
		const struct str plain = str_upto(most, at < 0 ? most.n : (size_t)at);
		memcpy(room + n, plain.p, plain.n);
		n += plain.n;
		result = str_from(result, plain.n);
		if (at < 0)
			continue;
		const char next = result.n > 1 ? result.p[1] : 0;
		const bool escaped = next && strchr("nt\"\\/", next);
		room[n++] = !escaped ? '\\' : next == 'n' ? '\n' : next == 't' ? '\t' : next;
		result = str_from(result, escaped ? 2 : 1);
	}
	return (struct str){ room, n };
}

/* What is kept of the result must have no secrets. */
static void tell_end(struct live_call *lc, const struct account *a, struct str kept, int64_t now_us)
{
	struct event event = {
		.type = EVENT_CALL_END,
		.call = lc->id,
		.code = a->code,
		.end = a->end,
		.ms = a->ms,
		.bytes = a->bytes,
		.dropped = lc->has_output ? lc->dropped : 0,
		.change = a->change,
		.details = kept,
	};

	leave(lc->live, lc, &event, now_us);
}

/* The end of a call of which there is more to tell. The times of its events are in their order. */
static void tell_all(struct live_call *lc, const struct account *a, const struct change *change,
		     const char *why, struct str result)
{
	struct live *l = lc->live;
	char room[LIMIT_EVENT_RESULT] UNINITIALISED;
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };

	if (lc->has_output)
		end_output(lc);
	if (why && account_refusal(a->code))
		tell_refusal(l, lc->id, account_refusal(a->code), a->subject, why);
	if (change->id && !(change->flags & CHANGE_OPEN))
		tell_change(l, lc->id, change);
	struct str text = why ? str_of(why) : excerpt(result, room);
	if (text.n == LIMIT_EVENT_RESULT)
		text = str_upto(text, scrub_decided(l->secrets, text));
	tell_end(lc, a, scrub_text(l->secrets, NULL, text, &aside), io_now_us());
}

void live_end(struct live_call *lc, const struct account *a, const struct change *change,
	      const char *why, struct str result)
{
	if (!lc->live->events)
		return;
	if (lc->has_output || change->id || why || result.n)
		tell_all(lc, a, change, why, result);
	else
		tell_end(lc, a, STR(""), a->ended_us);
}

static struct live_call *find(struct live *l, uint64_t call)
{
	struct live_call *lc = l->first;

	while (lc && lc->id != call)
		lc = lc->next;
	return lc;
}

/* A job is told of like the call that it comes from, which is still under way. */
static void tell_job_start(struct live *l, const struct job_state *job)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };
	const struct str subject = account_clean(l->secrets, str_of(job->command), &aside);
	const int64_t now_us = io_now_us();

	events_hold(l->events);
	const struct live_call *lc = find(l, job->call);
	struct event event = lc ? start_of(lc) : (struct event){ .uid = -1 };
	event.type = EVENT_JOB_START;
	event.call = job->call;
	event.job = job->id;
	event.subject = subject;
	events_add_held(l->events, &event, now_us);
	events_release(l->events);
}

void live_job(void *live, const struct job_state *job)
{
	struct live *l = live;
	struct event event = {
		.type = EVENT_JOB_END,
		.call = job->call,
		.job = job->id,
		.code = job->failed	 ? job->err.code
			: job->timed_out ? ERR_TIMED_OUT
			: job->cancelled ? ERR_CANCELLED
					 : ERR_NONE,
		.end = { .ran = !job->failed,
			 .timed_out = job->timed_out,
			 .cancelled = job->cancelled,
			 .exit_code = job->exit_code,
			 .signal = job->signal },
		.ms = job->ran_ms,
		.bytes = job->cursor,
	};

	if (job->running)
		tell_job_start(l, job);
	else
		events_add(l->events, &event);
}

int live_tell_output(struct live *l)
{
	const int64_t now_us = io_now_us();
	int64_t wait_ms = -1;

	events_hold(l->events);
	for (struct live_call *lc = l->first; lc; lc = lc->next) {
		if (!lc->has_output)
			continue;
		(void)pthread_mutex_lock(&lc->lock);
		const int64_t left = LIMIT_EVENT_JOIN_MS - (now_us - lc->told_us) / 1000;
		if (!output_waits(lc))
			;
		else if (left <= 0)
			tell_output(lc, now_us);
		else if (wait_ms < 0 || left < wait_ms)
			wait_ms = left;
		(void)pthread_mutex_unlock(&lc->lock);
	}
	events_release(l->events);
	return (int)wait_ms;
}

struct str live_clean(const struct live *l, struct str text, struct buf *aside)
{
	return scrub_text(l->secrets, NULL, text, aside);
}

bool live_stop(struct live *l, uint64_t call)
{
	events_hold(l->events);
	struct live_call *lc = find(l, call);
	if (lc)
		cancel_ask_by_person(lc->cancel);
	events_release(l->events);
	return lc;
}

int64_t live_running(struct live *l)
{
	int64_t n = 0;

	events_hold(l->events);
	for (const struct live_call *lc = l->first; lc; lc = lc->next)
		n++;
	events_release(l->events);
	return n;
}

bool live_is_running(struct live *l, uint64_t call)
{
	events_hold(l->events);
	const bool found = find(l, call);
	events_release(l->events);
	return found;
}
