/* SPDX-License-Identifier: MIT */
/* live: a list of calls, their output, and the events that come of it. */

#include "service/live.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/utf8.h"
#include "changes/content.h"
#include "changes/journal.h"
#include "changes/limits.h"
#include "guard/guard.h"
#include "service/limits.h"

/* Its files are read when somebody looks. */
void live_change(struct live *l, uint64_t call, const struct change *change)
{
	struct event event = { .type = EVENT_CHANGE, .call = call, .change = change->id };

	for (int kind = 0; kind < ITEM_TIMES; kind++)
		event.count += change->counts[kind];
	if (l->events)
		events_add(l->events, &event);
}

static void tell_foreign(void *live, const struct change *change)
{
	live_change(live, 0, change);
}

int live_listen(const struct live *l)
{
	struct store_facts facts;
	AUTO_FD fd = l->journal ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;

	if (fd < 0)
		return -1;
	store_get_facts(journal_store(l->journal), &facts);
	return inotify_add_watch(fd, facts.path, IN_MODIFY) < 0 ? -1 : TAKE(fd, -1);
}

void live_heard(struct live *l, int listens)
{
	char news[4096];

	while (read(listens, news, sizeof news) > 0)
		;
	journal_refresh(l->journal);
}

int live_open(struct live *l, const struct scrub *secrets, struct journal *journal,
	      struct roster *roster, struct err *e)
{
	l->events = events_new();
	if (!l->events)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to keep events");
	l->secrets = secrets;
	l->journal = journal;
	l->roster = roster;
	if (journal)
		journal_tell(journal, tell_foreign, l);
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
	return lc->output[0].n || lc->output[1].n;
}

/* Tell the output that is ready. The caller holds the ring and the call's lock. */
static void tell_output(struct live_call *lc, int64_t now_us, int64_t dropped)
{
	for (int i = 0; i < 2; i++) {
		struct buf *text = &lc->output[i];
		if (text->n == 0)
			continue;
		struct event event = {
			.type = EVENT_OUTPUT,
			.call = lc->id,
			.is_stderr = i == 1,
			.dropped = TAKE(dropped, 0),
			.text = buf_str(text),
		};
		events_add_held(lc->live->events, &event, now_us);
		text->n = 0;
		lc->told_us = now_us;
	}
}

/* A piece of what may be the end of the output; its text follows. */
struct piece {
	uint16_t n;
	bool is_stderr;
};

static struct str piece_at(const struct buf *end, size_t at, struct piece *ret)
{
	memcpy(ret, end->p + at, sizeof *ret);
	return (struct str){ end->p + at + sizeof *ret, ret->n };
}

/* Forget the oldest output until at most so many bytes are left, with those of their heads. */
static void drop_oldest(struct live_call *lc, size_t most)
{
	struct piece p;
	size_t at = 0;

	while (lc->end.n - at > most) {
		at += sizeof p + piece_at(&lc->end, at, &p).n;
		lc->dropped += p.n;
	}
	buf_drop(&lc->end, at);
}

/* Keep what may be the end of the output. */
static void keep_end(struct live_call *lc, bool is_stderr, struct str text)
{
	while (text.n) {
		const struct str most = str_upto(text, LIMIT_EVENT_OUTPUT_PIECE);
		const size_t whole = most.n < text.n ? utf8_whole(most) : most.n;
		const struct str part = str_upto(most, whole ? whole : most.n);
		const struct piece p = { (uint16_t)part.n, is_stderr };
		if (lc->end.n + sizeof p + part.n > lc->end.max)
			drop_oldest(lc, LIMIT_EVENT_OUTPUT_HALF);
		if (buf_fit(&lc->end, sizeof p + part.n)) {
			buf_add(&lc->end, (struct str){ (const char *)&p, sizeof p });
			buf_add(&lc->end, part);
		} else {
			lc->dropped += (int64_t)part.n;
		}
		text = str_from(text, part.n);
	}
}

/* Tell the end. The caller holds the ring and the call's lock. */
static void tell_end_of_output(struct live_call *lc, int64_t now_us)
{
	struct piece p;

	drop_oldest(lc, LIMIT_EVENT_OUTPUT_HALF);
	int64_t before = lc->dropped;
	for (size_t at = 0; at < lc->end.n;) {
		const struct str text = piece_at(&lc->end, at, &p);
		if (lc->output[!p.is_stderr].n)
			tell_output(lc, now_us, TAKE(before, 0));
		buf_add(&lc->output[p.is_stderr], text);
		at += sizeof p + text.n;
	}
	tell_output(lc, now_us, before);
}

