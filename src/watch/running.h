/* SPDX-License-Identifier: MIT */
/*
 * running: the sidecars of this user that run, what they say of themselves, which one is meant, and
 * requests to it.
 */
#ifndef WATCH_RUNNING_H
#define WATCH_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cancel.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/cli.h"
#include "client/connection.h"
#include "net/dial.h"

/* A sidecar that is watched: where it listens, the token it wants, and requests to it. Every request
 * has a connection of its own. The strings outlive the subject. */
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
 * success, except for 401: -1 with UNAUTHORIZED. */
int subject_request(const struct subject *t, const struct request *q, const char *extra,
		    int64_t silence_ms, struct answer *ret, struct err *e);

/* GET an object, in the arena; NULL and *e if the status is not 200. */
const struct json *subject_get(const struct subject *t, const char *url, struct cancel *cancel,
			       struct arena *a, struct err *e);

/* The one that is meant: the one that options or the environment name; --pid; the only one; the one
 * whose workspace holds the current directory; with `any`, the newest. Without any it waits for the
 * first. Returns EXIT_OK; or another exit status after it has said what to do. */
int running_choose(struct cli *c, int64_t pid, bool any, struct subject *ret);

/* The one of that pid, in the arena; false: there is none. `token` is what those that want one are
 * sent unless they have made their own; or NULL. */
bool running_find(int64_t pid, const char *token, struct arena *a, struct subject *ret);

/* Add {"sidecars":[…]}: all of them, and what each says of itself. */
void running_write(const char *token, struct arena *a, struct buf *out);

#endif
