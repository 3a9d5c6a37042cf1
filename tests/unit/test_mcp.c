/* SPDX-License-Identifier: MIT */
/* A message in, what is done and answered. */

#include "unit.h"

#include "tools/result.h"

#include "mcp/limits.h"
#include "mcp/runs.h"
#include "service/limits.h"

#define MODERN                                                                                     \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define RPC    "{\"jsonrpc\":\"2.0\","
#define SERVER "\"serverInfo\":{\"name\":\"sidecar\""

static const struct mcp_offer everything = {
	.tools = { .dialect = SCHEMA_MCP, .set = TOOL_MODEL, .structured = true }
};
static const struct mcp_offer core = { .tools = { .dialect = SCHEMA_MCP, .set = TOOL_CORE } };

static const struct {
	const char *in;
	enum mcp_verb verb;
	int status, code;    /* code 0: no error */
	const char *want[3]; /* stand in the answer; the first begins it */
} cases[] = {
	/* what is no message */
	{ "", MCP_ANSWERED, 400, -32700, { RPC "\"id\":null,\"error\":{\"code\":-32700," } },
	{ "{", MCP_ANSWERED, 400, -32700, { RPC "\"id\":null" } },
	{ "\xff", MCP_ANSWERED, 400, -32700, { RPC "\"id\":null" } },
	{ RPC "\"id\":1,\"method\":\"a\xff\"}", MCP_ANSWERED, 400, -32700, { RPC "\"id\":null" } },
	{ "null", MCP_ANSWERED, 400, -32600, { RPC "\"id\":null", "not null" } },
	{ "7", MCP_ANSWERED, 400, -32600, { RPC "\"id\":null", "not a number" } },
	{ "{}", MCP_ANSWERED, 400, -32600, { RPC "\"id\":null", "jsonrpc must be" } },
	{ "{\"id\":1,\"method\":\"ping\"}", MCP_ANSWERED, 400, -32600, { RPC "\"id\":1," } },
	{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  400,
	  -32600,
	  { RPC "\"id\":1," } },
	{ RPC "\"id\":1}", MCP_ANSWERED, 400, -32600, { RPC "\"id\":1,", "method must be" } },
	{ RPC "\"id\":1,\"method\":5}", MCP_ANSWERED, 400, -32600, { RPC "\"id\":1," } },
	{ RPC "\"id\":1,\"method\":\"\"}", MCP_ANSWERED, 400, -32600, { RPC "\"id\":1," } },

	/* ids */
	{ RPC "\"id\":null,\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  400,
	  -32600,
	  { RPC "\"id\":null", "not null" } },
	{ RPC "\"id\":1.5,\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  400,
	  -32600,
	  { RPC "\"id\":null", "not a fraction" } },
	{ RPC "\"id\":12345678901234567890,\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  400,
	  -32600,
	  { RPC "\"id\":null", "not so large a number" } },
	{ RPC "\"id\":{},\"method\":\"ping\"}", MCP_ANSWERED, 400, -32600, { RPC "\"id\":null" } },
	{ RPC "\"id\":[1],\"method\":\"ping\"}", MCP_ANSWERED, 400, -32600, { RPC "\"id\":null" } },
	{ RPC "\"id\":true,\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  400,
	  -32600,
	  { RPC "\"id\":null" } },
	{ RPC "\"id\":\"\",\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  200,
	  0,
	  { RPC "\"id\":\"\",\"result\":{}}" } },
	{ RPC "\"id\":\"a\\\"\\u0000\",\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  200,
	  0,
	  { RPC "\"id\":\"a\\\"\\u0000\",\"result\":{}}" } },
	{ RPC "\"id\":-9223372036854775808,\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  200,
	  0,
	  { RPC "\"id\":-9223372036854775808,\"result\":{}}" } },

	/* what is not answered */
	{ RPC "\"method\":\"notifications/initialized\"}", MCP_SILENT, 200, 0, { "" } },
	{ RPC "\"method\":\"tools/list\"}", MCP_SILENT, 200, 0, { "" } },
	{ RPC "\"method\":\"no/such\"}", MCP_SILENT, 200, 0, { "" } },
	{ RPC "\"id\":1,\"result\":{}}", MCP_SILENT, 200, 0, { "" } },
	{ RPC "\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}", MCP_SILENT, 200, 0, { "" } },
	{ RPC "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":4}}",
	  MCP_CANCEL,
	  200,
	  0,
	  { "" } },
	{ RPC "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":[4]}}",
	  MCP_SILENT,
	  200,
	  0,
	  { "" } },
	{ RPC "\"method\":\"notifications/cancelled\"}", MCP_SILENT, 200, 0, { "" } },

	/* the handshake */
	{ RPC "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\"}}",
	  MCP_OPENED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{\"protocolVersion\":\"2024-11-05\",\"capabilities\":"
		"{\"tools\":{}},",
	    SERVER } },
	{ RPC "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}",
	  MCP_OPENED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"" } },
	{ RPC "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2026-07-28\"}}",
	  MCP_OPENED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"" } },
	{ RPC "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"\"}}",
	  MCP_OPENED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\"" } },
	{ RPC "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1,\"error\"" } },
	{ RPC "\"id\":1,\"method\":\"initialize\"}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1," } },

	/* methods and parameters of the legacy era */
	{ RPC "\"id\":1,\"method\":\"ping\"}",
	  MCP_ANSWERED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{}}" } },
	{ RPC "\"id\":1,\"method\":\"ping\",\"params\":[]}",
	  MCP_ANSWERED,
	  400,
	  -32602,
	  { RPC "\"id\":1,", "params must be an object, not an array" } },
	{ RPC "\"id\":1,\"method\":\"ping\",\"params\":\"x\"}",
	  MCP_ANSWERED,
	  400,
	  -32602,
	  { RPC "\"id\":1," } },
	{ RPC "\"id\":1,\"method\":\"prompts/list\"}",
	  MCP_ANSWERED,
	  200,
	  -32601,
	  { RPC "\"id\":1,", "Method not found: prompts/list" } },
	{ RPC "\"id\":1,\"method\":\"Ping\"}", MCP_ANSWERED, 200, -32601, { RPC "\"id\":1," } },
	{ RPC "\"id\":1,\"method\":\"tools/list\"}",
	  MCP_ANSWERED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{\"tools\":[{\"name\":\"read_file\"", "\"outputSchema\"",
	    "\"annotations\"" } },
	{ RPC "\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1,", "no such cursor" } },

	/* calls */
	{ RPC
	  "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\",\"arguments\":{"
	  "\"path\":\"a\"}}}",
	  MCP_CALL,
	  200,
	  0,
	  { "" } },
	{ RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\"}}",
	  MCP_CALL,
	  200,
	  0,
	  { "" } },
	{ RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\",\"arguments\":"
	      "null}}",
	  MCP_CALL,
	  200,
	  0,
	  { "" } },
	{ RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\",\"arguments\":"
	      "\"path\"}}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1,", "must be an object, not a string" } },
	{ RPC "\"id\":1,\"method\":\"tools/"
	      "call\",\"params\":{\"name\":\"read_file\",\"arguments\":[]}}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1," } },
	{ RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"nope\"}}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1,", "Unknown tool: nope", "read_file" } },
	{ RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read\"}}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1,", "Unknown tool: read" } },
	{ RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1,", "params.name must be a string" } },
	{ RPC "\"id\":1,\"method\":\"tools/call\"}",
	  MCP_ANSWERED,
	  200,
	  -32602,
	  { RPC "\"id\":1," } },

	/* the modern era */
	{ RPC "\"id\":1,\"method\":\"server/discover\",\"params\":{" MODERN "}}",
	  MCP_ANSWERED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{\"resultType\":\"complete\",\"supportedVersions\":["
		"\"2026-07-28\",\"2025-11-25\",",
	    "\"ttlMs\":3600000,\"cacheScope\":\"public\"",
	    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"sidecar\"" } },
	{ RPC "\"id\":1,\"method\":\"tools/list\",\"params\":{" MODERN "}}",
	  MCP_ANSWERED,
	  200,
	  0,
	  { RPC "\"id\":1,\"result\":{\"resultType\":\"complete\",\"tools\":[", "\"ttlMs\":",
	    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"sidecar\"" } },
	{ RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\"," MODERN "}}",
	  MCP_CALL,
	  200,
	  0,
	  { "" } },
	{ RPC "\"id\":1,\"method\":\"ping\",\"params\":{" MODERN "}}",
	  MCP_ANSWERED,
	  404,
	  -32601,
	  { RPC "\"id\":1," } },
	{ RPC "\"id\":1,\"method\":\"initialize\",\"params\":{" MODERN "}}",
	  MCP_ANSWERED,
	  404,
	  -32601,
	  { RPC "\"id\":1," } },
	{ RPC "\"id\":1,\"method\":\"server/discover\"}",
	  MCP_ANSWERED,
	  400,
	  -32602,
	  { RPC "\"id\":1,", "protocolVersion" } },
	{ RPC "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
	      "clientCapabilities\":{}}}}",
	  MCP_ANSWERED,
	  400,
	  -32602,
	  { RPC "\"id\":1,", "protocolVersion" } },
	{ RPC "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
	      "protocolVersion\":\"2026-07-28\"}}}",
	  MCP_ANSWERED,
	  400,
	  -32602,
	  { RPC "\"id\":1,", "clientCapabilities" } },
	{ RPC "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
	      "protocolVersion\":7}}}",
	  MCP_ANSWERED,
	  400,
	  -32602,
	  { RPC "\"id\":1," } },
	{ RPC "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
	      "protocolVersion\":\"2025-11-25\"}}}",
	  MCP_ANSWERED,
	  400,
	  -32022,
	  { RPC "\"id\":1,", "\"data\":{\"supported\":[\"2026-07-28\",",
	    "\"requested\":\"2025-11-25\"}" } },
};

