/* SPDX-License-Identifier: MIT */
/* events: the ring keeps the newest ones, whole and in order. */

#include "unit.h"

#include <pthread.h>
#include <time.h>

#include "base/io.h"
#include "base/own.h"
#include "service/events.h"
#include "service/limits.h"

static char room[EVENTS_ROOM] __attribute__((aligned(16)));

/* Read everything after `after`; returns how many events there were, all checked. */
static size_t read_all(struct events *ring, uint64_t after, uint64_t *lost)
{
	struct events_batch b;
	struct event e;
	size_t count = 0;

	*lost = 0;
	for (;;) {
		events_take(ring, &(struct events_query){ .after = after }, room, sizeof room, &b);
		*lost += b.lost;
		after += b.lost;
		if (b.next == after)
			return count;
		while (events_next(&b, &e)) {
			assert_int_equal(e.id, ++after);
			assert_int_equal(e.text.n, e.id * 37 % 3000);
			for (size_t i = 0; i < e.text.n; i++)
				assert_int_equal(e.text.p[i], 'a' + (char)(e.id % 26));
			assert_int_equal(e.details.n, 0);
			count++;
		}
	}
}

static void the_newest_are_kept_whole_and_in_order(void **state)
{
	static char text[3000];
	struct events *ring = events_new();
	uint64_t lost;

	(void)state;
	assert_non_null(ring);
	assert_int_equal(read_all(ring, 0, &lost), 0);
	for (uint64_t id = 1; id <= 25000; id++) {
		memset(text, 'a' + (char)(id % 26), sizeof text);
		struct event e = { .type = EVENT_CALL_START,
				   .call = id / 2,
				   .text = { text, id * 37 % 3000 },
				   .details = STR("only for who asks") };
		events_add(ring, &e);
		assert_int_equal(e.id, id);
	}
	assert_int_equal(events_last(ring), 25000);
	const size_t kept = read_all(ring, 0, &lost);
	assert_int_equal(kept + lost, 25000);
	assert_in_range(kept, LIMIT_EVENT_BYTES / 2200, LIMIT_EVENT_BYTES / 1500);
	assert_int_equal(read_all(ring, 24990, &lost), 10);
	assert_int_equal(lost, 0);
	events_free(ring);
}

static void small_ones_are_counted(void **state)
{
	struct events *ring = events_new();
	struct events_batch b;

	(void)state;
	for (int i = 0; i < LIMIT_EVENTS + 7; i++)
		events_add(ring, &(struct event){ .type = EVENT_OUTPUT });
	events_take(ring, &(struct events_query){ .after = 0 }, room, sizeof room, &b);
	assert_int_equal(b.lost, 7);
	events_free(ring);
}

static void one_call_has_its_details(void **state)
{
	struct events *ring = events_new();
	struct events_batch b;
	struct event e;

	(void)state;
	for (uint64_t call = 1; call <= 3; call++)
		events_add(ring, &(struct event){ .type = EVENT_CALL_START,
						  .call = call,
						  .details = STR("{}") });
	events_take(ring, &(struct events_query){ .call = 2, .details = true }, room, sizeof room,
		    &b);
	assert_true(events_next(&b, &e));
	assert_int_equal(e.call, 2);
	assert_str(e.details, "{}");
	assert_false(events_next(&b, &e));
	assert_int_equal(b.next, 3);
	events_free(ring);
}

static int64_t date_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void the_time_is_a_date(void **state)
{
	struct events *ring = events_new();
	struct event now = { .type = EVENT_OUTPUT }, before = { .type = EVENT_OUTPUT };

	(void)state;
	const int64_t first = date_ms();
	events_add(ring, &now);
	events_hold(ring);
	events_add_held(ring, &before, io_now_us() - 60000000);
	events_release(ring);
	const int64_t last = date_ms();
	assert_in_range(now.time_ms, first - 1, last + 1);
	assert_in_range(before.time_ms, first - 60001, last - 59999);
	assert_int_equal(before.id, now.id + 1);
	events_free(ring);
}

/* Each thread adds pairs, and no event of another thread may come between. */
static void *add_pairs(void *arg)
{
	struct events *ring = arg;

	for (int i = 0; i < 3000; i++) {
		struct event e = { .type = EVENT_CALL_START, .details = STR("{}") };
		events_hold(ring);
		events_add_held(ring, &e, io_now_us());
		e.call = e.id;
		e.type = EVENT_CALL_END;
		events_add_held(ring, &e, io_now_us());
		events_release(ring);
	}
	return NULL;
}

static void who_holds_it_is_alone(void **state)
{
	struct events *ring = events_new();
	struct events_query q = { .after = 0 };
	pthread_t threads[4];
	struct events_batch b;
	struct event e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_pairs, ring), 0);
	do {
		events_take(ring, &q, room, sizeof room, &b);
		q.after = b.next;
		while (events_next(&b, &e))
			if (e.type == EVENT_CALL_END)
				assert_int_equal(e.call, e.id - 1);
	} while (q.after < ARRAY_LEN(threads) * 6000);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(events_last(ring), ARRAY_LEN(threads) * 6000);
	events_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_are_kept_whole_and_in_order),
		cmocka_unit_test(small_ones_are_counted),
		cmocka_unit_test(one_call_has_its_details),
		cmocka_unit_test(the_time_is_a_date),
		cmocka_unit_test(who_holds_it_is_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
