/* SPDX-License-Identifier: MIT */
/* Slots: one owner at a time, no event lost, no event of an old connection taken for a new one. */

#include "unit.h"

#include <pthread.h>

#include "api/workers.h"

enum { SIZE = 4, REFUSED = 2 };

static struct slots *new_slots(void)
{
	static struct slots s;
	struct err e;

	s = (struct slots){ 0 };
	assert_int_equal(slots_init(&s, SIZE, SIZE - 1, REFUSED, &e), 0);
	return &s;
}

/* A slot that waits, as after a request. */
static struct slot *waiting(struct slots *s, int64_t deadline_ms, enum http_state state)
{
	struct slot *c = slots_take(s, false);

	c->http.deadline_ms = deadline_ms;
	c->http.state = state;
	assert_true(slot_let_go(c));
	return c;
}

static void there_are_as_many_as_asked_for(void **state)
{
	struct slots *s = new_slots();
	struct slot *all[SIZE];

	(void)state;
	for (int i = 0; i < SIZE; i++) {
		all[i] = slots_take(s, false);
		assert_non_null(all[i]);
		assert_false(all[i]->over);
		assert_true(slot_is_busy(all[i]));
	}
	assert_int_equal(s->used, SIZE);
	slots_give(s, all[2]);
	assert_false(slot_is_busy(all[2]));
	assert_ptr_equal(slots_take(s, false), all[2]);
	slots_done(s);
}

static void others_get_one_to_be_refused(void **state)
{
	struct slots *s = new_slots();
	struct slot *served = NULL, *over = NULL;

	(void)state;
	for (int i = 0; i < SIZE; i++)
		assert_non_null(served = slots_take(s, false));
	for (int i = 0; i < REFUSED; i++) {
		assert_non_null(over = slots_take(s, false));
		assert_true(over->over);
	}
	assert_null(slots_take(s, false));
	/* Each is for its own kind, whichever slot it is. */
	slots_give(s, served);
	assert_ptr_equal(slots_take(s, false), served);
	assert_false(served->over);
	slots_give(s, over);
	assert_ptr_equal(slots_take(s, true), over);
	assert_true(over->over);
	assert_null(slots_take(s, true));
	slots_done(s);
}

static void tcp_leaves_some_to_unix_sockets(void **state)
{
	struct slots *s = new_slots();
	struct slot *tcp = NULL;

	(void)state;
	for (int i = 0; i < SIZE - 1; i++)
		assert_non_null(tcp = slots_take(s, true));
	assert_true(slots_take(s, true)->over);
	struct slot *local = slots_take(s, false);
	assert_false(local->over);
	/* What a Unix socket gives back is not for TCP, what TCP gives back is for both. */
	slots_give(s, local);
	assert_true(slots_take(s, true)->over);
	slots_give(s, tcp);
	assert_false(slots_take(s, true)->over);
	slots_done(s);
}

static void an_event_makes_one_owner(void **state)
{
	struct slots *s = new_slots();
	struct slot *c = waiting(s, 0, HTTP_IDLE);
	const uint64_t key = slots_key(s, c);

	(void)state;
	assert_ptr_equal(slots_claim(s, key), c);
	/* A second one is for the owner, who looks again before letting go. */
	assert_null(slots_claim(s, key));
	assert_null(slots_claim(s, key));
	assert_false(slot_let_go(c));
	assert_true(slot_is_busy(c));
	assert_true(slot_let_go(c));
	assert_false(slot_is_busy(c));
	assert_ptr_equal(slots_claim(s, key), c);
	slots_done(s);
}

static void an_event_of_an_old_connection_is_nobodys(void **state)
{
	struct slots *s = new_slots();
	struct slot *c = waiting(s, 0, HTTP_IDLE);
	const uint64_t old = slots_key(s, c);

	(void)state;
	assert_ptr_equal(slots_claim(s, old), c);
	slots_give(s, c);
	assert_null(slots_claim(s, old));
	assert_ptr_equal(slots_take(s, false), c);
	assert_null(slots_claim(s, old));
	assert_true(slot_let_go(c)); /* the old event has not marked the new connection */
	assert_null(slots_claim(s, old));
	assert_int_not_equal(slots_key(s, c), old);
	slots_done(s);
}

static const struct {
	int64_t deadline_ms, now_ms;
	enum http_state state;
	bool ending, claimed;
} expiries[] = {
	{ 100, 99, HTTP_IDLE, false, false }, { 100, 100, HTTP_IDLE, false, true },
	{ 100, 99, HTTP_IN, false, false },   { 100, 101, HTTP_IN, false, true },
	{ 100, 101, HTTP_OUT, false, true },  { 100, 99, HTTP_IDLE, true, true },
	{ 100, 99, HTTP_IN, true, true },     { 100, 99, HTTP_DISCARD, true, true },
	{ 100, 99, HTTP_OUT, true, false },   { 100, 100, HTTP_OUT, true, true },
};

static void what_waits_too_long_is_claimed(void **state)
{
	struct slots *s = new_slots();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(expiries); i++) {
		struct slot *c = waiting(s, expiries[i].deadline_ms, expiries[i].state);
		const bool out = expiries[i].state == HTTP_OUT;
		assert_int_equal(slot_is_busy(c), out);
		assert_int_equal(slot_claim_expired(c, expiries[i].now_ms, expiries[i].ending),
				 expiries[i].claimed);
		assert_int_equal(slot_is_busy(c), out || expiries[i].claimed);
		assert_false(expiries[i].claimed && slot_claim_expired(c, INT64_MAX, true));
		slots_give(s, c);
	}
	slots_done(s);
}

/* Many threads claim one slot: each time one of them has it, and no event goes unseen. */
struct contest {
	struct slots *s;
	uint64_t key;
	_Atomic int inside;
	_Atomic int64_t seen, sent;
};

static void *compete(void *arg)
{
	struct contest *t = arg;

	for (int i = 0; i < 20000; i++) {
		t->sent++;
		struct slot *c = slots_claim(t->s, t->key);
		if (!c)
			continue;
		do {
			if (t->inside++ != 0)
				return (void *)1;
			t->seen = t->sent;
			t->inside--;
		} while (!slot_let_go(c));
	}
	return NULL;
}

static void only_one_thread_owns_it(void **state)
{
	struct slots *s = new_slots();
	struct slot *c = waiting(s, 0, HTTP_IDLE);
	struct contest t = { .s = s, .key = slots_key(s, c) };
	pthread_t threads[4];
	void *failed;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, compete, &t), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	/* Whoever came last was either the owner or was noticed by the owner. */
	assert_int_equal(t.seen, t.sent);
	slots_done(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_as_many_as_asked_for),
		cmocka_unit_test(others_get_one_to_be_refused),
		cmocka_unit_test(tcp_leaves_some_to_unix_sockets),
		cmocka_unit_test(an_event_makes_one_owner),
		cmocka_unit_test(an_event_of_an_old_connection_is_nobodys),
		cmocka_unit_test(what_waits_too_long_is_claimed),
		cmocka_unit_test(only_one_thread_owns_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
