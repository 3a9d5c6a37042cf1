/* SPDX-License-Identifier: MIT */
/*
 * feed: sends events to those who watch.
 *
 * A watcher is a connection that has been taken from the workers: one thread serves all of them,
 * and none of them costs a worker. Nothing waits for a watcher: each has a buffer of a bounded
 * size, and while it does not take that, it gets nothing else. What the ring has lost by then it
 * learns as the number in a gap. The thread starts with the first watcher; while there are none, it
 * sleeps, and the ring does not wake it.
 */
#ifndef API_FEED_H
#define API_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "service/live.h"

struct feed;

enum feed_form { FEED_SSE, FEED_LINES };

/* One who watches. */
struct feed_start {
	int fd; /* a socket that does not block; the head of the answer has been sent */
	enum feed_form form;
	bool chunked;
	uint64_t after; /* the last event that it knows */
	bool forgotten; /* it knows events of another server: how many are missing is not known */
};

struct feed *feed_new(struct live *live, struct err *e);

/* Tell all that it is over, and close their connections. */
void feed_free(struct feed *f);

/* Whether there is room for one more. */
bool feed_has_room(struct feed *f);

/* Serve it from now on; the descriptor is the feed's. Without room or a thread it is closed. */
void feed_add(struct feed *f, const struct feed_start *start);

#endif
