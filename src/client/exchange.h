/* SPDX-License-Identifier: MIT */
/*
 * exchange: one request sent and its answer read, on one connection.
 *
 * Whatever is at the other end, memory is bounded (a head, a body of LIMIT_CLIENT_ANSWER) and the
 * end is one of: an answer; CONNECTION_LOST, when the connection ended before the answer did;
 * BAD_ANSWER, when what came is not HTTP; TIMED_OUT; CANCELLED; or what the taker of a stream said.
 */
#ifndef CLIENT_EXCHANGE_H
#define CLIENT_EXCHANGE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "client/connection.h"

struct request {
	const char *method, *target;
	struct str body; /* JSON; without a pointer there is none */
	bool repeatable; /* it changes nothing: made twice it does no harm */
	int cancel_fd;	 /* or -1 */

	/* Takes a body of JSON lines (application/x-ndjson) piece by piece, as it arrives; NULL:
	 * such a body is kept like every other. -1 with *e: it wants no more. */
	int (*piece)(void *arg, struct str piece, struct err *e);
	void *arg;

	/* Told while a search goes on how many files it has looked at; or NULL. */
	void (*seen)(void *arg, int64_t files);
	void *seen_arg;
};

/* Room that is kept behind a body: what holds it becomes the struct a host gets, see results.h. */
enum { ANSWER_SPARE = 64 };

struct answer {
	int status;
	bool streamed;	 /* the body went to the request's taker */
	struct buf body; /* max is LIMIT_CLIENT_ANSWER + ANSWER_SPARE */
};

static inline void answer_done(struct answer *a)
{
	buf_done(&a->body);
}

/* What is known of an exchange whatever became of it. */
struct exchange_state {
	bool sent;     /* every byte was handed over: it may have been carried out. A request that
			* is not complete is not: its length was announced */
	bool reusable; /* the connection is good for another one */
};

/* `fields` are header lines every request has, each with its CRLF. */
int exchange(struct conn *c, const struct request *q, struct str fields, const struct patience *p,
	     struct answer *ret, struct exchange_state *state, struct err *e);

#endif