static void start_output(struct live_call *lc)
{
	(void)pthread_mutex_init(&lc->lock, NULL);
	for (int i = 0; i < 2; i++)
		lc->output[i] = (struct buf){ .max = LIMIT_EVENT_OUTPUT };
	lc->end = (struct buf){ .max = LIMIT_EVENT_OUTPUT };
	lc->taken = lc->dropped = lc->told_us = 0;
	lc->ending = false;
	lc->has_output = true;
}

static void tell_waiting(struct live_call *lc, int64_t now_us)
{
	events_hold(lc->live->events);
	(void)pthread_mutex_lock(&lc->lock);
	tell_output(lc, now_us, 0);
	(void)pthread_mutex_unlock(&lc->lock);
	events_release(lc->live->events);
}

/* Take output: its beginning is told as it comes, its end when the call has ended. */
static int take_output(void *arg, bool is_stderr, struct str piece, size_t bytes)
{
	struct live_call *lc = arg;

	(void)bytes;
	if (!lc->has_output)
		start_output(lc);
	(void)pthread_mutex_lock(&lc->lock);
	const size_t room = lc->ending ? 0 : (size_t)(LIMIT_EVENT_OUTPUT_HALF - lc->taken);
	const struct str most = str_upto(piece, room);
	const struct str begins = most.n < piece.n ? str_upto(most, utf8_whole(most)) : most;
	buf_add(&lc->output[is_stderr], begins);
	lc->taken += (int64_t)begins.n;
	lc->ending = lc->ending || begins.n < piece.n;
	keep_end(lc, is_stderr, str_from(piece, begins.n));
	const int64_t now_us = io_now_us();
	const bool waits = output_waits(lc);
	const bool due = now_us - lc->told_us >= LIMIT_EVENT_JOIN_MS * 1000;
	(void)pthread_mutex_unlock(&lc->lock);
	/* Who watches tells it when its time has come, if no more output does. */
	if (waits && due)
		tell_waiting(lc, now_us);
	else if (waits)
		events_wake(lc->live->events);
	return 0;
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

/* Short arguments are kept as they came; secrets are looked for when somebody asks for them. */
static void tell_start(struct live_call *lc)
{
	struct live *l = lc->live;
	char room[512] UNINITIALISED;
	struct buf small = buf_over(room, sizeof room);
	AUTO_BUF large = { .max = LIMIT_EVENT_ARGUMENTS };
	struct event start = start_of(lc);

	start.raw = lc->about.raw.n && lc->about.raw.n <= LIMIT_EVENT_RAW;
	start.details = start.raw ? lc->about.raw
				  : account_arguments(l->secrets, lc->about.arguments,
						      start.subject, &small, &large);
	events_add_at(l->events, &start, lc->account->began_us);
}

struct str live_arguments(const struct live *l, const struct event *start, struct arena *a)
{
	AUTO_BUF small = { .max = LIMIT_EVENT_ARGUMENTS }, large = { .max = LIMIT_EVENT_ARGUMENTS };
	const struct json *value;
	struct err e;

	if (!start->raw)
		return arena_dup(a, start->details);
	if (json_parse(start->details, a, &value, &e) < 0)
		return STR("null");
	return arena_dup(a, account_arguments(l->secrets, value, STR(""), &small, &large));
}

void live_begin(struct live_call *lc, struct call *c)
{
	if (!lc->live->events)
		return;
	lc->taker = (struct sink_taker){
		.take = take_output, .arg = lc, .clean = true, .next = c->takers
	};
	c->takers = &lc->taker;
	tell_start(lc);
}

static void end_output(struct live_call *lc)
{
	const int64_t now_us = io_now_us();

	events_hold(lc->live->events);
	(void)pthread_mutex_lock(&lc->lock);
	tell_output(lc, now_us, 0);
	tell_end_of_output(lc, now_us);
	for (int i = 0; i < 2; i++)
		buf_done(&lc->output[i]);
	buf_done(&lc->end);
	(void)pthread_mutex_unlock(&lc->lock);
	events_release(lc->live->events);
}

/* How many lines it adds and removes; null if that is not known, or would take long. */
static void write_size(struct live *l, const struct change_item *item, int64_t *left, struct jw *w)
{
	struct diff_size size;

	*left -= item->before.size + item->after.size;
	if (!l->journal || *left < 0 ||
	    !content_diff_size(l->journal, item, LIMIT_EVENT_DIFF, &size)) {
		jw_null(w, "added");
		jw_null(w, "removed");
		return;
	}
	jw_int(w, "added", size.added);
	jw_int(w, "removed", size.removed);
}

/* The files of a change, as long as the journal has it. */
static void write_files(struct live *l, uint64_t id, struct jw *w)
{
	AUTO_ARENA memory = { .max = LIMIT_CHANGE_MEMORY };
	struct change_entry entry;
	struct change change = { .id = 0 };
	int64_t count = 0, left = LIMIT_EVENT_DIFFS;
	struct err gone;

	jw_array(w, NULL);
	if (!l->journal || journal_find(l->journal, id, &entry, &gone) < 0 ||
	    journal_read(l->journal, &entry, true, &memory, &change, &gone) < 0)
		change.item_count = 0;
	for (size_t i = 0; i < change.item_count && count < LIMIT_EVENT_FILES; i++) {
		const struct change_item *item = &change.items[i];
		if (item->kind == ITEM_TIMES)
			continue;
		count++;
		jw_object(w, NULL);
		jw_str(w, "path", item->path);
		jw_str(w, "kind", str_of(item_kind_name(item->kind)));
		write_size(l, item, &left, w);
		if (l->guard && item->kind != ITEM_DELETED &&
		    guard_runs_later(l->guard, item->path))
			jw_bool(w, "runs_later", true);
		jw_end(w);
	}
	jw_end(w);
}

void live_write(struct live *l, struct jw *w, struct event *e)
{
	AUTO_BUF files = { .max = LIMIT_ANSWER };
	struct value_cleaner c = { .secrets = l->secrets, .aside = { .max = LIMIT_ANSWER } };
	const struct jw_filter filter = { .apply = account_clean_value, .arg = &c };
	struct jw list = jw_to(&files);

	if (e->type == EVENT_CHANGE) {
		jw_set_filter(&list, &filter);
		write_files(l, e->change, &list);
		e->details = files.failed || c.failed ? STR("[]") : buf_str(&files);
	}
	event_write(w, e);
	buf_done(&c.aside);
}

static void tell_refusal(struct live *l, enum event_type type, uint64_t call, const char *what,
			 struct str subject, const char *why)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };
	struct event event = {
		.type = type,
		.call = call,
		.tool = str_of(what),
		.subject = subject,
		.text = scrub_text(l->secrets, NULL, str_of(why), &aside),
	};

	events_add(l->events, &event);
}

