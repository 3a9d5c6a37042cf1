/* SPDX-License-Identifier: MIT */
/*
 * client: struct sidecar, and struct op: one operation that a host asks it for.
 *
 * A sidecar takes the requests of the HTTP API and gives its answers: it sends them to a server
 * (struct remote) or carries them out in this process (struct local). An op does not know which. It
 * turns the arguments of a call into a request, and the answer into a value:
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
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/jw.h"
#include "client/connection.h"
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

/* Parse the answer, in place (its text is overwritten) or beside its text, for a result that shows
 * it. NULL with BAD_ANSWER. */
const struct json *op_parse(struct op *op, bool in_place, struct sidecar_error *error);

/* Whether all of it can be written into a request's head; NULL has nothing. */
bool client_is_graphic(const char *text);

/* Set *error from an answer that is not a success. Returns -1. */
int op_failed(struct op *op, struct sidecar_error *error);

/* remote: a sidecar that is reached through a socket.
 *
 * Connections are kept for the next call, and made when there is none to use. A call waits for a
 * sidecar that is not there yet. A kept connection that the server has closed is noticed before
 * anything is sent and is not an error. Several threads may use a remote at the same time.
 */

/* Check the settings; nothing is connected. NULL with INVALID_CONFIG. */
struct remote *remote_new(const struct sidecar_settings *settings, struct err *e);

/* Close the connections. Accepts NULL. */
void remote_free(struct remote *r);

/* "unix:<path>" or "tcp:<host>:<port>" */
const char *remote_address(const struct remote *r);

/* Wait until GET /health says ok. Fails with NOT_READY, UNAUTHORIZED, BAD_ANSWER or CANCELLED. */
int remote_ensure_ready(struct remote *r, struct err *e);

/*
 * Make the request. If the connection is lost, a request that was not sent completely, or that is
 * repeatable, is sent again, within the time to wait for readiness; any other one fails with
 * CONNECTION_LOST. An answer of any status is a success.
 */
int remote_call(struct remote *r, const struct request *q, struct answer *ret, struct err *e);

/* local: the executor that needs no sidecar: tools run in this process.
 *
 * It takes the requests a sidecar takes and gives the answers a sidecar gives, in the same words.
 * Commands are started by the sidecar program, which does nothing else here; without it they fail
 * with SPAWN_FAILED, and everything else works. Safe to use from several threads.
 */

/* Open the workspace and start what starts commands. NULL with the reason. */
struct local *local_new(const struct sidecar_settings *settings, struct err *e);

/* End the commands that run. No call may be under way. Accepts NULL. */
void local_free(struct local *l);

/* "local:<root>" */
const char *local_address(const struct local *l);

/* Whether it takes requests of any route (sidecar_request). */
bool local_has_routes(const struct local *l);

/* Carry the request out. */
int local_call(struct local *l, const struct request *q, struct answer *ret, struct err *e);

/* results: answers as the structs of sidecar.h, each of them one block for sidecar_free.
 *
 * An answer that is one long text becomes the result itself: the struct is written over the
 * beginning of the body, and the text, which was decoded in place, stays there or moves up a few
 * bytes. So `body` is what `result` was parsed from, with ANSWER_SPARE bytes of room after it; it
 * is empty afterwards, and unchanged after a failure. Other results are copies.
 *
 * Every function can fail: NULL, and *error is BAD_ANSWER with the name of the member that is
 * missing or has the wrong type, or TOO_BUSY when there is no memory.
 */

struct sidecar_file *result_file(struct buf *body, const struct json *result,
				 struct sidecar_error *error);
struct sidecar_change *result_change(const struct json *result, int64_t change,
				     struct sidecar_error *error);
struct sidecar_patch *result_patch(const struct json *result, int64_t change,
				   struct sidecar_error *error);
struct sidecar_names *result_names(const struct json *result, struct sidecar_error *error);

/* The text is the member of that name. It is truncated if the result has a "truncation", or
 * "details" other than ignoredMatches. */
struct sidecar_text *result_text(struct buf *body, const struct json *result, struct str name,
				 struct sidecar_error *error);

/* At most `limit` lines of the output; truncated if it has more. */
struct sidecar_text *result_listing(struct buf *body, const struct json *result, int64_t limit,
				    struct sidecar_error *error);

/* The body, unchanged. */
struct sidecar_text *result_body(struct buf *body, struct sidecar_error *error);

/* The body, unchanged, and what it says. */
struct sidecar_health *result_health(struct str body, const struct json *root,
				     struct sidecar_error *error);
struct sidecar_observation *result_observation(struct buf *body, const struct json *root,
					       struct sidecar_error *error);

#endif
