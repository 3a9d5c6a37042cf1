/* SPDX-License-Identifier: MIT */
/*
 * operation: one call of a host: its arguments become a request, its answer a value.
 *
 *	CLEANUP(operation_done) struct operation op;
 *	operation_begin(&op, sidecar, "/ls", true);
 *	operation_text(&op, "path", path);
 *	const struct json *result = operation_run(&op, error);
 *
 * Text that is not UTF-8 cannot be sent as it is and would be changed on the way: it is refused.
 */
#ifndef CLIENT_OPERATION_H
#define CLIENT_OPERATION_H

#include "base/arena.h"
#include "base/json.h"
#include "base/jw.h"
#include "client/client.h"

struct operation {
	struct sidecar *sidecar;
	struct request request;
	struct buf body; /* of the request; its object is open until it is sent */
	struct jw w;
	struct answer answer;
	struct arena arena;   /* of the parsed answer */
	const char *not_text; /* the first argument that is not UTF-8; or NULL */
};

/* POST to that target; `repeatable` when it changes nothing. */
void operation_begin(struct operation *op, struct sidecar *s, const char *target, bool repeatable);
void operation_done(struct operation *op);

/* Arguments. Text without a pointer, and a number that is 0, are left out. */
void operation_text(struct operation *op, const char *name, struct str text);
void operation_number(struct operation *op, const char *name, int64_t value);

/* Send it: 0 and the answer, of any status, in op->answer; or -1 and *error. */
int operation_send(struct operation *op, struct sidecar_error *error);

/* Send it: the member "result" of the answer to a call that succeeded, parsed over op->answer.body;
 * or NULL and *error. */
const struct json *operation_run(struct operation *op, struct sidecar_error *error);

/* The answer as JSON; NULL with BAD_ANSWER. Its text stays as it is, as a result shows it. */
const struct json *operation_parse(struct operation *op, struct sidecar_error *error);

/* What an answer that is no success says; -1. */
int operation_refused(struct operation *op, struct sidecar_error *error);

#endif