/* As a carrier does it. */
static enum mcp_verb carry(struct str text, struct arena *a, struct mcp_request *r, struct buf *out)
{
	const struct json *message;

	if (mcp_parse(text, a, &message, r) == 0 && mcp_open(message, r) == 0)
		return mcp_answer(&everything, r, out);
	mcp_error(r, out);
	return MCP_ANSWERED;
}

static void messages_are_answered(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
		AUTO_BUF out = { .max = LIMIT_ANSWER };
		struct mcp_request r;
		const struct str in = guarded(str_of(cases[i].in));
		const enum mcp_verb verb = carry(in, &arena, &r, &out);
		if (verb != cases[i].verb || r.status != cases[i].status || r.code != cases[i].code)
			fail_msg("%s: verb %d, status %d, code %d", cases[i].in, verb, r.status,
				 r.code);
		for (size_t j = 0; j < 3 && cases[i].want[j]; j++) {
			const ptrdiff_t at = str_find(buf_str(&out), str_of(cases[i].want[j]));
			if (j == 0 ? at != 0 : at < 0)
				fail_msg("%s: %.*s", cases[i].in, STR_FMT(buf_str(&out)));
		}
		assert_true(verb == MCP_ANSWERED || verb == MCP_OPENED || out.n == 0);
		assert_true(str_index(buf_str(&out), '\n') < 0);
		guarded_free(in);
	}
}

