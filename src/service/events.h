/* SPDX-License-Identifier: MIT */
/*
 * events: what has happened to calls and jobs, for those who watch: the newest events, in a ring;
 * and their form as JSON.
 *
 * Which members an event has depends on its type: docs/undo.md has the table. All texts are without
 * secrets before they come here, but for arguments and results that are kept as they came (`raw`).
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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/jw.h"
#include "base/str.h"
#include "tools/tool.h"

enum event_type {
	EVENT_CALL_START,
	EVENT_OUTPUT,
	EVENT_CALL_END,
	EVENT_CHANGE,
	EVENT_REFUSED,
	EVENT_UNGUARDED,
	EVENT_JOB_START,
	EVENT_JOB_END,
	EVENT_TYPES,
};

enum { EVENT_TEXTS = 6 };

struct event {
	enum event_type type;
	bool mcp;	/* the call came by MCP */
	bool is_stderr; /* of an output */
	bool raw;	/* its details are as they came, and may have secrets */
	bool members;	/* of an end: its details are members of an object, not a text */
	bool cut;	/* of an end: its details are only the beginning */
	enum err_code code;
	uint64_t id;	 /* the ring counts them, from 1 */
	int64_t time_ms; /* since 1970 */
	uint64_t call;	 /* its number; 0: none */
	uint64_t job, change;
	int64_t uid, pid; /* of the caller, if it has no name */
	int64_t ms, bytes;
	int64_t dropped; /* bytes of output that are in no event; of an output: before it */
	int64_t count;	 /* paths that a change has */
	struct call_end end;

	union {
		struct str texts[EVENT_TEXTS];
		struct {
			struct str tool; /* of a refusal: what was refused */
			struct str subject, session;
			struct str client; /* its name */
			struct str text;   /* of an output; of a refusal: why */
			/* The files of a change as JSON, not in the ring; else only for those who ask for
			 * one call: its arguments, or the beginning of its result. The last one. */
			struct str details;
		};
	};
};

/* Write the members, without the details of a call. */
void event_write(struct jw *w, const struct event *e);

struct events;

enum { EVENTS_BOOT = 17 };

struct events *events_new(void); /* NULL: there is no memory */
void events_free(struct events *e);

/* A name that no other ring has, for clients that come back after a restart. */
const char *events_boot(const struct events *e);

/* Add it; its number and time are set. One that is larger than a quarter of the ring, which no
 * caller makes, loses its texts. */
void events_add(struct events *e, struct event *event);

/* The same for something that happened at a time of io_now_us. */
void events_add_at(struct events *e, struct event *event, int64_t now_us);

/* Keep other threads out, for a caller that adds an event together with something of its own that other
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
