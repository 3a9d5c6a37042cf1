/* SPDX-License-Identifier: MIT */
/*
 * mcp_http: MCP over HTTP: POST /mcp, one message each.
 *
 * A modern request carries headers that repeat its body (mcp_headers.h) and has no session. A
 * legacy client begins with initialize and gets an MCP-Session-Id, which it sends from then on;
 * DELETE ends the session. There is no stream of our own for GET.
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

#include "api/routes.h"

/* Answer a request for /mcp, of any method. */
void mcp_http(struct exchange *x, const struct http_request *r);

#endif