static void only_listed_tools_can_be_called(void **state)
{
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	const struct json *message;
	struct mcp_request r;

	(void)state;
	assert_int_equal(mcp_parse(STR(RPC "\"id\":1,\"method\":\"tools/call\",\"params\":{"
					   "\"name\":\"edit_file\"}}"),
				   &arena, &message, &r),
			 0);
	assert_int_equal(mcp_open(message, &r), 0);
	assert_int_equal(mcp_answer(&core, &r, &out), MCP_ANSWERED);
	assert_int_equal(r.code, MCP_INVALID_PARAMS);
}

/* Tools that need nothing of the machine. */
static void return_text(struct result *ret, struct str text)
{
	ret->kind = RESULT_PAGE;
	ret->page = (struct page){
		.name = STR("a"),
		.first = 1,
		.all_lines = 1,
		.text = { .content = text, .lines = 1, .out_lines = 1, .total_lines = 1 },
	};
}

static int say(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)c;
	(void)args;
	(void)e;
	return_text(ret, STR("\"quoted\"\n"));
	return 0;
}

static int refuse(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)c;
	(void)args;
	return_text(ret, STR("dropped"));
	(void)err_set(e, ERR_FILE_NOT_FOUND, "No such file.");
	return err_advise(e, "Look for another.");
}

