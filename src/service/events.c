/* SPDX-License-Identifier: MIT */
/* events: records one after another in a ring of bytes, and a ring of their places; a struct becomes
 * the members of an object. */

#include "service/events.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/utc.h"
#include "exec/proc.h"
#include "service/limits.h"

enum { ALIGN = 16, LARGEST = LIMIT_EVENT_BYTES / 4 };

/* Where a record is. Places grow forever; a record begins at its place modulo the ring's size and
 * does not go around its end. */
struct record {
	uint64_t at, call;
	uint32_t size;
	uint32_t private; /* bytes at its end that only those get who ask for the call */
};

struct events {
	char boot[EVENTS_BOOT];
	pthread_mutex_t lock; /* protects all below */
	int watch;	      /* -1: no client watches */
	bool armed;
	uint64_t first, next;  /* numbers of the oldest event, and of the one to come */
	uint64_t end;	       /* the place after the newest record */
	int64_t date_us;       /* what a time of io_now_us lacks to the date … */
	int64_t date_until_us; /* … and until when that is believed */
	struct record records[LIMIT_EVENTS];
	_Alignas(ALIGN) char bytes[LIMIT_EVENT_BYTES];
};

struct events *events_new(void)
{
	struct events *e = mem_new(1, sizeof *e);
	uint64_t boot;

	if (!e)
		return NULL;
	io_random(&boot, sizeof boot);
	(void)snprintf(e->boot, sizeof e->boot, "%016llx", (unsigned long long)boot);
	(void)pthread_mutex_init(&e->lock, NULL);
	e->watch = -1;
	e->first = e->next = 1;
	return e;
}

void events_free(struct events *e)
{
	if (e)
		(void)pthread_mutex_destroy(&e->lock);
	mem_free(e);
}

const char *events_boot(const struct events *e)
{
	return e->boot;
}

static struct record *record_of(struct events *e, uint64_t id)
{
	return &e->records[id % LIMIT_EVENTS];
}

/* A place for `size` bytes; the oldest events give way. */
static uint64_t make_room(struct events *e, size_t size)
{
	const uint64_t left = LIMIT_EVENT_BYTES - e->end % LIMIT_EVENT_BYTES;
	const uint64_t at = size > left ? e->end + left : e->end;

	while (e->first < e->next && (e->next - e->first == LIMIT_EVENTS ||
				      at + size - record_of(e, e->first)->at > LIMIT_EVENT_BYTES))
		e->first++;
	return at;
}

static void ask_date(struct events *e)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	const int64_t now_us = io_now_us();
	e->date_us = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000 - now_us;
	e->date_until_us = now_us + LIMIT_EVENT_DATE_MS * 1000;
}

/* The date of a time of io_now_us. Asking for the date each time would be a good part of the cost
 * of an event, so it is asked for again only when a while has passed: someone may have set it. */
static int64_t date_ms(struct events *e, int64_t now_us)
{
	if (now_us >= e->date_until_us)
		ask_date(e);
	return (now_us + e->date_us) / 1000;
}

static void wake(struct events *e)
{
	const uint64_t one = 1;

	if (e->watch < 0 || !e->armed)
		return;
	e->armed = false;
	(void)!write(e->watch, &one, sizeof one);
}

