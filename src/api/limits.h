/* SPDX-License-Identifier: MIT */
/* limits: of the HTTP front end; base/limits.h has those that others share. */
#ifndef API_LIMITS_H
#define API_LIMITS_H

#include "base/limits.h"

enum {
	/* A path, or another text, in the query of a request. */
	LIMIT_QUERY_TEXT = 4096,

	/* Who watches: how many, how often they hear that nothing happens, how long news are
	 * gathered for them, and what each may have taken without having sent it on. */
	LIMIT_WATCHERS = 256,
	LIMIT_WATCH_SILENCE_MS = 15000,
	LIMIT_WATCH_GATHER_MS = 20,
	LIMIT_WATCH_PIECE = 64 << 10,

	/* Sessions of older MCP clients: the one unused for longest goes first. */
	LIMIT_MCP_SESSIONS = 1024,

	/* Memory for all request bodies that arrive, and all answers not yet taken: without it a
	 * request gets 503, and a client that does not read loses its connection. */
	LIMIT_BODIES = 256 << 20,

	/* How many of LIMIT_CONNECTIONS may be by TCP, which more clients can reach: it leaves the
	 * rest to Unix sockets. */
	LIMIT_CONNECTIONS_TCP = 3584,

	/* Connections beyond these that are being refused: each stays until its client has sent its
	 * request and taken the answer. */
	LIMIT_REFUSED = 256,

	/* How long the server waits, after the grace time, until running calls have ended: a
	 * command gets SIGTERM, then SIGKILL. */
	LIMIT_STOP_MS = 8000,

	/* Threads that carry requests: a few always, more while calls take long; at most enough for
	 * every command, for every call that waits for its turn, and for other waits beside them.
	 */
	LIMIT_WORKERS_MIN = 2,
	LIMIT_WORKERS = 896,

	/* A further worker ends after waiting in vain for this long. */
	LIMIT_WORKER_IDLE_MS = 10000,
};

#endif
