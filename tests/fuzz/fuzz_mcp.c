/* SPDX-License-Identifier: MIT */
/* fuzz_mcp: whatever comes, the answer is one line of JSON with the right envelope, or nothing. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "mcp/protocol.h"

enum { ROOM = 4 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static const struct mcp_offer everything = {
	.tools = { .dialect = SCHEMA_MCP, .set = TOOL_MODEL, .structured = true }
};

static void call(void *arg, struct mcp_request *r, struct buf *out)
{
	const struct err e = { .code = ERR_TOO_BUSY, .msg = "not here" };

	(void)arg;
	demand(r->id && r->tool && r->arguments->type == JSON_OBJECT);
	mcp_fail(r, &e, out);
}

static void cancel(void *arg, const struct json *id)
{
	(void)arg;
	demand(id->type == JSON_STRING || (id->type == JSON_NUMBER && id->whole));
}

static void check_answer(const struct json *v)
{
	const struct json *result = json_get(v, STR("result")), *error = json_get(v, STR("error"));

	demand(v->type == JSON_OBJECT && json_get(v, STR("jsonrpc")) && json_get(v, STR("id")));
	demand(!result != !error);
	demand(!error || json_get(error, STR("code"))->whole);
}

static void check(struct str text, bool batch)
{
	AUTO_ARENA arena = { .max = ROOM };
	const struct json *v;
	struct err e;

	demand(str_index(text, '\n') < 0);
	if (text.n == 0)
		return;
	demand(json_parse(text, &arena, &v, &e) == 0);
	if (v->type != JSON_ARRAY) {
		check_answer(v);
		return;
	}
	demand(batch);
	for (const struct json *item = v->first; item; item = item->next)
		check_answer(item);
}

static void answer_one(struct mcp_request *r, struct buf *out)
{
	switch (mcp_answer(&everything, r, out)) {
	case MCP_CALL:
		call(NULL, r, out);
		break;
	case MCP_CANCEL:
		cancel(NULL, r->cancel);
		break;
	case MCP_OPENED:
		demand(r->agreed && mcp_legacy_version(str_of(r->agreed)) == r->agreed);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mcp_batch ops = { .call = call, .cancel = cancel };
	AUTO_ARENA arena = { .max = ROOM };
	AUTO_BUF out = { .max = ROOM };
	/* A copy of its own size, so that the sanitizer sees a byte read too far. */
	char *text = malloc(size ? size : 1);
	const struct json *message;
	struct mcp_request r;

	demand(text != NULL);
	if (size)
		memcpy(text, data, size);
	if (mcp_parse((struct str){ text, size }, &arena, &message, &r) < 0) {
		mcp_error(&r, &out);
	} else if (message->type == JSON_ARRAY) {
		if (mcp_batch_check("2025-03-26", message, &r) < 0)
			mcp_error(&r, &out);
		else
			mcp_batch_answer(&everything, &ops, message, &out);
	} else if (mcp_open(message, &r) < 0) {
		mcp_error(&r, &out);
	} else {
		answer_one(&r, &out);
	}
	/* A batch of many tools/list may be too much; the carrier says so. */
	if (!out.failed)
		check(buf_str(&out), true);
	free(text);
	return 0;
}
