/* SPDX-License-Identifier: MIT */
/* Calls of the real tools in a real workspace, with each of their allocations refused. */

#include "failing.h"

#include "exec_unit.h"
#include "mcp/protocol.h"
#include "scratch.h"
#include "service/dispatch.h"
#include "service/limits.h"
#include "tools/sink.h"
#include "workspace/tracker.h"

static struct scratch place;
static struct service service;

/* A call: who makes it, of which tool, with which arguments. */
struct call_case {
	const char *tool, *arguments;
	enum call_kind kind;
	const char *changes; /* the file that it changes from "old\n" to "new\n"; or NULL */
	bool text;	     /* its result is text */
};

static int begin_stream(void *arg, uint64_t call)
{
	(void)arg;
	(void)call;
	return 0;
}

static int tell_output(void *arg, bool is_stderr, struct str text, size_t bytes)
{
	(void)arg;
	(void)bytes;
	tell("%s%.*s", is_stderr ? "E:" : "", STR_FMT(text));
	return 0;
}

/* The members of the result of a call, without what is different each time. */
static void tell_result(struct str json)
{
	static const char *const vary[] = { "duration_ms", "cpu_ms", "peak_memory_bytes", "usage",
					    "mtime" };
	size_t end = json.n;

	for (size_t i = 0; i < ARRAY_LEN(vary); i++) {
		const ptrdiff_t at = str_find(json, str_of(vary[i]));
		if (at >= 0 && (size_t)at < end)
			end = (size_t)at;
	}
	tell("%.*s", STR_FMT(str_upto(json, end)));
}

/* Whether an ignore file had no effect, because there was no memory for its rules: more is shown,
 * as ignore.h says, which is not an error. */
static bool shows_ignored(struct str json)
{
	return str_find(json, STR("b.o")) >= 0 || str_find(json, STR("\"ignored\":0")) >= 0;
}

static int call_tool(const struct call_case *c, struct err *e)
{
	static struct sink_taker taker = { .begin = begin_stream, .take = tell_output };
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF out = { .max = LIMIT_ANSWER }, text = { .max = LIMIT_ANSWER };
	struct way_text shown = { .text = &text };
	const struct json *arguments;
	struct jw w = jw_to(&out);

	if (json_parse(str_of(c->arguments), &arena, &arguments, e) < 0)
		return -1;
	const struct dispatch d = {
		.kind = c->kind,
		.tool = tool_by_name(str_of(c->tool), TOOL_WIRE | TOOL_MODEL | TOOL_NATIVE),
		.arguments = arguments,
		.session = STR("session"),
		.arena = &arena,
		.taker = &taker,
		.text = c->text ? &shown : NULL,
		.sized = c->kind == CALL_NATIVE,
	};
	jw_object(&w, NULL);
	if (dispatch(&service, &d, &w, e) < 0)
		return -1;
	jw_end(&w);
	/* dispatch has seen to it that the end of the envelope fits. */
	assert_false(out.failed);
	if (heap.refused && shows_ignored(buf_str(&out)))
		return err_set(e, ERR_TOO_BUSY, "There is no memory for the ignore rules");
	tell_result(buf_str(&out));
	tell_result(buf_str(&text));
	return 0;
}

static int run_call(const void *arg, struct err *e)
{
	return call_tool(arg, e);
}

/* The session has seen nothing but the file that it is going to change. */
static void prepare_call(const void *arg)
{
	const struct call_case *c = arg;
	const struct call_case read = { "read_file", "{\"path\":\"f\"}", CALL_MCP, NULL };
	struct err e;

	service.tracker = tracker_new(LIMIT_TRACKED_FILES);
	assert_non_null(service.tracker);
	if (!c->changes)
		return;
	put(&place, c->changes, "old\n");
	assert_int_equal(call_tool(&read, &e), 0);
	told.n = 0;
	told.text[0] = '\0';
}

/* A file that a call changes is the old one or the new one as the answer says, and no other file is
 * left. */
static void judge_call(const void *arg, int rc)
{
	const struct call_case *c = arg;

	tracker_free(service.tracker);
	service.tracker = NULL;
	if (!c->changes)
		return;
	assert_string_equal(get(&place, c->changes), rc < 0 ? "old\n" : "new\n");
	assert_int_equal(count_entries(in(&place, "ws"), ".sidecar"), 0);
}

