/* SPDX-License-Identifier: MIT */
/*
 * server: a front end that listens, from its start to its orderly end.
 *
 * Workers serve the connections (workers.h). The main thread waits for a signal to stop and, while
 * there are connections, looks at their deadlines a few times a second; without any it sleeps, and
 * costs nothing.
 */
#ifndef API_SERVER_H
#define API_SERVER_H

#include "api/workers.h"

struct server_options {
	struct workers_options serve;
	void (*child_ended)(void);  /* as process 1: wait for orphans; or NULL */
	void (*hung_up)(void *arg); /* on SIGHUP; NULL: the signal has its usual effect */
	void *arg;
	int64_t grace_ms; /* how long running calls may take after a signal to stop */
	int lifeline;	  /* its end stops the server like a signal; -1: there is none */
};

/* A call could not be ended: its thread still uses what the service points to, so the process must
 * end without taking anything down. */
enum { SERVER_STUCK = 1 };

/* Serve until SIGTERM or SIGINT (which, like SIGCHLD, must be blocked in all threads), or the end
 * of the lifeline. Returns 0 after an orderly end, SERVER_STUCK, or -1 when it could not start. */
int server_run(const struct server_options *o, struct err *e);

#endif
