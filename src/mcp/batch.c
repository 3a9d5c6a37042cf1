/* SPDX-License-Identifier: MIT */
/* mcp_batch: one message after the other, their answers in one array. */

#include "mcp/batch.h"

int mcp_batch_check(const char *version, const struct json *batch, struct mcp_request *r)
{
	if (!version || !str_eq(str_of(version), STR("2025-03-26")))
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST,
				  "Batches are not part of this protocol version: send one message "
				  "at a time");
	if (!batch->first)
		return mcp_refuse(r, 400, MCP_INVALID_REQUEST, "The batch is empty");
	return 0;
}

static void answer(const struct service *s, const struct mcp_batch *b, const struct json *item,
		   struct buf *out)
{
	struct mcp_request r;

	if (mcp_open(item, &r) < 0 ||
	    (str_eq(r.method, STR("initialize")) &&
	     mcp_refuse(&r, 400, MCP_INVALID_REQUEST, "initialize must not be part of a batch"))) {
		mcp_error(&r, out);
		return;
	}
	switch (mcp_answer(s, &r, out)) {
	case MCP_CALL:
		b->call(b->arg, &r, out);
		break;
	case MCP_CANCEL:
		b->cancel(b->arg, r.cancel);
		break;
	default:
		break;
	}
}

void mcp_batch_answer(const struct service *s, const struct mcp_batch *b, const struct json *batch,
		      struct buf *out)
{
	buf_addc(out, '[');
	for (const struct json *item = batch->first; item; item = item->next) {
		const size_t before = out->n;
		if (before > 1)
			buf_addc(out, ',');
		const size_t start = out->n;
		answer(s, b, item, out);
		if (out->n == start)
			out->n = before;
	}
	buf_addc(out, ']');
	if (!out->failed && out->n == 2)
		out->n = 0;
}
