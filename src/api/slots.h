/* SPDX-License-Identifier: MIT */
/*
 * slots: the connections of a server, and who owns each.
 *
 * A slot is free, waiting (in the epoll set, owned by nobody) or busy (owned by one thread). An
 * event carries the slot's number and generation, never a pointer: a connection that was closed
 * while its event was on the way is recognised and left alone. The memory of a slot is never given
 * back, so looking at an old one is harmless.
 */
#ifndef API_SLOTS_H
#define API_SLOTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "net/http.h"

struct slot {
	_Atomic uint32_t ticket; /* generation and state */
	uint32_t next;		 /* in the list of free ones */
	bool tcp;
	bool watched; /* the descriptor is in the epoll set */
	uid_t uid;    /* of the client; (uid_t)-1 on TCP */
	pid_t pid;
	struct http http;
};

struct slots {
	struct slot *all;
	uint32_t size, first_free;
	_Atomic int64_t used;
	pthread_mutex_t lock; /* of the free list */
};

int slots_init(struct slots *s, uint32_t size, struct err *e);
void slots_done(struct slots *s);

/* A free slot, busy and owned by the caller; NULL when all are in use. */
struct slot *slots_take(struct slots *s);

/* Give a busy slot back; its connection has been closed. */
void slots_give(struct slots *s, struct slot *c);

/* What identifies the slot's present connection in an event. */
uint64_t slots_key(const struct slots *s, const struct slot *c);

/* Own the connection an event speaks of; NULL when it is gone. */
struct slot *slots_claim_key(struct slots *s, uint64_t key);

/* Own the slot if it is waiting. */
bool slot_claim(struct slot *c);

/* Let go of a busy slot that is in the epoll set: from here on it may belong to another thread. */
void slot_let_go(struct slot *c);

bool slot_is_busy(const struct slot *c);

#endif
