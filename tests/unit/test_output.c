/* SPDX-License-Identifier: MIT */
/* Output as it comes: no character is lost, whatever the reads were. */

#include "unit.h"

#include "base/own.h"
#include "tools/output.h"
#include "tools/run.h"
#include "utf8_splits.h"

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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
