/* SPDX-License-Identifier: MIT */
/* events: records one after another in a ring of bytes, and a ring of their places. */

#include "service/events.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "service/limits.h"

enum { ALIGN = 16, LARGEST = LIMIT_EVENT_BYTES / 4 };

/* Where a record is. Places grow forever; a record begins at its place modulo the ring's size and
 * does not go around its end. */
struct record {
	uint64_t at, call;
	uint32_t size;
	uint32_t private; /* how many bytes at its end are for who asks for the call */
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

/* A place for so many bytes; the oldest events give way. */
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
	const int64_t now_us = io_now_us();

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
