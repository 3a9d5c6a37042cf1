/* SPDX-License-Identifier: MIT */
/*
 * http: MCP over HTTP: POST /mcp, one message each.
 *
 * A modern request carries headers that repeat its body (headers.h) and has no session. A
 * legacy client begins with initialize and gets an MCP-Session-Id, which it sends from then on;
 * DELETE ends the session. GET has no stream.
 *
 * The answer is JSON. Only when a call takes long and the client accepts it, it becomes a stream of
 * events: progress as it comes (a comment, when none is wanted, to keep the connection alive), and
 * the answer last.
 *
 * A modern client cancels by closing the connection. For a legacy one that means nothing: the call
 * goes on; it sends notifications/cancelled in the same session.
 */
#ifndef MCP_MCP_HTTP_H
#define MCP_MCP_HTTP_H

#include "api/exchange.h"

/* The calls under way and the legacy sessions of one server. NULL when there is no memory. */
struct mcp_http *mcp_http_new(void);
void mcp_http_free(struct mcp_http *m);

/* To be called about once a second: silent calls tell that they are still running. */
void mcp_http_tick(struct mcp_http *m);

/* End every call, and let none begin any more. */
void mcp_http_stop(struct mcp_http *m);

/* Answer a request of that method for /mcp. */
void mcp_http_post(struct exchange *x, const struct http_request *r, struct str rest);
void mcp_http_delete(struct exchange *x, const struct http_request *r, struct str rest);

#endif
