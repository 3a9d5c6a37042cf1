/* SPDX-License-Identifier: MIT */
/*
 * turns: how many threads compute at once; the others wait, in the order in which they came.
 *
 * There are `most` turns, set by the owner. Work that keeps a processor busy takes one first, and
 * more if it has several threads, and gives them back when it is done. What only waits (for a
 * command, for a client) takes none.
 *
 *	struct turn t = { .of = &turns };
 *	if (turn_take(&t, cancel, deadline_ms, e) < 0) …
 *	const unsigned helpers = turn_more(&t, 3);
 *	… compute on 1 + helpers threads …
 *	turn_give(&t);
 *
 * Who holds a turn may wait for a lock, so who holds that lock must not wait for a turn.
 */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"

/* Zeroed, with `most` set, it is ready for use. */
struct turns {
	unsigned most;
	pthread_mutex_t lock; /* over what follows */
	unsigned taken, waiting;
	struct turn *first, *last; /* who waits */
};

/* What one call holds of them. Only its own thread uses it. */
struct turn {
	struct turns *of;
	unsigned held;

	/* While it waits. */
	struct turn *next;
	int granted; /* an event descriptor */
	bool passed; /* a turn was passed on to it */
};

/* Take a turn; wait for one until the deadline. TOO_BUSY if that passes, or if LIMIT_TURNS_WAITING
 * others wait already; CANCELLED if the cancel (or NULL) is asked meanwhile. */
int turn_take(struct turn *t, struct cancel *cancel, int64_t deadline_ms, struct err *e);

/* TOO_BUSY if turn_take would refuse it at once. */
int turn_check(struct turn *t, struct err *e);

/* Take up to n more, of those that are free and that nobody waits for. Returns how many. */
unsigned turn_more(struct turn *t, unsigned n);

/* Give all of them back. */
void turn_give(struct turn *t);

#endif
