/* SPDX-License-Identifier: MIT */
/*
 * slots: connections, and which thread owns each of them.
 *
 * A connection has a slot, which is free, waiting (without an owner) or busy (owned by one thread).
 * Its descriptor stays in the epoll set, edge-triggered, so that a request costs no system call for
 * waiting again: an event for a waiting slot makes a worker its owner; an event for a busy one is
 * noted, and the owner looks again before it lets go. An event carries the slot's number and
 * generation, never a pointer: a connection that was closed while its event was on the way is
 * recognised and left alone. The memory of a slot is never given back, so looking at an old one is
 * harmless.
 */
#ifndef API_SLOTS_H
#define API_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cancel.h"
#include "base/err.h"
#include "net/http.h"

struct slot {
	_Atomic uint64_t ticket;     /* generation, turn and state */
	_Atomic int64_t deadline_ms; /* of the connection, while it waits */
	atomic_bool answering;	     /* it waits for its client to take an answer */
	uint32_t next;		     /* in the list of free ones */
	bool tcp;
	bool over;	      /* one connection too many: it has a slot only to be refused */
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
	uint32_t served, most; /* how many are in use for connections that are served, and may be */
	uint32_t tcp, tcp_most; /* … of these for TCP */
	uint32_t over;		/* how many are in use for others, which are refused */
	_Atomic uint32_t
		fresh; /* slots from this one on have never been used: their memory is untouched */
	_Atomic int64_t used;
	pthread_mutex_t lock; /* of the free list, and what is in use for what */
};

/* Slots for `most` connections, at most `tcp_most` of them by TCP; and `refused` more. */
int slots_init(struct slots *s, uint32_t most, uint32_t tcp_most, uint32_t refused, struct err *e);
void slots_done(struct slots *s);

/* A free slot, busy and owned by the caller. When all for such connections are in use, it is one
 * that is `over`; NULL when there is none of these either. */
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

/* Let go of a busy slot: from here on it may belong to another thread. False when an event came
 * meanwhile: the caller still owns it and must look again. */
bool slot_let_go(struct slot *c);

/* Own the slot if it has been waiting beyond its deadline; when the server is ending, also if it
 * waits for anything but its client taking an answer. */
bool slot_claim_expired(struct slot *c, int64_t now_ms, bool ending);

/* Whether a call, or the sending of its answer, is under way. */
bool slot_is_busy(const struct slot *c);
bool slots_any_busy(const struct slots *s);

#endif
