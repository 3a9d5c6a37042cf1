/* SPDX-License-Identifier: MIT */
/*
 * headers: the headers in which a modern request repeats parts of its body, so that a proxy can
 * decide without reading the body. They must say the same.
 *
 *	MCP-Protocol-Version	params._meta["io.modelcontextprotocol/protocolVersion"]
 *	Mcp-Method		method
 *	Mcp-Name		params.name of tools/call; may be =?base64?…?=
 */
#ifndef MCP_HEADERS_H
#define MCP_HEADERS_H

#include "mcp/protocol.h"
#include "net/http_parse.h"

/* 0, or -1 with the request's error set: HeaderMismatch for a header that is missing, given
 * twice, or different. mcp_answer refuses a version that we do not know. */
int mcp_headers_check(const struct http_head *head, struct mcp_request *r);

#endif