void live_refused(struct live *l, uint64_t call, const char *what, struct str subject,
		  const char *why)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };

	if (l->events)
		tell_refusal(l, EVENT_REFUSED, call, what,
			     account_clean(l->secrets, subject, &aside), why);
}

void live_unguarded(struct live *l, uint64_t call, struct str path)
{
	if (l->events)
		tell_refusal(l, EVENT_UNGUARDED, call, "guard", path,
			     "it was changed while a command ran, and no allowed call did that; a "
			     "person's programs run it later");
}

/* The last text of a value that was cut may end in the middle of a secret. */
static void end_last_text(const struct live *l, const struct json *value)
{
	struct json *last = NULL;

	while ((value->type == JSON_OBJECT || value->type == JSON_ARRAY) && value->first) {
		for (last = value->first; last->next; last = last->next)
			;
		value = last;
	}
	if (last && last->type == JSON_STRING)
		last->string = str_upto(last->string, scrub_decided(l->secrets, last->string));
}

/* The members as a value; NULL if there is no memory. */
static const struct json *parse_members(const struct live *l, const struct event *end,
					struct arena *a)
{
	AUTO_BUF text = { .max = 2 * LIMIT_EVENT_RESULT };
	const struct json *value;
	struct err e;

	buf_add(&text, STR("{"));
	buf_add(&text, end->details);
	buf_add(&text, end->cut ? STR("") : STR("}"));
	const struct str whole =
		end->cut ? json_complete(buf_str(&text), a) : arena_dup(a, buf_str(&text));
	if (json_parse(whole, a, &value, &e) < 0)
		return NULL;
	if (end->cut)
		end_last_text(l, value);
	return value;
}

struct str live_result(const struct live *l, const struct event *end, struct arena *a)
{
	AUTO_BUF small = { .max = LIMIT_EVENT_ARGUMENTS }, large = { .max = LIMIT_EVENT_ARGUMENTS };
	struct str text = end->details;

	if (end->cut && !end->members)
		text = str_upto(text, scrub_decided(l->secrets, text));
	const struct json as_text = { .type = JSON_STRING, .string = text };
	const struct json *value = end->members ? parse_members(l, end, a) : &as_text;
	if (!value)
		return STR("null");
	const struct str clean = end->raw ? STR("") : text;
	return arena_dup(a, account_arguments(l->secrets, value, clean, &small, &large));
}

/* What is kept of the result, or of the sentence of a failure; secrets are looked for in a result
 * when somebody asks for it. */
