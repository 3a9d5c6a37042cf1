/* SPDX-License-Identifier: MIT */
/*
 * watch: what the main thread does while workers serve: wait for a signal to stop, and call a
 * function a few times a second as long as there are connections. Without any it sleeps, and costs
 * nothing.
 */
#ifndef API_WATCH_H
#define API_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct watch {
	int signals; /* signalfd */
	int kick;    /* eventfd that ends the sleep */
	atomic_bool asleep;
	void (*child_ended)(void); /* called when a child has ended; or NULL */
	int64_t watchdog_ms; /* how often the service manager wants to hear from us; 0: never */
};

/* With child_ended set, SIGCHLD must be blocked as the signals to stop are. */
int watch_init(struct watch *w, void (*child_ended)(void), struct err *e);
void watch_done(struct watch *w);

/* Call `tick` while *connections is above zero and a little longer, until SIGTERM or SIGINT. */
void watch_run(struct watch *w, const _Atomic int64_t *connections, void (*tick)(void *arg),
	       void *arg);

/* There is a connection: end the sleep. Costs nothing while awake. */
void watch_wake(struct watch *w);

/* Whether a (further) signal to stop has come. */
bool watch_signalled(struct watch *w);

#endif
