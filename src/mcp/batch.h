/* SPDX-License-Identifier: MIT */
/*
 * mcp_batch: several messages in one JSON array, as only revision 2025-03-26 has them. They are
 * answered one after the other; the answers are an array, too, without those there are not.
 */
#ifndef MCP_BATCH_H
#define MCP_BATCH_H

#include "mcp/protocol.h"

/* How the carrier does what takes time, or concerns other messages. */
struct mcp_batch {
	void (*call)(void *arg, struct mcp_request *r, struct buf *out);
	void (*cancel)(void *arg, const struct json *id);
	void *arg;
};

/* Whether a session of that version may send this batch; else the request's error is set. */
int mcp_batch_check(const char *version, const struct json *batch, struct mcp_request *r);

/* Answer all; out stays empty when there is nothing to answer. */
void mcp_batch_answer(const struct service *s, const struct mcp_batch *b, const struct json *batch,
		      struct buf *out);

#endif
