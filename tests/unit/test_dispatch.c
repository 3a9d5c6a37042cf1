/* SPDX-License-Identifier: MIT */
/* What a kind of caller may do, and what every call goes through. */

#include "unit.h"

#include "base/own.h"
#include "results/limits.h"
#include "service/dispatch.h"
#include "service/limits.h"
#include "tools/result.h"
#include "tools/sink.h"
#include "workspace/tracker.h"

static struct service service; /* too large for a stack */
static struct call seen;       /* what the last tool was given */

/* A page of one line. */
static void return_line(struct result *ret, struct str line)
{
	ret->kind = RESULT_PAGE;
	ret->page = (struct page){
		.first = 1,
		.all_lines = 1,
		.text = { .content = line, .lines = 1, .out_lines = 1, .total_lines = 1 },
	};
}

static int look(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)args;
	(void)e;
	seen = *c;
	return_line(ret, STR("key AKIAIOSFODNN7EXAMPL3 end"));
	return 0;
}

static int fill(struct call *c, const void *args, struct result *ret, struct err *e)
{
	static char line[1300];

	(void)c;
	(void)args;
	(void)e;
	memset(line, 'x', sizeof line);
	return_line(ret, (struct str){ line, sizeof line });
	return 0;
}

static int refuse(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)c;
	(void)args;
	return_line(ret, STR("half a result"));
	return err_set(e, ERR_FILE_NOT_FOUND, "There is no such file");
}

/* A command that writes its output byte by byte. */
static int speak(struct call *c, const void *args, struct result *ret, struct err *e)
{
	CLEANUP(sink_done) struct sink sink;

	(void)ret;
	(void)args;
	sink_init(&sink, c, SINK_CHARACTERS, NULL);
	for (const char *p = "a line of its output, spoken\n"; *p; p++)
		assert_int_equal(sink_write(&sink, PROC_STDOUT, (struct str){ p, 1 }), 0);
	assert_int_equal(sink_end(&sink, e), 0);
	c->progress->seen(c->progress->arg, 7);
	return 0;
}

static const struct arg no_args[] = { A_END };

static struct tool tool_of(int (*run)(struct call *, const void *, struct result *, struct err *),
			   unsigned flags)
{
	return (struct tool){
		.name = "tool", .args = no_args, .args_size = 1, .flags = flags, .run = run
	};
}

static int call(enum call_kind kind, const struct tool *t, size_t max, struct buf *out,
		struct err *e)
{
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	const struct dispatch d = {
		.kind = kind, .tool = t, .arguments = &json_empty, .arena = &arena
	};

	*out = (struct buf){ .max = max };
	struct jw w = jw_to(out);
	jw_object(&w, NULL);
	return dispatch(&service, &d, &w, e);
}

static const struct {
	enum call_kind kind;
	enum config_paths paths;
	enum config_reads reads;
	enum path_policy policy;
	bool judged, scrubbed;
	enum call_reads must_read;
} kinds[] = {
	{ CALL_WIRE, CONFIG_PATHS_AUTO, CONFIG_READS_AUTO, PATH_SHORTHAND, false, false,
	  CALL_READS_NONE },
	{ CALL_WIRE, CONFIG_STRICT, CONFIG_READS_ON, PATH_STRICT, false, false,
	  CALL_READS_CHANGED },
	{ CALL_MODEL, CONFIG_PATHS_AUTO, CONFIG_READS_AUTO, PATH_STRICT, true, true,
	  CALL_READS_NONE },
	{ CALL_MODEL, CONFIG_SHORTHAND, CONFIG_READS_ON, PATH_SHORTHAND, true, true,
	  CALL_READS_CHANGED },
	{ CALL_MCP, CONFIG_PATHS_AUTO, CONFIG_READS_AUTO, PATH_STRICT, true, true,
	  CALL_READS_OVERWRITTEN },
	{ CALL_MCP, CONFIG_SHORTHAND, CONFIG_READS_ON, PATH_SHORTHAND, true, true,
	  CALL_READS_CHANGED },
	{ CALL_SURFACE, CONFIG_PATHS_AUTO, CONFIG_READS_AUTO, PATH_SHORTHAND, true, false,
	  CALL_READS_NONE },
	{ CALL_MODEL, CONFIG_PATHS_AUTO, CONFIG_READS_OVERWRITES, PATH_STRICT, true, true,
	  CALL_READS_OVERWRITTEN },
	{ CALL_MCP, CONFIG_PATHS_AUTO, CONFIG_READS_OFF, PATH_STRICT, true, true, CALL_READS_NONE },
	{ CALL_SURFACE, CONFIG_STRICT, CONFIG_READS_ON, PATH_STRICT, true, false,
	  CALL_READS_CHANGED },
};

