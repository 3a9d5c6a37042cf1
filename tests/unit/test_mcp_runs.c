/* SPDX-License-Identifier: MIT */
/* Running calls are found, cancelled, and tell of themselves. */

#include "unit.h"

#include <poll.h>

#include "mcp/runs.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

static const struct json one = { .type = JSON_NUMBER, .whole = true, .number = 1, .integer = 1 };
static const struct json text = { .type = JSON_STRING, .string = { "1", 1 } };

static void hear(void *arg, struct str message)
{
	buf_addf(arg, "%.*s\n", STR_FMT(message));
}

static bool ends(const struct mcp_run *run)
{
	return cancel_asked(&run->cancel);
}

static void a_run_is_cancelled_by_its_session_and_id(void **state)
{
	struct mcp_runs runs = { .first = NULL };
	struct mcp_run a = { .session = STR("a"), .id = &one },
		       b = { .session = STR("b"), .id = &one };
	struct mcp_run same = { .session = STR("a"), .id = &one };
	struct mcp_run word = { .session = STR("a"), .id = &text };
	struct call c = { .cancel = NULL };
	struct err e;

	(void)state;
	assert_int_equal(mcp_runs_enter(&runs, &a, &e), 0);
	assert_int_equal(mcp_runs_enter(&runs, &b, &e), 0);
	assert_int_equal(mcp_runs_enter(&runs, &word, &e), 0);
	assert_int_equal(mcp_runs_enter(&runs, &same, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
	mcp_run_call(&a, &c);
	assert_false(cancel_asked(c.cancel));
	mcp_runs_cancel(&runs, STR("c"), &one);
	mcp_runs_cancel(&runs, STR(""), &one);
	assert_false(ends(&a));
	mcp_runs_cancel(&runs, STR("a"), &one);
	assert_true(cancel_asked(c.cancel));
	assert_true(ends(&a));
	assert_false(ends(&b));
	assert_false(ends(&word));
	assert_false(mcp_runs_leave(&runs, &a));
	assert_true(mcp_runs_leave(&runs, &b));
	assert_true(mcp_runs_leave(&runs, &word));
	assert_null(runs.first);
}

static void a_session_ends_with_its_runs(void **state)
{
	struct mcp_runs runs = { .first = NULL };
	struct mcp_run a = { .session = STR("a"), .id = &one },
		       b = { .session = STR("b"), .id = &one };
	const struct str session = STR("a");
	struct err e;

	(void)state;
	assert_int_equal(mcp_runs_enter(&runs, &a, &e), 0);
	assert_int_equal(mcp_runs_enter(&runs, &b, &e), 0);
	mcp_runs_cancel_all(&runs, &session);
	assert_true(ends(&a));
	assert_false(ends(&b));
	mcp_runs_cancel_all(&runs, NULL);
	assert_true(ends(&b));
	assert_false(mcp_runs_leave(&runs, &a));
	assert_false(mcp_runs_leave(&runs, &b));
	assert_int_equal(mcp_runs_enter(&runs, &a, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
}

static void output_is_told_once_a_second(void **state)
{
	struct mcp_runs runs = { .first = NULL };
	AUTO_BUF heard = { .max = 64 << 10 };
	struct mcp_run run = { .id = &one, .token = &text, .notify = hear, .arg = &heard };
	struct call c = { .cancel = NULL };
	struct err e;

	(void)state;
	assert_int_equal(mcp_runs_enter(&runs, &run, &e), 0);
	mcp_run_call(&run, &c);
	assert_null(c.cancel);
	c.progress->output(c.progress->arg, false, STR("first\n"));
	assert_int_equal(heard.n, 0);
	run.told_ms -= LIMIT_MCP_PROGRESS_MS;
	run.began_ms -= 1500;
	c.progress->output(c.progress->arg, true, STR("second\nlast \xc3\xa4\n\n"));
	c.progress->output(c.progress->arg, false, STR("too soon\n"));
	run.told_ms -= LIMIT_MCP_PROGRESS_MS;
	c.progress->output(c.progress->arg, false, STR("\n"));
	struct str first, second, rest;
	(void)str_cut(buf_str(&heard), '\n', &first, &rest);
	(void)str_cut(rest, '\n', &second, &rest);
	assert_int_equal(rest.n, 0);
	assert_true(str_find(first, STR("\"progressToken\":\"1\",\"progress\":15")) > 0);
	assert_true(str_find(first, STR("\"message\":\"last \xc3\xa4\"")) > 0);
	assert_true(str_find(second, STR("\"message\":\"too soon\"")) > 0);
	assert_true(mcp_runs_leave(&runs, &run));
}

static void no_secret_is_told_even_in_pieces(void **state)
{
	const struct scrub_options options = { .secrets = NULL };
	struct scrub *scrub;
	struct mcp_runs runs = { .first = NULL };
	AUTO_BUF heard = { .max = 64 << 10 };
	struct err e;

	(void)state;
	assert_int_equal(scrub_new(&options, &scrub, &e), 0);
	struct mcp_run run = {
		.scrub = scrub, .id = &one, .token = &one, .notify = hear, .arg = &heard
	};
	assert_int_equal(mcp_runs_enter(&runs, &run, &e), 0);
	for (const char *p = "key AKIAIOSFODNN7EXAMPL3 end\n"; *p; p++) {
		run.told_ms = 0;
		run.progress.output(&run, false, (struct str){ p, 1 });
	}
	assert_true(str_find(buf_str(&heard), STR("[REDACTED:aws-access-key]")) > 0);
	assert_true(str_find(buf_str(&heard), STR("AKIAIOSFOD")) < 0);
	assert_true(mcp_runs_leave(&runs, &run));
	scrub_free(scrub);
}

static void silence_is_told_rarely_and_grows(void **state)
{
	struct mcp_runs runs = { .first = NULL };
	AUTO_BUF heard = { .max = 64 << 10 }, kept = { .max = 64 << 10 };
	struct mcp_run run = { .id = &one, .token = &one, .notify = hear, .arg = &heard };
	struct mcp_run quiet = { .id = &one, .notify = hear, .arg = &kept };
	struct err e;

	(void)state;
	assert_int_equal(mcp_runs_enter(&runs, &run, &e), 0);
	assert_int_equal(mcp_runs_enter(&runs, &quiet, &e), 0);
	mcp_runs_tick(&runs);
	assert_int_equal(heard.n, 0);
	run.told_ms -= LIMIT_MCP_FIRST_MS;
	quiet.told_ms -= LIMIT_MCP_FIRST_MS;
	mcp_runs_tick(&runs);
	const int64_t first = run.value;
	assert_true(first > 0);
	mcp_runs_tick(&runs);
	assert_int_equal(run.value, first);
	assert_int_equal(kept.n, 0);
	run.told_ms -= LIMIT_MCP_SILENCE_MS;
	quiet.told_ms -= LIMIT_MCP_KEEP_ALIVE_MS;
	mcp_runs_tick(&runs);
	assert_true(run.value > first);
	assert_str(buf_str(&kept), "\n");
	assert_true(mcp_runs_leave(&runs, &run));
	assert_true(mcp_runs_leave(&runs, &quiet));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_cancelled_by_its_session_and_id),
		cmocka_unit_test(a_session_ends_with_its_runs),
		cmocka_unit_test(output_is_told_once_a_second),
		cmocka_unit_test(no_secret_is_told_even_in_pieces),
		cmocka_unit_test(silence_is_told_rarely_and_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
