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
#include "base/limits.h"
#include "base/own.h"

enum { ALIGN = 16, LARGEST = LIMIT_EVENT_BYTES / 4 };

/* Where a record is. Places grow forever; a record begins at its place modulo the ring's size and
 * does not go around its end. */
struct record {
	uint64_t at, call;
	size_t size, private; /* private: how many bytes at its end are for who asks for the call */
};

struct events {
	char boot[EVENTS_BOOT];
	pthread_mutex_t lock; /* protects all below */
	int watch;	      /* -1: no client watches */
	bool armed;
	uint64_t first, next; /* numbers of the oldest event, and of the one to come */
	uint64_t end;	      /* the place after the newest record */
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

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
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

void events_add(struct events *e, struct event *event)
{
	size_t size = sizeof *event;

	for (size_t i = 0; i < EVENT_TEXTS; i++)
		size += event->texts[i].n;
	if (size > LARGEST) {
		for (size_t i = 0; i < EVENT_TEXTS; i++)
			event->texts[i] = STR("");
		size = sizeof *event;
	}
	const bool is_call = event->type == EVENT_CALL_START || event->type == EVENT_CALL_END;
	event->time_ms = now_ms();
	(void)pthread_mutex_lock(&e->lock);
	const uint64_t at = make_room(e, round_up(size));
	event->id = e->next++;
	*record_of(e, event->id) = (struct record){
		.at = at,
		.call = event->call,
		.size = size,
		.private = is_call ? event->details.n : 0,
	};
	char *to = e->bytes + at % LIMIT_EVENT_BYTES;
	memcpy(to, event, sizeof *event);
	to += sizeof *event;
	for (size_t i = 0; i < EVENT_TEXTS; i++) {
		const struct str text = event->texts[i];
		if (text.n)
			memcpy(to, text.p, text.n);
		to += text.n;
	}
	e->end = at + round_up(size);
	wake(e);
	(void)pthread_mutex_unlock(&e->lock);
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
