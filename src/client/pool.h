/* SPDX-License-Identifier: MIT */
/*
 * pool: connections kept for the next call.
 *
 * The zero value is an empty one. Safe to use from several threads, and without a lock, because a
 * child of fork would wait for ever for one that another thread of its parent held. Connections are
 * their process's: a child does not use its parent's.
 */
#ifndef CLIENT_POOL_H
#define CLIENT_POOL_H

#include <stdatomic.h>

#include "base/limits.h"
#include "client/connection.h"

struct pool {
	struct conn *_Atomic idle[LIMIT_IDLE_CONNECTIONS]; /* or NULL */
};

void pool_done(struct pool *p); /* closes what is kept */

/* A connection that is as it was left; or NULL. *stale becomes true when one was found that is not:
 * the server has closed it. */
struct conn *pool_take(struct pool *p, bool *stale);

/* Keep it, or close it when there are enough. */
void pool_keep(struct pool *p, struct conn *c);

#endif
