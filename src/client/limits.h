/* SPDX-License-Identifier: MIT */
/* limits: every number that limits the client library, with its reason. */
#ifndef CLIENT_LIMITS_H
#define CLIENT_LIMITS_H

enum {
	/* Client: how long a sidecar may take to appear by default, how often the client tries, and
	 * the longest time a host may set. */
	LIMIT_READY_MS = 10000,
	LIMIT_READY_PAUSE_MS = 100,
	LIMIT_READY_MOST_MS = 24 * 3600 * 1000,

	/* Client: connections kept for the next call, and how long: the server closes an idle one
	 * after LIMIT_IDLE_MS. */
	LIMIT_IDLE_CONNECTIONS = 16,
	LIMIT_IDLE_REUSE_MS = 120 * 1000,

	/* Client: how often a call that only reads is repeated when its answer was lost. */
	LIMIT_REPEATS = 3,

	/* Client: bytes read at once; the longest body for which memory is allocated as soon as it
	 * is announced; interim answers before the answer (servers send few); the largest answer,
	 * which may wrap one of LIMIT_ANSWER; a line of a stream. */
	LIMIT_CLIENT_READ = 64 << 10,
	LIMIT_CLIENT_AT_ONCE = 1 << 20,
	LIMIT_INTERIM = 8,
	LIMIT_CLIENT_ANSWER = 2 * (40 << 20),
	LIMIT_STREAM_LINE = 4 << 20,
};

#endif
