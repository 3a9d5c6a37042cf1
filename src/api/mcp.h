/* SPDX-License-Identifier: MIT */
/*
 * mcp: the Model Context Protocol over HTTP: POST /mcp, one message each.
 *
 * A modern request has no session, and carries headers that repeat parts of its body, so that a
 * proxy can decide without reading the body. They must say the same.
 *
 *	MCP-Protocol-Version	params._meta["io.modelcontextprotocol/protocolVersion"]
 *	Mcp-Method		method
 *	Mcp-Name		params.name of tools/call; may be =?base64?…?=
 *
 * A legacy client begins with initialize and gets an MCP-Session-Id, which it sends from then on;
 * DELETE ends the session. GET has no stream.
 *
 * The answer is JSON. Only when a call takes long and the client accepts it, it becomes a stream of
 * events: progress as it comes (a comment, when none is wanted, to keep the connection alive), and
 * the answer last.
 *
 * A modern client cancels by closing the connection. For a legacy one that means nothing: the call
 * goes on; it sends notifications/cancelled in the same session.
 */
#ifndef API_MCP_H
#define API_MCP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/limits.h"
#include "api/exchange.h"
#include "base/str.h"
#include "mcp/protocol.h"
#include "net/http_parse.h"

enum { MCP_SESSION_ID = 32 }; /* characters of a name: 128 random bits */
enum { MCP_CLIENT_NAME = 64 };

/*
 * The legacy sessions of one server: a random name, and the version agreed on.
 *
 * There are at most LIMIT_MCP_SESSIONS. When one more begins, the least recently used one ends: its
 * client is told that it is unknown and begins anew. Safe for many threads.
 */
struct mcp_http {
	pthread_mutex_t lock;
	int64_t clock; /* counts uses */
	struct mcp_session {
		char id[MCP_SESSION_ID];
		const char *version; /* a constant; NULL: the place is free */
		int64_t used;
		char client[MCP_CLIENT_NAME]; /* what it calls itself; or "" */
	} list[LIMIT_MCP_SESSIONS];
};

/* NULL when there is no memory. */
struct mcp_http *mcp_http_new(void);
void mcp_http_free(struct mcp_http *m);

void mcp_sessions_begin(struct mcp_http *m, const char *version, struct str client,
			char id[MCP_SESSION_ID + 1]);

/* The version of the session, which counts as used, and its client; NULL if there is no session of
 * that name. */
const char *mcp_sessions_find(struct mcp_http *m, struct str id, char client[MCP_CLIENT_NAME]);

/* Returns false if there was no such session. */
bool mcp_sessions_end(struct mcp_http *m, struct str id);

/* 0, or -1 with the request's error set: HeaderMismatch for a header that is missing, given
 * twice, or different. mcp_answer refuses a version that we do not know. */
int mcp_headers_check(const struct http_head *head, struct mcp_request *r);

#endif
