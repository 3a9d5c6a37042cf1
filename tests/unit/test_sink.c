/* SPDX-License-Identifier: MIT */
/* Output as it comes: no character is lost, whatever the reads were. */

#include "unit.h"

#include "base/own.h"
#include "tools/sink.h"
#include "utf8_splits.h"

static const struct call_shared none;

/* What a client sees of both streams. */
static int show(void *arg, bool is_stderr, struct str text, size_t bytes)
{
	struct buf *seen = arg;

	(void)bytes;
	split_show(&seen[is_stderr], text);
	return 0;
}

static int refuse(void *arg, bool is_stderr, struct str text, size_t bytes)
{
	(void)bytes;
	(void)is_stderr;
	(void)text;
	++*(int *)arg;
	return -1;
}

/* Two streams by turns, each with its own text, split in its own way. */
static void pass_both(struct str out, unsigned out_way, struct str err, unsigned err_way)
{
	struct buf seen[2] = { { .max = 1 << 10 }, { .max = 1 << 10 } };
	struct sink_taker taker = { .take = show, .arg = seen };
	const struct call c = { .shared = &none, .takers = &taker };
	struct sink s;
	struct err e;

	sink_init(&s, &c, SINK_CHARACTERS, NULL);
	for (struct str a = out, b = err; a.n || b.n;) {
		if (a.n)
			assert_int_equal(sink_write(&s, PROC_STDOUT, split_next(out, &a, out_way)),
					 0);
		if (b.n)
			assert_int_equal(sink_write(&s, PROC_STDERR, split_next(err, &b, err_way)),
					 0);
	}
	assert_int_equal(sink_end(&s, &e), 0);
	sink_done(&s);
	assert_seen_whole(&seen[0], out, out_way);
	assert_seen_whole(&seen[1], err, err_way);
	buf_done(&seen[0]);
	buf_done(&seen[1]);
}

static void test_split_characters_of_two_streams_are_passed_on_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(split_texts); i++) {
		for (size_t j = 0; j < ARRAY_LEN(split_texts); j++) {
			const struct str out = split_texts[i], err = split_texts[j];
			for (unsigned way = 0; way < split_ways(out); way++)
				pass_both(out, way, err, ~way % split_ways(err));
		}
	}
}

static void test_it_ends_when_it_is_not_wanted(void **state)
{
	int asked = 0;
	struct sink_taker taker = { .take = refuse, .arg = &asked };
	const struct call c = { .shared = &none, .takers = &taker };
	struct sink s;

	(void)state;
	sink_init(&s, &c, SINK_CHARACTERS, NULL);
	assert_int_equal(sink_write(&s, PROC_STDOUT, STR("\xc3")), 0);
	assert_int_equal(sink_write(&s, PROC_STDOUT, STR("\xa9 more")), -1);
	assert_int_equal(asked, 1);
	sink_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_characters_of_two_streams_are_passed_on_whole),
		cmocka_unit_test(test_it_ends_when_it_is_not_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
