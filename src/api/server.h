/* SPDX-License-Identifier: MIT */
/*
 * server: workers on one epoll set, each carrying one request from socket to socket.
 *
 * The worker that wakes takes in what has arrived on that connection. An incomplete request goes
 * back to the set; the worker carries a complete one through to its answer. A connection has no
 * owner while it waits, and exactly one thread owns it otherwise; a slow or idle connection costs a
 * buffer, not a thread. A few workers are always there. When a call may take long, or all workers
 * have been busy for a while, the server starts another one, up to a limit.
 */
#ifndef API_SERVER_H
#define API_SERVER_H

#include <sys/types.h>

#include "api/exchange.h"
#include "base/err.h"
#include "net/listen.h"

struct server_options {
	struct front *front;
	struct listener *listeners;
	size_t listener_count;
	const uid_t *uids; /* that may connect to a Unix socket; empty: its mode decides */
	size_t uid_count;
	void (*child_ended)(void); /* as process 1: wait for orphans; or NULL */
	int64_t grace_ms;	   /* how long running calls may take after a signal to stop */
};

/* A call could not be ended: its thread still uses what the service points to, so the process must
 * end without taking anything down. */
enum { SERVER_STUCK = 1 };

/* Serve until SIGTERM or SIGINT (which, like SIGCHLD, must be blocked in all threads). Returns 0
 * after an orderly end, SERVER_STUCK, or -1 when it could not start. */
int server_run(const struct server_options *o, struct err *e);

#endif