static const struct call_case cases[] = {
	{ "read", "{\"path\":\"a.c\"}", CALL_WIRE },
	{ "read", "{\"path\":\"a.c\",\"offset\":2,\"limit\":1}", CALL_WIRE },
	{ "read_file", "{\"path\":\"a.c\",\"start_line\":2,\"line_numbers\":true}", CALL_MODEL },
	{ "read_file", "{\"path\":\"secret\"}", CALL_MCP },
	{ "write", "{\"path\":\"f\",\"content\":\"new\\n\"}", CALL_WIRE, "ws/f" },
	{ "write_file", "{\"path\":\"f\",\"content\":\"new\\n\"}", CALL_MCP, "ws/f" },
	{ "edit", "{\"path\":\"f\",\"oldText\":\"old\",\"newText\":\"new\"}", CALL_WIRE, "ws/f" },
	{ "edit_file", "{\"path\":\"f\",\"old_text\":\"old\",\"new_text\":\"new\"}", CALL_MCP,
	  "ws/f" },
	{ "patch",
	  "{\"patch\":\"*** Begin Patch\\n*** Update File: f\\n@@\\n-old\\n+new\\n*** Add File: "
	  "p/q/new\\n+x\\n*** End Patch\\n\"}",
	  CALL_WIRE, "ws/f" },
	{ "apply_patch", "{\"patch\":\"--- a/f\\n+++ b/f\\n@@ -7 +1 @@\\n-old  \\n+new\\n\"}",
	  CALL_MCP, "ws/f" },
	{ "apply_patch",
	  "{\"patch\":\"f\\n<<<<<<< SEARCH\\nold\\n=======\\nnew\\n>>>>>>> REPLACE\\n\"}", CALL_MCP,
	  "ws/f" },
	{ "ls", "{\"path\":\".\"}", CALL_WIRE },
	{ "list_directory", "{\"path\":\".\"}", CALL_MODEL },
	{ "find", "{\"pattern\":\"*.c\"}", CALL_WIRE },
	{ "find_files", "{\"pattern\":\"*.c\"}", CALL_MODEL },
	{ "grep", "{\"pattern\":\"ma?in\"}", CALL_WIRE },
	{ "search_files", "{\"pattern\":\"ma?in\",\"context\":1}", CALL_MCP },
	{ "bash", "{\"command\":\"echo out; echo err >&2 | cat\",\"env\":{\"A\":\"1\"}}",
	  CALL_WIRE },
	{ "run_command", "{\"command\":\"echo AKIAIOSFODNN7EXAMPL3; exit 3\"}", CALL_MODEL },
	{ "run_command", "{\"command\":\"\",\"argv\":[\"echo\",\"a b\"]}", CALL_MCP },
	{ "text_editor", "{\"command\":\"view\",\"path\":\"/a.c\",\"view_range\":[2,3]}",
	  CALL_NATIVE, .text = true },
	{ "text_editor",
	  "{\"command\":\"str_replace\",\"path\":\"/f\",\"old_str\":\"old\",\"new_str\":\"new\"}",
	  CALL_NATIVE, "ws/f", .text = true },
	{ "patch_operation",
	  "{\"type\":\"update_file\",\"path\":\"/f\",\"diff\":\"@@\\n-old\\n+new\\n\"}",
	  CALL_NATIVE, "ws/f", .text = true },
	{ "shell", "{\"commands\":[\"echo out\",\"echo err >&2; exit 3\"]}", CALL_NATIVE },
	{ "local_shell", "{\"command\":[\"echo\",\"a b\"],\"env\":{\"A\":\"1\"}}", CALL_NATIVE },
};

/* A whole message of the Model Context Protocol. */
static int answer_message(const void *arg, struct err *e)
{
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF observation = { .max = LIMIT_ANSWER };
	AUTO_BUF out = { .max = LIMIT_ANSWER };
	const struct json *message;
	struct mcp_request r = { .code = 0 };
	struct err failure = { .code = ERR_NONE };

	if (mcp_parse(str_of(arg), &arena, &message, &r) < 0 || mcp_open(message, &r) < 0)
		return err_set(e, ERR_TOO_BUSY, "%s", r.why);
	const struct mcp_offer offer = {
		{ .dialect = SCHEMA_MCP, .set = TOOL_MODEL, .structured = true }
	};
	const enum mcp_verb verb = mcp_answer(&offer, &r, &out);
	if (verb == MCP_CALL) {
		const struct dispatch d = {
			.kind = CALL_MCP, .tool = r.tool, .arguments = r.arguments, .arena = &arena
		};
		struct jw w = jw_to(&observation);
		jw_object(&w, NULL);
		const int rc = dispatch(&service, &d, &w, &failure);
		jw_end(&w);
		if (rc < 0)
			mcp_fail(&r, &failure, &out);
		else
			mcp_result_structured(&r, buf_str(&observation), true, &out);
	}
	if (failure.code != ERR_NONE) {
		*e = failure;
		return -1;
	}
	if (heap.refused && shows_ignored(buf_str(&out)))
		return err_set(e, ERR_TOO_BUSY, "There is no memory for the ignore rules");
	/* An answer for which there is no memory is one that says so, or none. */
	if (out.failed || str_find(buf_str(&out), STR("\"isError\":true")) >= 0)
		return err_set(e, ERR_TOO_BUSY, "There is no memory for the answer");
	tell_result(buf_str(&out));
	return 0;
}

