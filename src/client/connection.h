/* SPDX-License-Identifier: MIT */
/*
 * connection: requests and answers; a socket to a sidecar, and one request at a time on it.
 *
 * Whatever is at the other end, memory is bounded (a head, LIMIT_CLIENT_READ bytes not used yet, a
 * body of LIMIT_CLIENT_ANSWER) and no SIGPIPE is raised.
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "client/limits.h"
#include "config/registry.h"

/* What a client asks, and what it gets back: the requests and answers of the HTTP API, whether they
 * are sent to a sidecar (struct remote) or carried out in this process (struct local). */
struct request {
	const char *method, *target;
	struct str body;       /* JSON; a NULL pointer means no body */
	bool repeatable;       /* it changes nothing, so it may be sent a second time */
	struct cancel *cancel; /* or NULL */

	/* Takes a body of JSON lines or of events (application/x-ndjson, text/event-stream) piece
	 * by piece, as it arrives. Returns -1 with *e to end the stream. NULL: such a body is kept
	 * like any other. */
	int (*piece)(void *arg, struct str piece, struct err *e);
	void *arg;

	bool hints; /* errors may suggest what was probably meant */

	/* During a search, called with the number of files searched so far; or NULL. */
	void (*seen)(void *arg, int64_t files);
	void *seen_arg;
};

/* Room kept after a body, so that its memory can become the struct a host gets. */
enum { ANSWER_SPARE = 64 };

struct answer {
	int status;
	bool streamed;	  /* the body went to the request's `piece` */
	int64_t change;	  /* the number of what the call has changed; 0: it does not say */
	int64_t not_kept; /* how many paths of that cannot be brought back */
	struct buf body;  /* max is LIMIT_CLIENT_ANSWER + ANSWER_SPARE */
};

static inline void answer_done(struct answer *a)
{
	buf_done(&a->body);
}

struct conn {
	int fd;
	struct buf in;			/* received and not used yet */
	pid_t owner;			/* the process that made it */
	int64_t idle_since_ms;		/* while it is kept for the next call */
	char token[REGISTRY_TOKEN + 1]; /* to send with each request; or empty */
};

/* How long to wait for the other side. */
struct patience {
	int64_t silence_ms;    /* at most this long without a byte; 0: any time */
	int64_t deadline_ms;   /* and not beyond this point; IO_FOREVER */
	struct cancel *cancel; /* asked when the caller has given up; or NULL */
};

/* Takes the descriptor. NULL when there is no memory; then the descriptor is closed. */
struct conn *conn_new(int fd);
void conn_free(struct conn *c);

/* Between two requests: nothing has arrived, and the other side has not hung up. */
bool conn_is_quiet(const struct conn *c);

/* What is known about a request, also after a failure. */
struct conn_outcome {
	bool sent;     /* every byte was handed over, so it may have been carried out; an incomplete
			* request was not, because its length is announced */
	bool reusable; /* the connection is good for another request */
};

/*
 * Send one request and read its answer. `fields` are the header lines that every request has, each
 * with its CRLF. Fails with CONNECTION_LOST when the connection ended before the answer did;
 * BAD_ANSWER when the answer is not HTTP; TIMED_OUT; CANCELLED; or with the error of the request's
 * `piece`. After a failure *ret has no meaning.
 */
int conn_request(struct conn *c, const struct request *q, struct str fields,
		 const struct patience *p, struct answer *ret, struct conn_outcome *outcome,
		 struct err *e);

#endif