/* Twice in the message, once with each backslash and quote escaped again. */
static int flood(struct call *c, const void *args, struct result *ret, struct err *e)
{
	enum { SIZE = LIMIT_MCP_MESSAGE / 4 };
	char *quotes = arena_alloc(c->arena, SIZE);

	(void)args;
	(void)e;
	assert_non_null(quotes);
	memset(quotes, '"', SIZE);
	return_text(ret, (struct str){ quotes, SIZE });
	return 0;
}

static const struct arg no_args[] = { A_END };

static void call(int (*run)(struct call *, const void *, struct result *, struct err *),
		 bool modern, bool structured, enum err_code code, const char *want)
{
	static struct service s; /* too large for a stack */
	const struct tool tool = {
		.name = "tool", .args = no_args, .args_size = 1, .flags = TOOL_MODEL, .run = run
	};
	const struct json id = { .type = JSON_NUMBER, .whole = true, .integer = 5 };
	const struct json none = { .type = JSON_OBJECT };
	const struct mcp_request r = { .id = &id,
				       .modern = modern,
				       .structured = structured,
				       .tool = &tool,
				       .arguments = &none };
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	const struct dispatch d = {
		.kind = CALL_MCP, .tool = &tool, .arguments = &none, .arena = &arena
	};
	const uint64_t before = s.metrics.tools[LIMIT_METRIC_TOOLS].ended[code];

	mcp_call(&s, &d, &r, &out);
	assert_int_equal(s.metrics.tools[LIMIT_METRIC_TOOLS].ended[code], before + 1);
	assert_false(out.failed);
	assert_str(buf_str(&out), want);
}

#define MODERN_END                                                                                 \
	",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"sidecar\",\"title\":"      \
	"\"Coding sidecar\",\"version\":\"" SIDECAR_VERSION "\"}}"

static void a_result_stands_in_the_answer_twice(void **state)
{
	(void)state;
	call(say, false, true, ERR_NONE,
	     RPC "\"id\":5,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"success\\\":"
		 "true,\\\"tool\\\":\\\"tool\\\",\\\"output\\\":{\\\"content\\\":\\\"\\\\\\\"quoted"
		 "\\\\\\\"\\\\n\\\",\\\"lines\\\":1,\\\"path\\\":\\\"a\\\",\\\"total_lines\\\":1,"
		 "\\\"truncated\\\":false},\\\"error\\\":null}\"}],\"structuredContent\":{"
		 "\"success\":true,\"tool\":\"tool\",\"output\":{\"content\":\"\\\"quoted\\\"\\n\","
		 "\"lines\":1,\"path\":\"a\",\"total_lines\":1,\"truncated\":false},\"error\":"
		 "null},\"isError\":false}}");
	call(refuse, true, true, ERR_FILE_NOT_FOUND,
	     RPC "\"id\":5,\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\","
		 "\"text\":\"{\\\"success\\\":false,\\\"tool\\\":\\\"tool\\\",\\\"output\\\":null,"
		 "\\\"error\\\":{\\\"code\\\":\\\"FILE_NOT_FOUND\\\",\\\"message\\\":\\\"No such "
		 "file. Look for "
		 "another.\\\"}}\"}],\"structuredContent\":{\"success\":false,\"tool\":\"tool\","
		 "\"output\":null,\"error\":{\"code\":\"FILE_NOT_FOUND\",\"message\":\"No such "
		 "file. Look for another.\"}},\"isError\":true" MODERN_END "}}");
}

