/* SPDX-License-Identifier: MIT */
/* pool: a few places, each of them a connection or empty. */

#include "client/pool.h"

#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

void pool_done(struct pool *p)
{
	for (size_t i = 0; i < ARRAY_LEN(p->idle); i++)
		conn_free(atomic_exchange(&p->idle[i], NULL));
}

struct conn *pool_take(struct pool *p, bool *stale)
{
	const int64_t oldest = io_now_ms() - LIMIT_IDLE_REUSE_MS;
	const pid_t self = getpid();

	for (size_t i = 0; i < ARRAY_LEN(p->idle); i++) {
		struct conn *c = atomic_exchange(&p->idle[i], NULL);
		if (!c)
			continue;
		const bool own = c->owner == self;
		if (own && c->idle_since_ms >= oldest && conn_is_quiet(c))
			return c;
		/* After fork: closing it here leaves the parent's open. */
		conn_free(c);
		*stale |= own;
	}
	return NULL;
}

void pool_keep(struct pool *p, struct conn *c)
{
	c->idle_since_ms = io_now_ms();
	for (size_t i = 0; i < ARRAY_LEN(p->idle); i++) {
		struct conn *none = NULL;
		if (atomic_compare_exchange_strong(&p->idle[i], &none, c))
			return;
	}
	conn_free(c);
}