static void prepare_message(const void *arg)
{
	(void)arg;
	prepare_call(&(struct call_case){ .tool = "" });
}

static void judge_message(const void *arg, int rc)
{
	(void)arg;
	judge_call(&(struct call_case){ .tool = "" }, rc);
}

#define RPC "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"

static const struct {
	const char *name, *text;
} messages[] = {
	{ "mcp_initialize", RPC "\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}" },
	{ "mcp_list", RPC "\"tools/list\"}" },
	{ "mcp_read", RPC "\"tools/call\",\"params\":{\"name\":\"read_file\","
			  "\"arguments\":{\"path\":\"a.c\"}}}" },
	{ "mcp_search", RPC "\"tools/call\",\"params\":{\"name\":\"search_files\","
			    "\"arguments\":{\"pattern\":\"int\"}}}" },
};

/* A service from its beginning to its end, its processes included. */
static int build_service(const void *arg, struct err *e)
{
	static struct service another;
	struct config c;

	(void)arg;
	config_defaults(&c);
	c.journal = "off"; /* what it remembers is not a leak */
	c.workspace = in(&place, "ws");
	c.scrub_patterns = "corp: corp-[0-9]{8}";
	c.command_rules = "!dd";
	c.sandbox = SANDBOX_OFF;
	const int rc = service_init(&another, &c, e);
	if (rc == 0) {
		tell("%d", another.sandbox.mode);
		service_done(&another);
	}
	return rc;
}

static void run_one(void **state)
{
	fail_each(*state);
}

static int set_up(void **state)
{
	struct config c;
	struct err e;

	(void)state;
	place = scratch_new();
	put_dir(&place, "ws");
	put(&place, "ws/.gitignore", "*.o\n");
	put(&place, "ws/a.c", "#include <stdio.h>\n\nint main(void)\n{\n}\n");
	put(&place, "ws/b.o", "main\n");
	put_dir(&place, "ws/sub");
	put(&place, "ws/sub/c.c", "int man;\n");
	put(&place, "ws/secret", "AWS_SECRET=AKIAIOSFODNN7EXAMPL3\n");
	config_defaults(&c);
	c.journal = "off"; /* what it remembers is not a leak */
	c.workspace = in(&place, "ws");
	c.sandbox = SANDBOX_OFF;
	if (service_init(&service, &c, &e) < 0)
		fail_msg("%s", e.msg);
	tracker_free(service.tracker);
	service.tracker = NULL;
	service.quiet = true;
	/* What runs commands is there after the first one, and allocates nothing of its own. */
	const struct call_case first = { "bash", "{\"command\":\"true\"}", CALL_WIRE };
	assert_int_equal(call_tool(&first, &e), 0);
	service.shared.threads = 1; /* so that each allocation has its number */
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	service_done(&service);
	scratch_free(&place);
	return 0;
}

int main(int argc, char **argv)
{
	EXEC_MAIN(NULL)
	static struct operation all[ARRAY_LEN(cases) + ARRAY_LEN(messages) + 1];
	static struct CMUnitTest tests[ARRAY_LEN(all)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		all[n++] = (struct operation){ cases[i].tool, run_call, &cases[i], prepare_call,
					       judge_call };
	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		all[n++] = (struct operation){ messages[i].name, answer_message, messages[i].text,
					       prepare_message, judge_message };
	all[n++] = (struct operation){ "build_service", build_service };
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ .name = all[i].name,
						.test_func = run_one,
						.initial_state = &all[i] };
	return _cmocka_run_group_tests("memory_calls", tests, n, set_up, tear_down);
}
