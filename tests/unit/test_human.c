/* SPDX-License-Identifier: MIT */
/* Numbers in words. */

#include "unit.h"

#include <stdlib.h>

#include "base/human.h"
#include "base/own.h"

static const struct {
	const char *(*say)(int64_t n, char room[HUMAN_SIZE]);
	int64_t n;
	const char *want;
} cases[] = {
	{ human_bytes, 0, "0 bytes" },
	{ human_bytes, 1, "1 byte" },
	{ human_bytes, 999, "999 bytes" },
	{ human_bytes, 1000, "1.0 KB" },
	{ human_bytes, 3149, "3.1 KB" },
	{ human_bytes, 10188, "9.9 KB" },
	{ human_bytes, 10189, "10 KB" },
	{ human_bytes, 151234, "148 KB" },
	{ human_bytes, 1023487, "999 KB" },
	{ human_bytes, 1023488, "1.0 MB" },
	{ human_bytes, 256 << 20, "256 MB" },
	{ human_bytes, INT64_MAX, "8.0 EB" },
	{ human_count, 0, "0" },
	{ human_count, 999, "999" },
	{ human_count, 1000, "1,000" },
	{ human_count, -1234567, "-1,234,567" },
	{ human_count, INT64_MAX, "9,223,372,036,854,775,807" },
	{ human_ms, 0, "0.0 s" },
	{ human_when, 0, "1970-01-01 05:30:00" },
	{ human_when, 1777885982, "2026-05-04 14:43:02" },
	{ human_when, INT64_MAX, "-                  " },
	{ human_ms, 849, "0.8 s" },
	{ human_ms, 9949, "9.9 s" },
	{ human_ms, 9950, "10 s" },
	{ human_ms, 119499, "119 s" },
	{ human_ms, 725000, "12 min 5 s" },
	{ human_ms, 12000000, "3 h 20 min" },
};

static void numbers_are_written_as_people_read_them(void **state)
{
	char room[HUMAN_SIZE];

	(void)state;
	assert_int_equal(setenv("TZ", "ZONE-5:30", 1), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(cases[i].say(cases[i].n, room), cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_written_as_people_read_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
