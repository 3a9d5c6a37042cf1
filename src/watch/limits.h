/* SPDX-License-Identifier: MIT */
/* limits: every number that limits those who watch, with its reason. */
#ifndef WATCH_LIMITS_H
#define WATCH_LIMITS_H

#include <stdint.h>

enum {
	/* How long a sidecar may take to say what it is: it does so at once. */
	LIMIT_ASK_MS = 2000,

	/* A stream of events has something every LIMIT_WATCH_SILENCE_MS; a connection that is
	 * silent for longer is lost. Then how often a new one is tried. */
	LIMIT_STREAM_SILENCE_MS = 40000,
	LIMIT_STREAM_PAUSE_MS = 500,

	/* One event as text: the largest has 64 KB of output, in which every byte may be escaped.
	 */
	LIMIT_STREAM_EVENT = 1 << 20,

	/* What is shown of calls from before the start, unless --since says otherwise. */
	LIMIT_SHOWN_BEFORE = 10,

	/* What is shown of one call: lines of output while it runs and when it has ended, lines of
	 * its diff, calls that run at once. */
	LIMIT_SHOWN_RUNNING = 3,
	LIMIT_SHOWN_OUTPUT = 5,
	LIMIT_SHOWN_DIFF = 16,
	LIMIT_SHOWN_CALLS = 4,
	LIMIT_SHOWN_REASONS = 3,

	/* The end of a call's output that is kept for that; and calls that are followed at once. */
	LIMIT_VIEW_TAIL = 8 << 10,
	LIMIT_VIEW_CALLS = 1024,

	/* An audit file, which is checked in memory: some ten million calls. */
	LIMIT_AUDIT_FILE = INT32_MAX,

	/* The thread of keys, which also makes requests. */
	LIMIT_WATCH_STACK = 256 << 10,

	/* Connections of browsers that are carried at once: a page opens six. One thread each. */
	LIMIT_PROXIED = 64,
	LIMIT_PROXY_STACK = 256 << 10,
	LIMIT_PROXY_PIECE = 32 << 10,

	/* How long a browser may take for the head of a request. */
	LIMIT_PROXY_HEAD_MS = 10000,
};

#endif