static void tell_end(struct live_call *lc, const struct account *a, struct str sentence,
		     const struct live_result *result, int64_t now_us)
{
	AUTO_BUF room = { .max = LIMIT_EVENT_RESULT };
	const bool cut = result->text.n > LIMIT_EVENT_RESULT;
	struct str most = STR("");

	if (cut && a->end.ran)
		most = account_ends(lc->live->secrets, result->text, result->members, &room);
	if (!most.n)
		most = str_upto(result->text, LIMIT_EVENT_RESULT);
	struct event event = {
		.type = EVENT_CALL_END,
		.call = lc->id,
		.code = a->code,
		.end = a->end,
		.ms = a->ms,
		.bytes = a->bytes,
		.dropped = lc->has_output ? lc->dropped : 0,
		.change = a->change,
		.raw = !sentence.n,
		.members = !sentence.n && result->members,
		.cut = !sentence.n && cut,
		.details = sentence.n ? sentence
			   : cut      ? str_upto(most, utf8_whole(most))
				      : most,
	};

	events_add_at(lc->live->events, &event, now_us);
}

/* The end of a call of which there is more to tell. The times of its events are in their order. */
static void tell_all(struct live_call *lc, const struct account *a, const struct change *change,
		     const char *why, const struct live_result *result)
{
	struct live *l = lc->live;
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };

	if (lc->has_output)
		end_output(lc);
	if (why && account_refusal(a->code))
		tell_refusal(l, EVENT_REFUSED, lc->id, account_refusal(a->code), a->subject, why);
	if (change->id && !(change->flags & CHANGE_OPEN))
		live_change(l, lc->id, change);
	const struct str sentence =
		why ? scrub_text(l->secrets, NULL, str_of(why), &aside) : STR("");
	tell_end(lc, a, sentence, result, io_now_us());
}

void live_gone(struct live_call *lc)
{
	if (lc->live->events && lc->has_output)
		(void)pthread_mutex_destroy(&lc->lock);
}

void live_end(struct live_call *lc, const struct account *a, const struct change *change,
	      const char *why, const struct live_result *result)
{
	if (!lc->live->events)
		return;
	if (lc->has_output || change->id || why)
		tell_all(lc, a, change, why, result);
	else
		tell_end(lc, a, STR(""), result, a->ended_us);
}

/* A job that starts. */
struct job_start {
	struct live *live;
	const struct job_state *job;
	struct str subject;
	bool told;
};

static void tell_job(struct job_start *start, struct event event)
{
	event.type = EVENT_JOB_START;
	event.call = start->job->call;
	event.job = start->job->id;
	event.subject = start->subject;
	events_add(start->live->events, &event);
	start->told = true;
}

static void tell_with_call(void *arg, struct roster_entry *entry)
{
	struct job_start *start = arg;

	if (entry->call == start->job->call && entry->about)
		tell_job(start, start_of(entry->about));
}

/* A job is told of like the call that it comes from, if that is still under way. */
static void tell_job_start(struct live *l, const struct job_state *job)
{
	AUTO_BUF aside = { .max = LIMIT_SUBJECT_MEMORY };
	struct job_start start = {
		.live = l,
		.job = job,
		.subject = account_clean(l->secrets, str_of(job->command), &aside),
	};

	roster_visit(l->roster, tell_with_call, &start);
	if (!start.told)
		tell_job(&start, (struct event){ .uid = -1 });
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

/* Who waits to be told, and for how long. */
struct waiting {
	int64_t now_us;
	int64_t most_ms; /* -1: nobody does */
};

static void tell_if_due(void *arg, struct roster_entry *entry)
{
	struct waiting *w = arg;
	struct live_call *lc = entry->about;

	if (!lc || !lc->has_output)
		return;
	events_hold(lc->live->events);
	(void)pthread_mutex_lock(&lc->lock);
	const int64_t left = LIMIT_EVENT_JOIN_MS - (w->now_us - lc->told_us) / 1000;
	if (!output_waits(lc))
		;
	else if (left <= 0)
		tell_output(lc, w->now_us, 0);
	else if (w->most_ms < 0 || left < w->most_ms)
		w->most_ms = left;
	(void)pthread_mutex_unlock(&lc->lock);
	events_release(lc->live->events);
}

int live_tell_output(struct live *l)
{
	struct waiting w = { io_now_us(), -1 };

	roster_visit(l->roster, tell_if_due, &w);
	return (int)w.most_ms;
}

struct str live_clean(const struct live *l, struct str text, struct buf *aside)
{
	return scrub_text(l->secrets, NULL, text, aside);
}