static void each_kind_is_treated_as_the_table_says(void **state)
{
	const struct tool tool = tool_of(look, TOOL_MODEL | TOOL_SCRUB);
	struct policy *rules = (struct policy *)&service; /* only its address is looked at */
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		AUTO_BUF out = { .max = 0 };
		service.absolute_paths = kinds[i].paths;
		service.read_before_write = kinds[i].reads;
		service.rules = rules;
		assert_int_equal(call(kinds[i].kind, &tool, 1 << 20, &out, &e), 0);
		assert_int_equal(seen.policy, kinds[i].policy);
		assert_ptr_equal(seen.rules, kinds[i].judged ? rules : NULL);
		assert_ptr_equal(seen.scrub, kinds[i].scrubbed ? service.scrub : NULL);
		assert_int_equal(seen.reads, kinds[i].must_read);
		assert_ptr_equal(seen.tracker, kinds[i].must_read ? service.tracker : NULL);
		assert_int_equal(str_find(buf_str(&out), STR("AKIA")) < 0, kinds[i].scrubbed);
	}
	service.rules = NULL;
}

static void only_tools_that_ask_for_it_are_scrubbed(void **state)
{
	const struct tool tool = tool_of(look, TOOL_MODEL);
	AUTO_BUF out = { .max = 0 };
	struct err e;

	(void)state;
	assert_int_equal(call(CALL_MODEL, &tool, 1 << 20, &out, &e), 0);
	assert_true(str_find(buf_str(&out), STR("AKIAIOSFODNN7EXAMPL3")) > 0);
}

static void a_result_leaves_room_for_its_envelope(void **state)
{
	const struct tool tool = tool_of(fill, TOOL_MODEL);
	struct err e;

	(void)state;
	for (size_t max = 1300; max < 1700; max++) {
		AUTO_BUF out = { .max = 0 };
		if (call(CALL_MODEL, &tool, max, &out, &e) == 0) {
			assert_false(out.failed);
			assert_true(out.n + LIMIT_ENVELOPE_END <= max);
		} else {
			assert_int_equal(e.code, ERR_EXECUTION_ERROR);
		}
	}
}

static void every_call_is_counted_once(void **state)
{
	const struct tool tool = tool_of(refuse, TOOL_WIRE);
	struct metrics_tool *unknown = &service.metrics.tools[LIMIT_METRIC_TOOLS];
	const uint64_t failed = unknown->ended[ERR_FILE_NOT_FOUND];
	const int64_t calls = service.calls;
	AUTO_BUF out = { .max = 0 };
	const struct dispatch none = { .kind = CALL_MODEL };
	struct err e;

	(void)state;
	assert_int_equal(call(CALL_WIRE, &tool, 1 << 20, &out, &e), -1);
	assert_int_equal(unknown->ended[ERR_FILE_NOT_FOUND], failed + 1);
	dispatch_refused(&service, &none, STR("nosuch"), &e);
	assert_int_equal(unknown->ended[ERR_FILE_NOT_FOUND], failed + 2);
	assert_int_equal(service.calls, calls + 2);
}

struct heard {
	struct buf text;
	size_t bytes;
	int64_t files;
};

static int hear(void *arg, bool is_stderr, struct str piece, size_t bytes)
{
	struct heard *h = arg;

	assert_false(is_stderr);
	buf_add(&h->text, piece);
	h->bytes += bytes;
	return 0;
}

static void hear_files(void *arg, int64_t files)
{
	((struct heard *)arg)->files = files;
}