static void a_result_may_be_text(void **state)
{
	(void)state;
	call(say, false, false, ERR_NONE,
	     RPC "\"id\":5,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\\"quoted\\\"\\n"
		 "\"}],\"isError\":false}}");
	call(refuse, false, false, ERR_FILE_NOT_FOUND,
	     RPC
	     "\"id\":5,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"FILE_NOT_FOUND: No "
	     "such file.\\nLook for another.\"}],\"isError\":true}}");
}

static void a_result_too_large_for_a_client_is_a_failure(void **state)
{
	(void)state;
	call(flood, false, true, ERR_NONE, /* the tool has succeeded */
	     RPC "\"id\":5,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"success\\\":"
		 "false,\\\"tool\\\":\\\"tool\\\",\\\"output\\\":null,\\\"error\\\":{\\\"code\\\":"
		 "\\\"EXECUTION_ERROR\\\",\\\"message\\\":\\\"The answer is too large: ask for "
		 "less\\\"}}\"}],\"structuredContent\":{\"success\":false,\"tool\":\"tool\","
		 "\"output\":null,\"error\":{\"code\":\"EXECUTION_ERROR\",\"message\":\"The answer "
		 "is too large: ask for less\"}},\"isError\":true}}");
}

static void never(void *arg, struct mcp_request *r, struct buf *out)
{
	(void)arg;
	(void)r;
	buf_add(out, STR("\"called\""));
}

static void note(void *arg, const struct json *id)
{
	*(int64_t *)arg = id->integer;
}

static const struct {
	const char *in, *want;
} batches[] = {
	{ "[" RPC "\"method\":\"notifications/initialized\"}]", "" },
	{ "[" RPC "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":4}}]", "" },
	{ "[" RPC "\"id\":1,\"method\":\"ping\"}]", "[" RPC "\"id\":1,\"result\":{}}]" },
	{ "[" RPC "\"method\":\"x\"}," RPC "\"id\":1,\"method\":\"ping\"}," RPC
	  "\"method\":\"x\"}]",
	  "[" RPC "\"id\":1,\"result\":{}}]" },
	{ "[" RPC "\"id\":1,\"method\":\"ping\"}," RPC
	  "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\"}}]",
	  "[" RPC "\"id\":1,\"result\":{}},\"called\"]" },
	{ "[" RPC "\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"\"}}]",
	  "[" RPC
	  "\"id\":1,\"error\":{\"code\":-32600,\"message\":\"initialize must not be part of a "
	  "batch\"}}]" },
	{ "[1]",
	  "[" RPC "\"id\":null,\"error\":{\"code\":-32600,\"message\":\"A message must be a JSON "
	  "object, not a number\"}}]" },
};

static void batches_are_answered_by_an_array(void **state)
{
	int64_t cancelled = 0;
	const struct mcp_batch ops = { .call = never, .cancel = note, .arg = &cancelled };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(batches); i++) {
		AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
		AUTO_BUF out = { .max = LIMIT_ANSWER };
		const struct json *batch;
		struct mcp_request r;
		assert_int_equal(mcp_parse(str_of(batches[i].in), &arena, &batch, &r), 0);
		assert_int_equal(mcp_batch_check("2025-03-26", batch, &r), 0);
		assert_int_equal(mcp_batch_check("2025-06-18", batch, &r), -1);
		assert_int_equal(mcp_batch_check(NULL, batch, &r), -1);
		mcp_batch_answer(&everything, &ops, batch, &out);
		assert_str(buf_str(&out), batches[i].want);
	}
	assert_int_equal(cancelled, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_answered),
		cmocka_unit_test(only_listed_tools_can_be_called),
		cmocka_unit_test(a_result_stands_in_the_answer_twice),
		cmocka_unit_test(a_result_may_be_text),
		cmocka_unit_test(a_result_too_large_for_a_client_is_a_failure),
		cmocka_unit_test(batches_are_answered_by_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
