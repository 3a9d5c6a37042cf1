/* SPDX-License-Identifier: MIT */
/*
 * workers: the threads that serve connections, and which of them owns each connection.
 *
 * Workers wait on one epoll set. The worker that wakes takes in what has arrived on a connection.
 * An incomplete request goes back to the set; a complete one is carried through to its answer. A
 * few workers are always there. When a call may take long, or all workers have been busy for a
 * while, another one is started, up to a limit.
 *
 * A connection has a slot, which is free, waiting (without an owner) or busy (owned by one thread).
 * Its descriptor stays in the epoll set, edge-triggered, so that a request costs no system call for
 * waiting again: an event for a waiting slot makes a worker its owner; an event for a busy one is
 * noted, and the owner looks again before it lets go. An event carries the slot's number and
 * generation, never a pointer: a connection that was closed while its event was on the way is
 * recognised and left alone. The memory of a slot is never given back, so looking at an old one is
 * harmless.
 */
#ifndef API_WORKERS_H
#define API_WORKERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/exchange.h"
#include "base/cancel.h"
#include "base/err.h"
#include "net/http.h"
#include "net/listen.h"

struct slot {
	_Atomic uint64_t ticket;     /* generation, turn and state */
	_Atomic int64_t deadline_ms; /* of the connection, while it waits */
	atomic_bool answering;	     /* it waits for its client to take an answer */
	uint32_t next;		     /* in the list of free ones */
	bool tcp;
	bool watched;	      /* the descriptor is in the epoll set */
	bool for_out;	      /* … for the client taking more of an answer */
	bool ended;	      /* the client sends nothing more: the end must still be read */
	struct cancel cancel; /* asked when the client has left: the call for it may stop */
	uid_t uid;	      /* of the client; (uid_t)-1 on TCP */
	pid_t pid;
	struct http http;
};

struct slots {
	struct slot *all;
	uint32_t size, first_free;
	uint32_t tcp, tcp_most; /* how many are in use for TCP, and may be */
	_Atomic uint32_t
		fresh; /* slots from this one on have never been used: their memory is untouched */
	_Atomic int64_t used;
	pthread_mutex_t lock; /* of the free list, and `tcp` */
};

/* So many slots, of which so many can be used for TCP. */
int slots_init(struct slots *s, uint32_t size, uint32_t tcp_most, struct err *e);
void slots_done(struct slots *s);

/* A free slot, busy and owned by the caller; NULL when all are in use, or those for TCP. */
struct slot *slots_take(struct slots *s, bool tcp);

/* Give a busy slot back; its connection has been closed. */
void slots_give(struct slots *s, struct slot *c);

/* What identifies the slot's present connection in an event. */
uint64_t slots_key(const struct slots *s, const struct slot *c);

/* Own the connection an event speaks of. NULL if it is gone, or if another thread owns it: that
 * thread is told to look again. */
struct slot *slots_claim(struct slots *s, uint64_t key);

/* The client of that connection has hung up, or (half) has stopped sending. A Unix socket tells
 * one from the other; on TCP both look alike until something is sent, and a command must not
 * outlive its client. Cancels the call that is under way for a client that has left. */
void slots_hung_up(struct slots *s, uint64_t key, bool half);

/* The call of a busy slot was stopped, though its client is still there: the next one may run. */
void slots_renew(struct slots *s, struct slot *c);

/* Cancel every call that is under way. */
void slots_cancel_all(struct slots *s);

/* Let go of a busy slot: from here on it may belong to another thread. False when an event came
 * meanwhile: the caller still owns it and must look again. */
bool slot_let_go(struct slot *c);

/* Own the slot if it has been waiting beyond its deadline; when the server is ending, also if it
 * waits for anything but its client taking an answer. */
bool slot_claim_expired(struct slot *c, int64_t now_ms, bool ending);

/* Whether a call, or the sending of its answer, is under way. */
bool slot_is_busy(const struct slot *c);
bool slots_any_busy(const struct slots *s);

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
