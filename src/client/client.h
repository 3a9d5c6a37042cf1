/* SPDX-License-Identifier: MIT */
/*
 * client: struct sidecar, and struct op: one operation that a host asks it for.
 *
 * A sidecar takes the requests of the HTTP API and gives its answers: it sends them to a server
 * (remote.h) or carries them out in this process (local.h). An op does not know which. It turns the
 * arguments of a call into a request, and the answer into a value:
 *
 *	OPERATION op;
 *	op_begin(&op, sidecar, "/ls", true);
 *	op_text(&op, "path", str_of(path));
 *	const struct json *result = op_run(&op, error);
 *
 * Text that is not UTF-8 is refused, because it would be changed on the way.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jw.h"
#include "client/request.h"
#include "sidecar.h"

struct local;
struct remote;

struct sidecar {
	struct remote *remote;			    /* either this … */
	struct local *local;			    /* … or that; the other one is NULL */
	char *session;				    /* or NULL */
	void (*progress)(void *arg, int64_t files); /* or NULL */
	void *progress_arg;
	bool hints;
};

/* Make the request. An answer of any status is a success. */
int client_call(struct sidecar *s, const struct request *q, struct answer *ret, struct err *e);

/* Copy an error to the caller's struct, which may be NULL. */
void client_error(struct sidecar_error *error, const struct err *e);

struct op {
	struct sidecar *sidecar;
	struct request request;
	struct buf body; /* of the request; its object is open until it is sent */
	struct jw w;
	struct answer answer;
	struct arena arena;   /* of the parsed answer */
	const char *not_text; /* the first argument that is not UTF-8; or NULL */
};

#define OPERATION CLEANUP(op_done) struct op

/* POST to that target; `repeatable` when it changes nothing. */
void op_begin(struct op *op, struct sidecar *s, const char *target, bool repeatable);
void op_done(struct op *op);

/* Add bytes: as text, or if they are not UTF-8, or so long that escaping could make them too large,
 * as base64 with a second argument that says so. */
void op_bytes(struct op *op, const char *name, const char *encoding, struct str bytes);

/* Add an argument. Text with a NULL pointer, and a number that is 0, are left out. */
void op_text(struct op *op, const char *name, struct str text);
void op_number(struct op *op, const char *name, int64_t value);

/* Send the request: 0 and the answer, with status 200, in op->answer; or -1 and *error. */
int op_send(struct op *op, struct sidecar_error *error);

/* Send the request: the member "result" of the answer to a call that succeeded, parsed in place in
 * op->answer.body; or NULL and *error. */
const struct json *op_run(struct op *op, struct sidecar_error *error);

/* Parse the answer and keep its text, for a result that shows it. NULL with BAD_ANSWER. */
const struct json *op_parse(struct op *op, struct sidecar_error *error);

/* Set *error from an answer that is not a success. Returns -1. */
int op_failed(struct op *op, struct sidecar_error *error);

#endif
