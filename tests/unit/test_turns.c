/* SPDX-License-Identifier: MIT */
/* Turns: so many at once, the others in order; who waits can leave, and is not kept for ever. */

#include <pthread.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/turns.h"
#include "unit.h"

/* A thread that takes a turn, notes when, and gives it back. */
struct waiter {
	struct turns *all;
	struct cancel cancel;
	pthread_t thread;
	int rc, place;
	struct err e;
};

static _Atomic int places;

static void *take_and_give(void *arg)
{
	struct waiter *w = arg;
	struct turn t = { .of = w->all };

	w->rc = turn_take(&t, &w->cancel, IO_FOREVER, &w->e);
	if (w->rc == 0)
		w->place = ++places;
	turn_give(&t);
	return NULL;
}

static unsigned waiting(struct turns *all)
{
	(void)pthread_mutex_lock(&all->lock);
	const unsigned n = all->waiting;
	(void)pthread_mutex_unlock(&all->lock);
	return n;
}

/* Start it, and wait until it waits. */
static void start(struct waiter *w, struct turns *all)
{
	const unsigned before = waiting(all);

	*w = (struct waiter){ .all = all, .cancel = CANCEL_INIT };
	assert_int_equal(pthread_create(&w->thread, NULL, take_and_give, w), 0);
	while (waiting(all) == before)
		io_sleep_ms(1);
}

static void finish(struct waiter *w)
{
	(void)pthread_join(w->thread, NULL);
	cancel_done(&w->cancel);
}

static void as_many_as_there_are(void **state)
{
	struct turns all = { .most = 4 };
	struct turn one = { .of = &all }, other = { .of = &all };
	struct err e;

	(void)state;
	assert_int_equal(turn_take(&one, NULL, IO_FOREVER, &e), 0);
	assert_int_equal(turn_more(&one, 2), 2);
	assert_int_equal(turn_more(&other, 3), 1);
	assert_int_equal(turn_more(&other, 3), 0);
	turn_give(&one);
	assert_int_equal(one.held, 0);
	assert_int_equal(turn_more(&other, 3), 3);
	turn_give(&other);
	turn_give(&other);
	assert_int_equal(all.taken, 0);
}

static void those_who_wait_come_in_order(void **state)
{
	enum { MANY = 8 };
	struct turns all = { .most = 1 };
	struct turn first = { .of = &all }, greedy = { .of = &all };
	struct waiter w[MANY];
	struct err e;

	(void)state;
	places = 0;
	assert_int_equal(turn_take(&first, NULL, IO_FOREVER, &e), 0);
	for (int i = 0; i < MANY; i++)
		start(&w[i], &all);
	all.most = 2; /* what becomes free is for those who wait */
	assert_int_equal(turn_more(&greedy, 1), 0);
	all.most = 1;
	turn_give(&first);
	for (int i = 0; i < MANY; i++) {
		finish(&w[i]);
		assert_int_equal(w[i].rc, 0);
		assert_int_equal(w[i].place, i + 1);
	}
	assert_int_equal(all.taken, 0);
}

static void who_waits_can_leave(void **state)
{
	struct turns all = { .most = 1 };
	struct turn first = { .of = &all }, late = { .of = &all };
	struct waiter w[3];
	struct err e;

	(void)state;
	assert_int_equal(turn_take(&first, NULL, IO_FOREVER, &e), 0);
	for (int i = 0; i < 3; i++)
		start(&w[i], &all);
	for (int i = 1; i < 3; i++) { /* from the middle, and from the end */
		cancel_ask(&w[i].cancel);
		finish(&w[i]);
		assert_int_equal(w[i].rc, -1);
		assert_int_equal(w[i].e.code, ERR_CANCELLED);
		assert_int_equal(waiting(&all), 3 - i);
	}
	assert_int_equal(turn_take(&late, NULL, io_now_ms() + 1, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	assert_int_equal(waiting(&all), 1);
	turn_give(&first);
	finish(&w[0]);
	assert_int_equal(w[0].rc, 0);
	assert_int_equal(all.taken, 0);
}

static void not_more_wait_than_may(void **state)
{
	struct turns all = { .most = 1 };
	struct turn first = { .of = &all }, next = { .of = &all };
	struct waiter w;
	struct err e;

	(void)state;
	assert_int_equal(turn_take(&first, NULL, IO_FOREVER, &e), 0);
	all.waiting = LIMIT_TURNS_WAITING - 1;
	assert_int_equal(turn_check(&next, &e), 0);
	start(&w, &all);
	assert_int_equal(turn_check(&next, &e), -1);
	assert_int_equal(turn_take(&next, NULL, IO_FOREVER, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	turn_give(&first);
	finish(&w);
	assert_int_equal(w.rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_there_are),
		cmocka_unit_test(those_who_wait_come_in_order),
		cmocka_unit_test(who_waits_can_leave),
		cmocka_unit_test(not_more_wait_than_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
