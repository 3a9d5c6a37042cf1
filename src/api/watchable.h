/* SPDX-License-Identifier: MIT */
/*
 * watchable: a socket on which `sidecar mcp`, which has no other, can be watched.
 *
 * It is found through the registry (config/registry.h), is for this user alone, and has the routes
 * for those who watch and no others: what happens, stopping a call, changes and their undo. A
 * command of a sidecar, which runs as the same user, is refused. Threads of its own serve it; while
 * it has no client they sleep.
 */
#ifndef API_WATCHABLE_H
#define API_WATCHABLE_H

#include <stdbool.h>

#include "base/err.h"
#include "service/service.h"

struct watchable;

/* Open it. The service must outlive it; with service.live open, events are served. NULL and *e if
 * it cannot be opened. */
struct watchable *watchable_open(struct service *s, struct err *e);

/* Hang up on all who watch, and close it. False: a thread is stuck in a call and still uses the
 * service, so the process must end without taking anything down. Accepts NULL. */
bool watchable_close(struct watchable *w);

#endif