static size_t round_up(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static char *put(char *to, struct str s)
{
	if (s.n)
		memcpy(to, s.p, s.n);
	return to + s.n;
}

void events_hold(struct events *e)
{
	(void)pthread_mutex_lock(&e->lock);
}

void events_release(struct events *e)
{
	(void)pthread_mutex_unlock(&e->lock);
}

void events_add(struct events *e, struct event *event)
{
	events_add_at(e, event, io_now_us());
}

void events_add_at(struct events *e, struct event *event, int64_t now_us)
{
	events_hold(e);
	events_add_held(e, event, now_us);
	events_release(e);
}

void events_add_held(struct events *e, struct event *event, int64_t now_us)
{
	size_t size = sizeof *event + event->tool.n + event->subject.n + event->session.n +
		      event->client.n + event->text.n + event->details.n;

	if (size > LARGEST) {
		for (size_t i = 0; i < EVENT_TEXTS; i++)
			event->texts[i] = STR("");
		size = sizeof *event;
	}
	const bool is_call = event->type == EVENT_CALL_START || event->type == EVENT_CALL_END;
	event->time_ms = date_ms(e, now_us);
	const uint64_t at = make_room(e, round_up(size));
	event->id = e->next++;
	*record_of(e, event->id) = (struct record){
		.at = at,
		.call = event->call,
		.size = (uint32_t)size,
		.private = is_call ? (uint32_t)event->details.n : 0,
	};
	char *to = e->bytes + at % LIMIT_EVENT_BYTES;
	to = put(to, (struct str){ (const char *)event, sizeof *event });
	to = put(to, event->tool);
	to = put(to, event->subject);
	to = put(to, event->session);
	to = put(to, event->client);
	to = put(to, event->text);
	(void)put(to, event->details);
	e->end = at + round_up(size);
	wake(e);
}

uint64_t events_last(struct events *e)
{
	(void)pthread_mutex_lock(&e->lock);
	const uint64_t last = e->next - 1;
	(void)pthread_mutex_unlock(&e->lock);
	return last;
}

void events_watch(struct events *e, int fd)
{
	(void)pthread_mutex_lock(&e->lock);
	e->watch = fd;
	e->armed = true;
	(void)pthread_mutex_unlock(&e->lock);
}

void events_wake(struct events *e)
{
	(void)pthread_mutex_lock(&e->lock);
	wake(e);
	(void)pthread_mutex_unlock(&e->lock);
}

void events_take(struct events *e, const struct events_query *q, char *room, size_t size,
		 struct events_batch *ret)
{
	char *to = room;

	(void)pthread_mutex_lock(&e->lock);
	const uint64_t from = q->after + 1 < e->first ? e->first : q->after + 1;
	uint64_t id = from;
	for (; id < e->next; id++) {
		const struct record *r = record_of(e, id);
		const size_t shown = r->size - (q->details ? 0 : r->private);
		if (q->call && r->call != q->call)
			continue;
		if (round_up(shown) > size - (size_t)(to - room))
			break;
		memcpy(to, e->bytes + r->at % LIMIT_EVENT_BYTES, shown);
		if (!q->details && r->private)
			((struct event *)(void *)to)->details.n = 0;
		to += round_up(shown);
	}
	(void)pthread_mutex_unlock(&e->lock);
	*ret = (struct events_batch){
		.at = room, .end = to, .lost = from - q->after - 1, .next = id - 1
	};
}

bool events_next(struct events_batch *b, struct event *ret)
{
	const char *at = b->at;

	if (at >= b->end)
		return false;
	memcpy(ret, at, sizeof *ret);
	at += sizeof *ret;
	for (size_t i = 0; i < EVENT_TEXTS; i++) {
		struct str *text = &ret->texts[i];
		text->p = at;
		at += text->n;
	}
	b->at += round_up((size_t)(at - b->at));
	return true;
}

static const char *const type_names[EVENT_TYPES] = {
	[EVENT_CALL_START] = "call.start", [EVENT_OUTPUT] = "output",
	[EVENT_CALL_END] = "call.end",	   [EVENT_CHANGE] = "change",
	[EVENT_REFUSED] = "refused",	   [EVENT_JOB_START] = "job.start",
	[EVENT_JOB_END] = "job.end",	   [EVENT_UNGUARDED] = "guard.changed",
};

_Static_assert(offsetof(struct event, details) == offsetof(struct event, texts[EVENT_TEXTS - 1]),
	       "every text is in the array");

static void write_start(struct jw *w, const struct event *e)
{
	char peer[64];

	if (e->tool.n)
		jw_str(w, "tool", e->tool);
	jw_str(w, "subject", e->subject);
	(void)snprintf(peer, sizeof peer, "uid %lld pid %lld", (long long)e->uid,
		       (long long)e->pid);
	jw_str(w, "session", e->session);
	jw_str(w, "client", e->client.n ? e->client : e->uid < 0 ? STR("") : str_of(peer));
	jw_str(w, "front", e->mcp ? STR("mcp") : STR("http"));
}

/* What a tool could not do is not ok; a command that was ended did not do it either. */
static void write_end(struct jw *w, const struct event *e)
{
	jw_bool(w, "ok", e->code == ERR_NONE);
	if (e->code == ERR_NONE)
		jw_null(w, "code");
	else
		jw_str(w, "code", str_of(err_name(e->code)));
	if (e->end.ran)
		jw_int(w, "exit_code", e->end.exit_code);
	else
		jw_null(w, "exit_code");
	if (e->end.signal)
		jw_str(w, "signal", str_of(proc_signal_name(e->end.signal)));
	else
		jw_null(w, "signal");
	jw_bool(w, "timed_out", e->end.timed_out);
	if (e->end.ran && e->type == EVENT_CALL_END) {
		jw_int(w, "cpu_ms", e->end.cpu_ms);
		jw_int(w, "peak_memory_bytes", e->end.peak_memory_bytes);
		jw_int(w, "survivors", e->end.survivors);
	}
	jw_int(w, "ms", e->ms);
	jw_int(w, "bytes", e->bytes);
	if (e->dropped)
		jw_int(w, "dropped", e->dropped);
	if (e->change)
		jw_int(w, "change", (int64_t)e->change);
}

static void write_rest(struct jw *w, const struct event *e)
{
	switch (e->type) {
	case EVENT_CALL_START:
	case EVENT_JOB_START:
		write_start(w, e);
		break;
	case EVENT_OUTPUT:
		jw_str(w, "stream", e->is_stderr ? STR("stderr") : STR("stdout"));
		if (e->dropped)
			jw_int(w, "dropped", e->dropped);
		jw_str(w, "text", e->text);
		break;
	case EVENT_CALL_END:
	case EVENT_JOB_END:
		write_end(w, e);
		break;
	case EVENT_CHANGE:
		jw_int(w, "change", (int64_t)e->change);
		jw_raw(w, "files", e->details);
		jw_int(w, "count", e->count);
		break;
	case EVENT_REFUSED:
	case EVENT_UNGUARDED:
		jw_str(w, "what", e->tool);
		jw_str(w, "subject", e->subject);
		jw_str(w, "why", e->text);
		break;
	case EVENT_TYPES:
		break;
	}
}

void event_write(struct jw *w, const struct event *e)
{
	char time[UTC_TEXT];

	jw_int(w, "id", (int64_t)e->id);
	jw_str(w, "time", utc_iso(e->time_ms / 1000, (int)(e->time_ms % 1000), time));
	jw_str(w, "type", str_of(type_names[e->type]));
	if (e->call)
		jw_int(w, "call", (int64_t)e->call);
	if (e->job)
		jw_int(w, "job", (int64_t)e->job);
	write_rest(w, e);
}
