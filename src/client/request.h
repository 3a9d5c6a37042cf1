/* SPDX-License-Identifier: MIT */
/*
 * request: what a client asks, and what it gets back.
 *
 * These are the requests and answers of the HTTP API, whether they are sent to a sidecar (remote.h)
 * or carried out in this process (local.h).
 */
#ifndef CLIENT_REQUEST_H
#define CLIENT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "client/limits.h"

struct request {
	const char *method, *target;
	struct str body;       /* JSON; a NULL pointer means no body */
	bool repeatable;       /* it changes nothing, so it may be sent a second time */
	struct cancel *cancel; /* or NULL */

	/* Takes a body of JSON lines or of events (application/x-ndjson, text/event-stream) piece
	 * by piece, as it arrives. Returns
	 * -1 with *e to end the stream. NULL: such a body is kept like any other. */
	int (*piece)(void *arg, struct str piece, struct err *e);
	void *arg;

	bool hints; /* errors may suggest what was probably meant */

	/* During a search, called with the number of files searched so far; or NULL. */
	void (*seen)(void *arg, int64_t files);
	void *seen_arg;
};

/* Room kept after a body, so that its memory can become the struct a host gets: results.h. */
enum { ANSWER_SPARE = 64 };

struct answer {
	int status;
	bool streamed;	 /* the body went to the request's `piece` */
	struct buf body; /* max is LIMIT_CLIENT_ANSWER + ANSWER_SPARE */
};

static inline void answer_done(struct answer *a)
{
	buf_done(&a->body);
}

#endif
