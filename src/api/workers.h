/* SPDX-License-Identifier: MIT */
/*
 * workers: the threads that serve connections (slots.h).
 *
 * Workers wait on one epoll set. The worker that wakes takes in what has arrived on a connection.
 * An incomplete request goes back to the set; a complete one is carried through to its answer. A
 * few workers are always there. When a call may take long, or all workers have been busy for a
 * while, another one is started, up to a limit. Who comes back from a long call leaves if there are
 * enough for the quick ones: more threads that want to run than processors would only delay
 * commands.
 */
#ifndef API_WORKERS_H
#define API_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/exchange.h"
#include "api/slots.h"
#include "base/err.h"
#include "net/listen.h"

/* What is served, and to whom. */
struct workers_options {
	struct front *front;
	struct listener *listeners;
	size_t listener_count;
	const uid_t *uids; /* that may connect to a Unix socket; empty: its mode decides */
	size_t uid_count;
	/* Whether a process must not connect to a Unix socket; NULL: none is refused. */
	bool (*refuses)(pid_t pid);
};

struct workers {
	const struct workers_options *o;
	int epoll;
	int leave; /* readable forever once workers are to leave */
	int wake;  /* becomes readable when a connection comes while the main thread is asleep */
	atomic_bool asleep; /* the main thread has nothing to look after */
	struct slots slots;
	struct http_budget budget;
	_Atomic int count, waiting;	  /* workers, and those of them that wait for an event */
	_Atomic int slow;		  /* those in a call that may take long */
	_Atomic int quick_most;		  /* how many others there may be */
	_Atomic int64_t answered;	  /* requests so far */
	int64_t answered_before, trimmed; /* as of the last tick, and of the last malloc_trim */
	_Atomic int accepting;		  /* workers that use a listener at this moment */
	atomic_bool stopping;
	pthread_mutex_t closing; /* no connection is closed while others are being hung up */
};

/* Start the first workers. *w is zeroed; after a failure it is released like a started one. */
int workers_start(struct workers *w, const struct workers_options *o, struct err *e);

/* Close the connections that have waited too long, and start another worker if all are stuck. To be
 * called a few times a second while there are connections. */
void workers_tick(struct workers *w);

/* Close the listeners. Every answer from here on is the last one of its connection. */
void workers_refuse_new(struct workers *w);

/* Hang up on clients that do not take their answers. */
void workers_hang_up(struct workers *w);

/* Let the workers go. False if one of them is still stuck in a call after a second: it uses *w. */
bool workers_end(struct workers *w);

/* Release everything; no worker is left. */
void workers_done(struct workers *w);

#endif
