/* SPDX-License-Identifier: MIT */
/* Output as it comes, and both ends of it: nothing is lost, whatever the reads were. */

#include "unit.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/own.h"
#include "base/utf8.h"
#include "tools/output.h"
#include "tools/run.h"
#include "utf8_splits.h"

enum { MOST = 4 * LIMIT_COMMAND_OUTPUT };

/* Bytes that differ from those nearby, so that a shift is noticed. */
static void fill(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + (i * 7 + i / 26 + i / 1000) % 26);
}

static struct str put_through(struct str whole, size_t step, struct arena *a, bool *cut)
{
	struct ends o;
	struct err e;

	assert_int_equal(ends_init(&o, a, &e), 0);
	for (struct str rest = whole; rest.n; rest = str_from(rest, step)) {
		const struct str piece = guarded(str_upto(rest, step));
		ends_add(&o, piece);
		guarded_free(piece);
	}
	*cut = ends_cut(&o);
	return ends_text(&o, NULL, a);
}

/* Compare with what must come out, worked out in the plain way. */
static void check(struct str whole, struct str got, bool cut)
{
	char mark[64];

	if (whole.n <= LIMIT_COMMAND_OUTPUT) {
		assert_false(cut);
		assert_true(str_eq(got, whole));
		return;
	}
	assert_true(cut);
	const struct str head = str_upto(whole, ENDS_HEAD);
	const struct str tail = str_from(whole, whole.n - ENDS_TAIL);
	const int n = snprintf(mark, sizeof mark, "\n[... %zu bytes omitted ...]\n",
			       whole.n - LIMIT_COMMAND_OUTPUT);
	assert_int_equal(got.n, head.n + (size_t)n + tail.n);
	assert_memory_equal(got.p, head.p, head.n);
	assert_memory_equal(got.p + head.n, mark, (size_t)n);
	assert_memory_equal(got.p + head.n + n, tail.p, tail.n);
}

static void test_sizes_and_steps(void **state)
{
	static const size_t sizes[] = { 0,
					1,
					ENDS_HEAD - 1,
					ENDS_HEAD,
					ENDS_HEAD + 1,
					LIMIT_COMMAND_OUTPUT - 1,
					LIMIT_COMMAND_OUTPUT,
					LIMIT_COMMAND_OUTPUT + 1,
					LIMIT_COMMAND_OUTPUT + ENDS_TAIL - 1,
					LIMIT_COMMAND_OUTPUT + ENDS_TAIL,
					2 * LIMIT_COMMAND_OUTPUT + 77,
					MOST };
	static const size_t steps[] = { 997, 4096, ENDS_HEAD, ENDS_TAIL, ENDS_TAIL + 1, MOST };
	char *text = mem_new(1, MOST);
	bool cut;

	(void)state;
	fill(text, MOST);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		for (size_t j = 0; j < ARRAY_LEN(steps); j++) {
			AUTO_ARENA a = { .max = 1 << 20 };
			const struct str whole = { text, sizes[i] };
			const struct str got = put_through(whole, steps[j], &a, &cut);
			check(whole, got, cut);
		}
	}
	mem_free(text);
}

static void test_characters_stay_whole(void **state)
{
	static const char *const characters[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
	char *text = mem_new(1, MOST);
	bool cut;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(characters); i++) {
		const size_t n = strlen(characters[i]);
		for (size_t shift = 0; shift < n; shift++) {
			AUTO_ARENA a = { .max = 1 << 20 };
			memset(text, 'x', shift);
			size_t at = shift;
			for (; at + n <= 2 * LIMIT_COMMAND_OUTPUT; at += n)
				memcpy(text + at, characters[i], n);
			const struct str got =
				put_through((struct str){ text, at }, 1000, &a, &cut);
			long long omitted;
			assert_true(cut);
			assert_true(utf8_valid(got));
			/* What is shown and the number of omitted bytes add up to the whole. */
			const ptrdiff_t mark = str_find(got, STR("\n[... "));
			const ptrdiff_t end = str_find(got, STR(" ...]\n"));
			assert_true(mark > 0 && end > mark);
			omitted = strtoll(got.p + mark + 6, NULL, 10);
			assert_int_equal((size_t)mark + (got.n - (size_t)end - 6) + (size_t)omitted,
					 at);
		}
	}
	mem_free(text);
}

static void test_no_line_is_added_after_a_line(void **state)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	char *text = mem_new(1, MOST);
	bool cut;

	(void)state;
	memset(text, '\n', MOST);
	const struct str got = put_through((struct str){ text, MOST }, 5000, &a, &cut);
	assert_int_equal(got.p[ENDS_HEAD], '[');
	mem_free(text);
}

static void test_no_memory(void **state)
{
	struct arena a = { .max = 100 };
	struct ends o;
	struct err e;

	(void)state;
	assert_int_equal(ends_init(&o, &a, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	arena_done(&a);
}

/* What a client sees of both streams. */
static int show(void *arg, bool is_stderr, struct str text)
{
	struct buf *seen = arg;

	split_show(&seen[is_stderr], text);
	return 0;
}

static int refuse(void *arg, bool is_stderr, struct str text)
{
	(void)is_stderr;
	(void)text;
	++*(int *)arg;
	return -1;
}

/* Two streams by turns, each with its own text, split in its own way. */
static void relay_both(struct str out, unsigned out_way, struct str err, unsigned err_way)
{
	struct buf seen[2] = { { .max = 1 << 10 }, { .max = 1 << 10 } };
	const struct call_stream stream = { .emit = show, .arg = seen };
	struct relay r = { .stream = &stream };

	for (struct str a = out, b = err; a.n || b.n;) {
		if (a.n)
			assert_int_equal(relay_write(&r, PROC_STDOUT, split_next(out, &a, out_way)),
					 0);
		if (b.n)
			assert_int_equal(relay_write(&r, PROC_STDERR, split_next(err, &b, err_way)),
					 0);
	}
	relay_end(&r);
	assert_seen_whole(&seen[0], out, out_way);
	assert_seen_whole(&seen[1], err, err_way);
	buf_done(&seen[0]);
	buf_done(&seen[1]);
}

static void test_split_characters_of_two_streams_are_relayed_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(split_texts); i++) {
		for (size_t j = 0; j < ARRAY_LEN(split_texts); j++) {
			const struct str out = split_texts[i], err = split_texts[j];
			for (unsigned way = 0; way < split_ways(out); way++)
				relay_both(out, way, err, ~way % split_ways(err));
		}
	}
}

static void test_a_relay_ends_when_it_is_not_wanted(void **state)
{
	int asked = 0;
	const struct call_stream stream = { .emit = refuse, .arg = &asked };
	struct relay r = { .stream = &stream };

	(void)state;
	assert_int_equal(relay_write(&r, PROC_STDOUT, STR("\xc3")), 0);
	assert_int_equal(relay_write(&r, PROC_STDOUT, STR("\xa9 more")), -1);
	assert_int_equal(asked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_characters_of_two_streams_are_relayed_whole),
		cmocka_unit_test(test_a_relay_ends_when_it_is_not_wanted),
		cmocka_unit_test(test_sizes_and_steps),
		cmocka_unit_test(test_characters_stay_whole),
		cmocka_unit_test(test_no_line_is_added_after_a_line),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
