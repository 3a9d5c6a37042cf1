/* SPDX-License-Identifier: MIT */
/* Running calls are found, cancelled, and tell of themselves. */

#include "unit.h"

#include <poll.h>

#include "base/io.h"
#include "base/own.h"
#include "mcp/limits.h"
#include "mcp/runs.h"
#include "tools/sink.h"
#include "utf8_splits.h"

static const struct json one = { .type = JSON_NUMBER, .whole = true, .number = 1, .integer = 1 };
static const struct json text = { .type = JSON_STRING, .string = { "1", 1 } };

static void hear(void *arg, struct str message)
{
	buf_addf(arg, "%.*s\n", STR_FMT(message));
}

static bool ends(const struct mcp_run *run)
{
	return cancel_asked(run->entry.cancel);
}

static void a_run_is_cancelled_by_its_session_and_id(void **state)
{
	struct roster runs = { .first = NULL };
	struct mcp_run a = { .session = STR("a"), .id = &one },
		       b = { .session = STR("b"), .id = &one };
	struct mcp_run same = { .session = STR("a"), .id = &one };
	struct mcp_run word = { .session = STR("a"), .id = &text };
	struct dispatch c = { .cancel = NULL };
	struct err e;

	(void)state;
	assert_int_equal(mcp_run_enter(&runs, &a, &e), 0);
	assert_int_equal(mcp_run_enter(&runs, &b, &e), 0);
	assert_int_equal(mcp_run_enter(&runs, &word, &e), 0);
	assert_int_equal(mcp_run_enter(&runs, &same, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
	mcp_run_follow(&a, &c);
	assert_false(cancel_asked(c.entry->cancel));
	roster_cancel(&runs, STR("c"), &one);
	roster_cancel(&runs, STR(""), &one);
	assert_false(ends(&a));
	roster_cancel(&runs, STR("a"), &one);
	assert_true(cancel_asked(c.entry->cancel));
	assert_true(ends(&a));
	assert_false(ends(&b));
	assert_false(ends(&word));
	assert_false(mcp_run_leave(&runs, &a));
	assert_true(mcp_run_leave(&runs, &b));
	assert_true(mcp_run_leave(&runs, &word));
	assert_null(runs.first);
}

static void a_session_ends_with_its_runs(void **state)
{
	struct roster runs = { .first = NULL };
	struct mcp_run a = { .session = STR("a"), .id = &one },
		       b = { .session = STR("b"), .id = &one };
	const struct str session = STR("a");
	struct err e;

	(void)state;
	assert_int_equal(mcp_run_enter(&runs, &a, &e), 0);
	assert_int_equal(mcp_run_enter(&runs, &b, &e), 0);
	roster_cancel_session(&runs, session);
	assert_true(ends(&a));
	assert_false(ends(&b));
	roster_close(&runs);
	assert_true(ends(&b));
	assert_false(mcp_run_leave(&runs, &a));
	assert_false(mcp_run_leave(&runs, &b));
	assert_int_equal(mcp_run_enter(&runs, &a, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
}

static void tell(const struct dispatch *d, bool is_stderr, struct str piece)
{
	(void)d->taker->take(d->taker->arg, is_stderr, piece, piece.n);
}

static void output_is_told_once_a_second(void **state)
{
	struct roster runs = { .first = NULL };
	AUTO_BUF heard = { .max = 64 << 10 };
	struct mcp_run run = { .id = &one, .token = &text, .notify = hear, .arg = &heard };
	struct dispatch c = { .cancel = NULL };
	struct err e;

	(void)state;
	assert_int_equal(mcp_run_enter(&runs, &run, &e), 0);
	mcp_run_follow(&run, &c);
	assert_ptr_equal(c.entry, &run.entry);
	tell(&c, false, STR("first\n"));
	assert_int_equal(heard.n, 0);
	run.told_ms -= LIMIT_MCP_PROGRESS_MS;
	run.began_ms -= 1500;
	tell(&c, true, STR("second\nlast \xc3\xa4\n\n"));
	tell(&c, false, STR("too soon\n"));
	run.told_ms -= LIMIT_MCP_PROGRESS_MS;
	tell(&c, false, STR("\n"));
	struct str first, second, rest;
	(void)str_cut(buf_str(&heard), '\n', &first, &rest);
	(void)str_cut(rest, '\n', &second, &rest);
	assert_int_equal(rest.n, 0);
	assert_true(str_find(first, STR("\"progressToken\":\"1\",\"progress\":1.5")) > 0);
	assert_true(str_find(first, STR("\"message\":\"last \xc3\xa4\"")) > 0);
	assert_true(str_find(second, STR("\"message\":\"too soon\"")) > 0);
	assert_true(mcp_run_leave(&runs, &run));
}

/* A run that tells of its output when the test says so. */
static void run_begin(struct roster *runs, struct mcp_run *run, struct dispatch *d)
{
	struct err e;

	assert_int_equal(mcp_run_enter(runs, run, &e), 0);
	mcp_run_follow(run, d);
	run->told_ms = INT64_MAX / 2;
}

static void a_long_line_is_cut_between_characters(void **state)
{
	static const char *const characters[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(characters); i++) {
		for (size_t shift = 0; shift < 4; shift++) {
			AUTO_BUF line = { .max = 8 << 10 };
			AUTO_BUF want = { .max = 1 << 10 };
			while (line.n < 4000)
				buf_add(&line, str_of(characters[i]));
			buf_add(&line, str_upto(STR("xyz"), shift));
			buf_add(&want, STR("\"message\":\""));
			for (size_t n = LIMIT_MCP_LINE / strlen(characters[i]); n > 0; n--)
				buf_add(&want, str_of(characters[i]));
			buf_add(&want, STR("\"}"));
			AUTO_BUF heard = { .max = 64 << 10 };
			struct roster runs = { .first = NULL };
			struct mcp_run run = {
				.id = &one, .token = &text, .notify = hear, .arg = &heard
			};
			struct dispatch d = { .cancel = NULL };
			run_begin(&runs, &run, &d);
			run.told_ms = 0;
			tell(&d, false, buf_str(&line));
			assert_true(str_find(buf_str(&heard), buf_str(&want)) > 0);
			assert_true(mcp_run_leave(&runs, &run));
		}
	}
}

/* Both streams bring the same pieces by turns. */
static void characters_of_two_streams_stay_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(split_texts); i++) {
		const struct str bytes = split_texts[i];
		for (unsigned way = 0; way < split_ways(bytes) && utf8_valid(bytes); way++) {
			AUTO_BUF heard = { .max = 64 << 10 };
			struct roster runs = { .first = NULL };
			struct mcp_run run = {
				.id = &one, .token = &text, .notify = hear, .arg = &heard
			};
			struct dispatch d = { .cancel = NULL };
			run_begin(&runs, &run, &d);
			const struct call_shared none = { .secrets = NULL };
			const struct call c = { .shared = &none, .takers = d.taker };
			struct sink sink;
			sink_init(&sink, &c, SINK_CHARACTERS, NULL);
			for (struct str rest = bytes; rest.n;) {
				const struct str piece = split_next(bytes, &rest, way);
				(void)sink_write(&sink, PROC_STDOUT, piece);
				(void)sink_write(&sink, PROC_STDERR, piece);
			}
			run.told_ms = 0;
			(void)sink_write(&sink, PROC_STDOUT, STR("."));
			sink_done(&sink);
			assert_true(str_find(buf_str(&heard), STR(".\"}")) > 0);
			assert_true(str_find(buf_str(&heard), STR(UTF8_REPLACEMENT)) < 0);
			assert_int_equal(run.bytes, 2 * bytes.n + 1);
			assert_true(mcp_run_leave(&runs, &run));
		}
	}
}

static void silence_is_told_rarely_and_grows(void **state)
{
	struct roster runs = { .first = NULL };
	AUTO_BUF heard = { .max = 64 << 10 }, kept = { .max = 64 << 10 };
	struct mcp_run run = { .id = &one, .token = &one, .notify = hear, .arg = &heard };
	struct mcp_run quiet = { .id = &one, .notify = hear, .arg = &kept };
	struct err e;

	(void)state;
	assert_int_equal(mcp_run_enter(&runs, &run, &e), 0);
	assert_int_equal(mcp_run_enter(&runs, &quiet, &e), 0);
	roster_tick(&runs);
	assert_int_equal(heard.n, 0);
	run.told_ms -= LIMIT_MCP_FIRST_MS;
	quiet.told_ms -= LIMIT_MCP_FIRST_MS;
	roster_tick(&runs);
	const int64_t first = run.value;
	assert_true(first > 0);
	roster_tick(&runs);
	assert_int_equal(run.value, first);
	assert_int_equal(kept.n, 0);
	run.told_ms -= LIMIT_MCP_SILENCE_MS;
	quiet.told_ms -= LIMIT_MCP_KEEP_ALIVE_MS;
	roster_tick(&runs);
	assert_true(run.value > first);
	assert_str(buf_str(&kept), "\n");
	assert_true(mcp_run_leave(&runs, &run));
	assert_true(mcp_run_leave(&runs, &quiet));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_cancelled_by_its_session_and_id),
		cmocka_unit_test(a_session_ends_with_its_runs),
		cmocka_unit_test(output_is_told_once_a_second),
		cmocka_unit_test(a_long_line_is_cut_between_characters),
		cmocka_unit_test(characters_of_two_streams_stay_whole),
		cmocka_unit_test(silence_is_told_rarely_and_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
