/* SPDX-License-Identifier: MIT */
/*
 * connection: a socket to a sidecar, and what has arrived on it and is not used yet.
 *
 * Memory is bounded: at most a head and LIMIT_CLIENT_READ bytes are held. No SIGPIPE is raised.
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct conn {
	int fd;
	struct buf in;
	pid_t owner;	       /* the process that made it */
	int64_t idle_since_ms; /* while it is in the pool */
};

/* How long to wait for the other side. */
struct patience {
	int64_t silence_ms;  /* at most this long without a byte; 0: any time */
	int64_t deadline_ms; /* and not beyond this point; IO_FOREVER */
	int cancel_fd;	     /* becomes readable when nobody waits any more; or -1 */
};

/* The same, with the silence as the time there is in all, from now on: who sends a byte now and
 * then is never silent. */
struct patience patience_in_all(const struct patience *p);

/* Takes the descriptor. NULL when there is no memory; then it is closed. */
struct conn *conn_new(int fd);
void conn_free(struct conn *c);

/* Between two exchanges: nothing has come and nobody has hung up. */
bool conn_is_quiet(const struct conn *c);

/* Send both pieces. *accepted counts the bytes the kernel took, also when this fails:
 * CONNECTION_LOST, TIMED_OUT, CANCELLED. */
int conn_send(struct conn *c, struct str head, struct str body, const struct patience *p,
	      size_t *accepted, struct err *e);

/* Wait for bytes and take at most n of them, past c->in, which must be empty. How many, 0 at the
 * end; -1: CONNECTION_LOST, TIMED_OUT, CANCELLED. */
ssize_t conn_receive(struct conn *c, char *to, size_t n, const struct patience *p, struct err *e);

/* The same into c->in: 1 when there are, 0 at the end; -1 also with BAD_ANSWER when what is held is
 * not used and there is no more room. */
int conn_fill(struct conn *c, const struct patience *p, struct err *e);

#endif
