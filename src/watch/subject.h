/* SPDX-License-Identifier: MIT */
/*
 * subject: a sidecar that is watched: where it listens, the token it wants, and requests to it.
 *
 * Every request has a connection of its own. The strings outlive the target.
 */
#ifndef WATCH_SUBJECT_H
#define WATCH_SUBJECT_H

#include "base/arena.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/json.h"
#include "client/connection.h"
#include "net/dial.h"

struct subject {
	struct dial_target at;
	const char *token; /* or NULL */
	pid_t pid;	   /* of a process that does not come back under this address; or 0 */
};

/* "unix:/run/s.sock" or "tcp:127.0.0.1:80" */
void subject_name(const struct subject *t, struct buf *out);

/* Connect; as dial, with a whole sentence. */
int subject_dial(const struct subject *t, struct cancel *cancel, enum dial_failure *failure,
		 struct err *e);

/* Make a request. `extra` is header lines, each with its CRLF. An answer of any status is a
 * success. */
int subject_request(const struct subject *t, const struct request *q, const char *extra,
		    int64_t silence_ms, struct answer *ret, struct err *e);

/* GET an object, in the arena; NULL and *e if the status is not 200. */
const struct json *subject_get(const struct subject *t, const char *url, struct cancel *cancel,
			       struct arena *a, struct err *e);

#endif
