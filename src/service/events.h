/* SPDX-License-Identifier: MIT */
/*
 * events: the newest events, in a ring.
 *
 * At most LIMIT_EVENTS events and LIMIT_EVENT_BYTES bytes are kept. They are numbered from 1
 * without gaps. Adding one copies it, and does not wait for readers. Readers copy what they want to
 * see out of the ring and look at it there:
 *
 *	struct events_batch b;
 *	events_take(ring, &(struct events_query){ .after = n }, room, sizeof room, &b);
 *	while (events_next(&b, &event))
 *		…
 *
 * The memory is used only as events fill it. All functions may be called from several threads.
 */
#ifndef SERVICE_EVENTS_H
#define SERVICE_EVENTS_H

#include <stddef.h>

#include "service/event.h"

struct events;

enum { EVENTS_BOOT = 17 };

struct events *events_new(void); /* NULL: there is no memory */
void events_free(struct events *e);

/* A name for this ring that no other has, for who comes back after a restart. */
const char *events_boot(const struct events *e);

/* Add it; its number and time are set. One that is larger than a quarter of the ring, which no
 * caller makes, loses its texts. */
void events_add(struct events *e, struct event *event);

/* Keep other threads out, for who adds an event together with something of its own that other
 * threads must see at the same time. In between only events_add_held may be called; it adds what
 * happened at a time of io_now_us. */
void events_hold(struct events *e);
void events_release(struct events *e);
void events_add_held(struct events *e, struct event *event, int64_t now_us);

/* The number of the newest one; 0: there is none. */
uint64_t events_last(struct events *e);

/* A descriptor (eventfd) that becomes readable, once, when an event is added from now on; -1: none,
 * and adding costs nothing more. */
void events_watch(struct events *e, int fd);

/* Make who watches look, although nothing was added. */
void events_wake(struct events *e);

struct events_query {
	uint64_t after; /* those with greater numbers */
	uint64_t call;	/* only those of this call; 0: all */
	bool details;	/* with the details of calls */
};

struct events_batch {
	const char *at, *end; /* in the reader's room */
	uint64_t lost;	      /* events after `after` that are in the ring no more */
	uint64_t next;	      /* `after` of the next query */
};

/* Copy the oldest ones that fit the room, which has place for the largest event if it has
 * EVENTS_ROOM bytes and is aligned like any object. */
enum { EVENTS_ROOM = 256 << 10 };
void events_take(struct events *e, const struct events_query *q, char *room, size_t size,
		 struct events_batch *ret);

/* The next one of a batch; false: there is none. Its texts are in the room. */
bool events_next(struct events_batch *b, struct event *ret);

#endif