static void progress_is_passed_on(void **state)
{
	const struct tool tool = tool_of(speak, TOOL_MODEL | TOOL_SCRUB);
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF out = { .max = 1 << 10 };
	struct heard heard = { .text = { .max = 1 << 10 } };
	struct sink_taker taker = { .take = hear, .arg = &heard };
	const struct call_progress progress = { hear_files, &heard };
	const struct dispatch d = { .kind = CALL_MCP,
				    .tool = &tool,
				    .arguments = &json_empty,
				    .arena = &arena,
				    .taker = &taker,
				    .progress = &progress };
	struct jw w = jw_to(&out);
	struct err e;

	(void)state;
	assert_int_equal(dispatch(&service, &d, &w, &e), 0);
	assert_true(str_eq(buf_str(&heard.text), STR("a line of its output, spoken\n")));
	assert_int_equal(heard.bytes, 29);
	assert_int_equal(heard.files, 7);
	buf_done(&heard.text);
}

static bool no_room(void *arg)
{
	++*(int *)arg;
	return false;
}

static void a_slow_call_without_a_thread_to_spare_is_refused(void **state)
{
	struct tool tool = tool_of(look, TOOL_MODEL | TOOL_SLOW);
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF out = { .max = 1 << 10 };
	int asked = 0;
	const struct dispatch d = { .kind = CALL_MODEL,
				    .tool = &tool,
				    .arguments = &json_empty,
				    .arena = &arena,
				    .before_slow = no_room,
				    .before_slow_arg = &asked };
	struct jw w = jw_to(&out);
	struct err e;

	(void)state;
	assert_int_equal(dispatch(&service, &d, &w, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	assert_int_equal(asked, 1);
	tool.flags = TOOL_MODEL;
	jw_object(&w, NULL);
	assert_int_equal(dispatch(&service, &d, &w, &e), 0);
	assert_int_equal(asked, 1);
}

static void work_waits_for_its_turn_unless_its_thread_must_not(void **state)
{
	struct tool tool = tool_of(look, TOOL_MODEL | TOOL_SLOW | TOOL_WORKS);
	AUTO_ARENA arena = { .max = LIMIT_CALL_MEMORY };
	AUTO_BUF out = { .max = 1 << 14 };
	struct cancel cancel = CANCEL_INIT;
	struct dispatch d = { .kind = CALL_MODEL,
			      .tool = &tool,
			      .arguments = &json_empty,
			      .arena = &arena,
			      .cancel = &cancel };
	struct turn other = { .of = &service.turns };
	struct jw w = jw_to(&out);
	struct err e;

	(void)state;
	jw_object(&w, NULL);
	service.turns.most = 1;
	assert_int_equal(dispatch(&service, &d, &w, &e), 0);
	assert_int_equal(service.turns.taken, 0); /* it has been given back */
	assert_int_equal(turn_more(&other, 1), 1);
	service.shared.search_ms = 1; /* the time of the call is also that of its waiting */
	assert_int_equal(dispatch(&service, &d, &w, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	service.shared.search_ms = 0;
	cancel_ask(&cancel);
	assert_int_equal(dispatch(&service, &d, &w, &e), -1);
	assert_int_equal(e.code, ERR_CANCELLED);
	d.at_once = true;
	assert_int_equal(dispatch(&service, &d, &w, &e), 0);
	d.at_once = false;
	tool.flags = TOOL_MODEL | TOOL_SLOW; /* it only waits */
	assert_int_equal(dispatch(&service, &d, &w, &e), 0);
	turn_give(&other);
	cancel_done(&cancel);
}

static int set_up(void **state)
{
	const struct scrub_options options = { .secrets = NULL };
	struct err e;

	(void)state;
	service.quiet = true;
	service.tracker = tracker_new(10);
	if (!service.tracker || scrub_new(&options, &service.secrets, &e) < 0)
		return -1;
	service.scrub = service.secrets;
	service.shared.secrets = service.secrets;
	service.shared.scrubbed = &service.scrubbed;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scrub_free(service.secrets);
	tracker_free(service.tracker);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_treated_as_the_table_says),
		cmocka_unit_test(only_tools_that_ask_for_it_are_scrubbed),
		cmocka_unit_test(a_result_leaves_room_for_its_envelope),
		cmocka_unit_test(every_call_is_counted_once),
		cmocka_unit_test(progress_is_passed_on),
		cmocka_unit_test(a_slow_call_without_a_thread_to_spare_is_refused),
		cmocka_unit_test(work_waits_for_its_turn_unless_its_thread_must_not),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
