/* SPDX-License-Identifier: MIT */
/*
 * mcp_out: the parts that answers are made of: versions, who we are, the envelope of a result.
 * Only for mcp.c; what carriers write with is declared in mcp.h.
 */
#ifndef MCP_MCP_OUT_H
#define MCP_MCP_OUT_H

#include "mcp/protocol.h"
#include "base/jw.h"

#define MCP_META   "io.modelcontextprotocol/"
#define MCP_LEGACY "2025-11-25" /* offered to whoever asks for one we do not know */

/* An answer with an open result, and its end. */
void mcp_begin_result(struct jw *w, const struct mcp_request *r);
void mcp_end_result(struct jw *w, const struct mcp_request *r);

void mcp_write_versions(struct jw *w, const char *name);
void mcp_write_server(struct jw *w, const char *name);

#endif
