/* SPDX-License-Identifier: MIT */
/*
 * protocol: the Model Context Protocol, message by message: what one JSON-RPC message asks for, and
 * what is answered. How messages travel is the carriers' business (stdio.h, http.h).
 *
 * Two eras share one endpoint. A request with modern metadata in params._meta (2026-07-28) stands
 * for itself: no handshake, no session, every result says so. Every other request is of the legacy
 * era (2024-11-05 to 2025-11-25), which begins with initialize. The only thing remembered of it is
 * the version that was agreed on, and only the carrier remembers it.
 *
 *	mcp_parse	text → JSON value (an array is a batch)
 *	mcp_open	JSON value → request: its id, method, era
 *	mcp_answer	answers everything but the call of a tool
 *	mcp_result_…	answers the call of a tool, once the carrier has made it
 *
 * A function that fails has filled in the request's error, which mcp_error writes. If a tool's
 * arguments are wrong, or a guard refuses the call, that is not an error of the protocol but a
 * result with isError, which the model can read.
 */
#ifndef MCP_PROTOCOL_H
#define MCP_PROTOCOL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "results/way.h"
#include "tools/schema.h"
#include "tools/tool.h"

#define MCP_MODERN "2026-07-28"

enum mcp_code {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_NO_METHOD = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL = -32603,
	MCP_HEADER_MISMATCH = -32020,
	MCP_UNSUPPORTED_VERSION = -32022,
};

/* One message. Everything points into the JSON value it was read from. */
struct mcp_request {
	const struct json *id; /* NULL: a notification, or it could not be read */
	struct str method;     /* empty: a response, which is not waited for */
	const struct json *params;
	bool modern;
	struct str version; /* modern: the one it names */
	struct str client;  /* what the client calls itself, if the message says it */

	const struct json *token; /* names the progress that the client wants; or NULL */
	const struct tool *tool;  /* of a call … */
	const struct json *arguments;
	bool structured;	   /* how the call is answered */
	const struct json *cancel; /* the id of the request to cancel */
	const char *agreed;	   /* the version that initialize was answered with */

	/* What is wrong with it: a JSON-RPC code, the status for HTTP, a sentence. */
	enum mcp_code code;
	int status;
	char why[320];
};

enum mcp_verb {
	MCP_ANSWERED, /* the answer is written, be it an error */
	MCP_OPENED,   /* the same, and a legacy session begins: request.agreed */
	MCP_CALL,     /* call request.tool, then answer: mcp_result_… */
	MCP_CANCEL,   /* end request.cancel; there is no answer */
	MCP_SILENT,   /* do nothing; there is no answer */
};

/* Sets the error and returns -1, so that a refusal is one line. */
int mcp_refuse(struct mcp_request *r, int status, enum mcp_code code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Parse the text of a message, strict JSON, into the arena; both outlive the value. */
int mcp_parse(struct str text, struct arena *a, const struct json **ret, struct mcp_request *r);

/* Take a message apart; fills in *r. */
int mcp_open(const struct json *message, struct mcp_request *r);

/* What clients are told of this server. */
struct mcp_offer {
	struct schema_offer tools;
	/* A sentence about what holds commands, for the instructions; may wait until it is known.
	 */
	struct str (*held)(void *arg);
	void *arg;
};

/* Answer into out (which is empty) what takes no time. */
enum mcp_verb mcp_answer(const struct mcp_offer *offer, struct mcp_request *r, struct buf *out);

/* The answer to a request for which mcp_answer returned MCP_CALL: the result of its call as text,
 * or its observation if request.structured is set. */
void mcp_result_text(const struct mcp_request *r, const struct way_text *t, bool success,
		     struct buf *out);
void mcp_result_structured(const struct mcp_request *r, struct str observation, bool success,
			   struct buf *out);

/* The answer that the call failed with *e. */
void mcp_fail(const struct mcp_request *r, const struct err *e, struct buf *out);

/* The answer that says what is wrong with the request. */
void mcp_error(const struct mcp_request *r, struct buf *out);

/* A notification of progress, in seconds, which grows from one to the next. */
void mcp_progress(const struct json *token, int64_t progress_ms, struct str message,
		  struct buf *out);

/* The legacy version of that name as a constant; NULL if there is no such version. */
const char *mcp_legacy_version(struct str version);

/*
 * Several messages in one JSON array, as only revision 2025-03-26 has them. They are answered one
 * after the other, in an array without those that have no answer.
 */
struct mcp_batch {
	/* How the carrier calls a tool, and cancels another request. */
	void (*call)(void *arg, struct mcp_request *r, struct buf *out);
	void (*cancel)(void *arg, const struct json *id);
	void *arg;
};

/* Whether a session of that version may send this batch; else the request's error is set. */
int mcp_batch_check(const char *version, const struct json *batch, struct mcp_request *r);

/* Answer all; out stays empty if there is nothing to answer. */
void mcp_batch_answer(const struct mcp_offer *offer, const struct mcp_batch *b,
		      const struct json *batch, struct buf *out);

/*
 * What programs that speak MCP do with results, by the name that they call themselves. Some cut the
 * middle out of a long result, without telling the model where to find it; then the result is made
 * to fit. Some repeat all arguments beside an error, which a model pays for; then an error is an
 * ordinary text.
 */
struct mcp_client {
	const char *name; /* or the beginning of it */
	int64_t bytes;	  /* of a result that is passed on whole; 0: not known */
	int64_t lines;	  /* the same; 0: not known */
	bool plain_errors;
};

/* What is known of the client; a row of zeros for any other. */
const struct mcp_client *mcp_client_find(struct str name);

#endif
