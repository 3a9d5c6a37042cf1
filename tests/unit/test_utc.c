/* SPDX-License-Identifier: MIT */
/* utc: the calendar agrees with the C library's over thousands of years, leap days included. */

#include "unit.h"

#include <time.h>

#include "base/own.h"
#include "base/utc.h"

static const struct {
	int64_t seconds;
	struct utc want;
} moments[] = {
	{ 0, { 1970, 1, 1, 4, 0, 0, 0 } },
	{ -1, { 1969, 12, 31, 3, 23, 59, 59 } },
	{ 951782400, { 2000, 2, 29, 2, 0, 0, 0 } }, /* a leap year, being divisible by 400 */
	{ 951868799, { 2000, 2, 29, 2, 23, 59, 59 } },
	{ 951868800, { 2000, 3, 1, 3, 0, 0, 0 } },
	{ 4107542399, { 2100, 2, 28, 0, 23, 59, 59 } }, /* none, being divisible by 100 */
	{ 4107542400, { 2100, 3, 1, 1, 0, 0, 0 } },
	{ 2147483648, { 2038, 1, 19, 2, 3, 14, 8 } }, /* one second too many for 32 bits */
	{ 253402300799, { 9999, 12, 31, 5, 23, 59, 59 } },
	{ -62135596800, { 1, 1, 1, 1, 0, 0, 0 } },
};

static void assert_same(struct utc a, struct utc b)
{
	assert_int_equal(a.year, b.year);
	assert_int_equal(a.month, b.month);
	assert_int_equal(a.day, b.day);
	assert_int_equal(a.weekday, b.weekday);
	assert_int_equal(a.hour, b.hour);
	assert_int_equal(a.minute, b.minute);
	assert_int_equal(a.second, b.second);
}

static void test_known_moments(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(moments); i++)
		assert_same(utc_of(moments[i].seconds), moments[i].want);
}

static void test_like_the_c_library(void **state)
{
	/* A step of 29 hours and a bit meets every day of the year at every hour. */
	enum { STEP = 29 * 3600 + 61 };

	(void)state;
	for (time_t t = -62135596800; t < 7258118400; t += STEP) {
		struct tm tm;
		assert_non_null(gmtime_r(&t, &tm));
		assert_same(utc_of(t),
			    (struct utc){ tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_wday,
					  tm.tm_hour, tm.tm_min, tm.tm_sec });
	}
}

static void test_texts(void **state)
{
	char out[UTC_TEXT];

	(void)state;
	assert_str(utc_http(784111777, out), "Sun, 06 Nov 1994 08:49:37 GMT");
	assert_str(utc_http(0, out), "Thu, 01 Jan 1970 00:00:00 GMT");
	assert_str(utc_http(253402300799, out), "Fri, 31 Dec 9999 23:59:59 GMT");
	assert_str(utc_iso(784111777, 123, out), "1994-11-06T08:49:37.123Z");
	assert_str(utc_iso(1709164805, 7, out), "2024-02-29T00:00:05.007Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_moments),
		cmocka_unit_test(test_like_the_c_library),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
