/* SPDX-License-Identifier: MIT */
/* own: descriptors close with their scope, memory is zeroed and its sizes are checked. */

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>

#include "base/own.h"

static int open_null(void)
{
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void a_scope_closes_its_descriptor(void **unused)
{
	int seen;

	(void)unused;
	{
		AUTO_FD fd = open_null();
		seen = fd;
		assert_true(is_open(seen));
	}
	assert_false(is_open(seen));
}

static int hand_out(int *seen)
{
	AUTO_FD fd = open_null();

	*seen = fd;
	return TAKE(fd, -1);
}

static void a_taken_descriptor_stays_open(void **unused)
{
	int seen;
	int fd = hand_out(&seen);

	(void)unused;
	assert_int_equal(fd, seen);
	assert_true(is_open(fd));
	fd_closep(&fd);
	assert_int_equal(fd, -1);
	assert_false(is_open(seen));
}

static void take_leaves_the_empty_value_and_evaluates_once(void **unused)
{
	int values[] = { 7, 8 };
	int *at = values;

	(void)unused;
	assert_int_equal(TAKE(values[1], 0), 8);
	assert_int_equal(values[1], 0);
	assert_int_equal(TAKE(*at, -1), 7);
	assert_int_equal(values[0], -1);
	assert_int_equal(ARRAY_LEN(values), 2);
}

static void closing_nothing_keeps_errno(void **unused)
{
	int none = -1, bad = INT_MAX;

	(void)unused;
	errno = E2BIG;
	fd_closep(&none);
	assert_int_equal(none, -1);
	fd_closep(&bad); /* close fails with EBADF, which is ignored */
	assert_int_equal(bad, -1);
	assert_int_equal(errno, E2BIG);
}

static void new_memory_is_zeroed(void **unused)
{
	char *p = mem_new(100, 10);

	(void)unused;
	assert_non_null(p);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(p[i], 0);
	mem_free(p);
	mem_free(NULL);
}

static void a_product_that_overflows_gives_nothing(void **unused)
{
	/* volatile: the compiler would see through constants and warn. */
	static const struct {
		size_t count, size;
	} cases[] = {
		{ SIZE_MAX, 2 },	 { 2, SIZE_MAX },
		{ SIZE_MAX / 2 + 1, 2 }, { (size_t)1 << 33, (size_t)1 << 33 },
		{ SIZE_MAX, SIZE_MAX },
	};
	char *p = mem_new(1, 1);

	(void)unused;
	assert_non_null(p);
	*p = 'x';
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const volatile size_t count = cases[i].count, size = cases[i].size;
		assert_null(mem_new(count, size));
		assert_null(mem_resize(p, count, size));
		assert_int_equal(*p, 'x');
	}
	mem_free(p);
}

static void resizing_keeps_the_content(void **unused)
{
	int *p = mem_resize(NULL, 2, sizeof *p);

	(void)unused;
	assert_non_null(p);
	p[0] = 1;
	p[1] = 2;
	p = mem_resize(p, 1000, sizeof *p);
	assert_non_null(p);
	assert_int_equal(p[0], 1);
	assert_int_equal(p[1], 2);
	/* To nothing: refused, so that "NULL" has one meaning and p stays valid. */
	assert_null(mem_resize(p, 0, sizeof *p));
	assert_null(mem_resize(p, 1, 0));
	assert_int_equal(p[1], 2);
	mem_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scope_closes_its_descriptor),
		cmocka_unit_test(a_taken_descriptor_stays_open),
		cmocka_unit_test(take_leaves_the_empty_value_and_evaluates_once),
		cmocka_unit_test(closing_nothing_keeps_errno),
		cmocka_unit_test(new_memory_is_zeroed),
		cmocka_unit_test(a_product_that_overflows_gives_nothing),
		cmocka_unit_test(resizing_keeps_the_content),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
