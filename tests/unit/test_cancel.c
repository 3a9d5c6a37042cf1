/* SPDX-License-Identifier: MIT */
/* A cancel is seen by those who look and by those who wait, in whatever order they come. */

#include <pthread.h>

#include "base/cancel.h"
#include "base/io.h"
#include "unit.h"

static bool is_readable(struct cancel *c)
{
	return io_wait(cancel_fd(c), POLLIN, 0) == 1;
}

static void asking_is_seen_before_and_after_the_descriptor_is_made(void **state)
{
	struct cancel before = CANCEL_INIT, after = CANCEL_INIT;

	(void)state;
	assert_false(cancel_asked(&before));
	cancel_ask(&before);
	assert_true(cancel_asked(&before));
	assert_int_equal(before.fd, -1);
	assert_true(is_readable(&before));

	assert_false(is_readable(&after));
	cancel_ask(&after);
	cancel_ask(&after);
	assert_true(cancel_asked(&after));
	assert_true(is_readable(&after));
	assert_true(is_readable(&after)); /* it stays readable */
	cancel_done(&before);
	cancel_done(&after);
	assert_int_equal(after.fd, -1);
}

static void a_reset_makes_it_ready_for_other_work(void **state)
{
	struct cancel c = CANCEL_INIT;

	(void)state;
	assert_false(is_readable(&c));
	cancel_ask(&c);
	assert_false(cancel_by_person(&c));
	cancel_ask_by_person(&c);
	assert_true(cancel_by_person(&c));
	cancel_reset(&c);
	assert_false(cancel_asked(&c) || cancel_by_person(&c));
	assert_false(is_readable(&c));
	cancel_ask(&c);
	assert_true(is_readable(&c));
	cancel_done(&c);
}

static void nobody_can_ask_null(void **state)
{
	(void)state;
	assert_false(cancel_asked(NULL) || cancel_by_person(NULL));
	assert_int_equal(cancel_fd(NULL), -1);
}

static void *ask(void *arg)
{
	cancel_ask(arg);
	return NULL;
}

/* The asker may store its flag at any moment while the descriptor is made. */
static void a_waiter_never_misses_an_asker(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		struct cancel c = CANCEL_INIT;
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, ask, &c), 0);
		assert_int_equal(io_wait_or(-1, 0, &c, io_now_ms() + 20000), IO_CANCELLED);
		(void)pthread_join(thread, NULL);
		cancel_done(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asking_is_seen_before_and_after_the_descriptor_is_made),
		cmocka_unit_test(a_reset_makes_it_ready_for_other_work),
		cmocka_unit_test(nobody_can_ask_null),
		cmocka_unit_test(a_waiter_never_misses_an_asker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
