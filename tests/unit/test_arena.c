/* SPDX-License-Identifier: MIT */
/* arena: pieces are aligned, apart and bounded; failure sticks; a reset forgets everything. */

#include "unit.h"

#include <stdalign.h>

#include "base/arena.h"

static void pieces_are_aligned_and_do_not_overlap(void **unused)
{
	enum { PIECES = 600 };
	unsigned char *pieces[PIECES];
	AUTO_ARENA a = { .max = 1 << 20 };

	(void)unused;
	for (size_t i = 0; i < PIECES; i++) {
		pieces[i] = arena_alloc(&a, i);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
		memset(pieces[i], (int)(i & 255), i);
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t k = 0; k < i; k++)
			assert_int_equal(pieces[i][k], i & 255);
	assert_false(a.failed);
	assert_true(a.total <= a.max);
}

static void the_maximum_is_exact(void **unused)
{
	static const size_t maxima[] = { 16, 4096, 8192, 1 << 20, 3 << 20 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(maxima); i++) {
		AUTO_ARENA whole = { .max = maxima[i] }, more = { .max = maxima[i] };
		char *p = arena_alloc(&whole, maxima[i]);
		assert_non_null(p);
		memset(p, 'x', maxima[i]);
		assert_int_equal(whole.total, maxima[i]);
		assert_null(arena_alloc(&whole, 1));
		assert_true(whole.failed);
		assert_null(arena_alloc(&more, maxima[i] + 1));
		assert_true(more.failed);
		assert_int_equal(more.total, 0);
	}
}

static void small_pieces_never_pass_the_maximum(void **unused)
{
	AUTO_ARENA a = { .max = 100000 };
	size_t got = 0;

	(void)unused;
	while (arena_alloc(&a, 48))
		got += 48;
	assert_true(a.failed);
	assert_true(a.total <= a.max);
	assert_true(got <= a.max && got > a.max / 2);
}

static void failure_sticks_until_a_reset(void **unused)
{
	AUTO_ARENA a = { .max = 4096 };

	(void)unused;
	assert_null(arena_alloc(&a, 5000));
	assert_true(a.failed);
	assert_null(arena_alloc(&a, 1));
	assert_null(arena_array(&a, 1, 1));
	assert_null(arena_dup(&a, STR("x")).p);
	assert_int_equal(arena_dup(&a, STR("x")).n, 0);
	arena_reset(&a);
	assert_false(a.failed);
	assert_non_null(arena_alloc(&a, 1));
}

static void without_a_maximum_there_is_nothing(void **unused)
{
	AUTO_ARENA a = { 0 };

	(void)unused;
	assert_null(arena_alloc(&a, 1));
	assert_true(a.failed);
}

static void sizes_that_overflow_fail(void **unused)
{
	static const struct {
		size_t count, size;
	} cases[] = {
		{ 1, SIZE_MAX },	 { 1, SIZE_MAX - 14 },
		{ 1, SIZE_MAX - 15 },	 { SIZE_MAX, 2 },
		{ SIZE_MAX / 2 + 1, 2 }, { (size_t)1 << 33, (size_t)1 << 33 },
		{ SIZE_MAX / 16, 16 },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA a = { .max = SIZE_MAX };
		const volatile size_t count = cases[i].count, size = cases[i].size;
		assert_null(arena_array(&a, count, size));
		assert_true(a.failed);
		arena_reset(&a);
		assert_non_null(arena_alloc(&a, 1));
		assert_null(arena_array(&a, count, size));
		assert_true(a.failed);
	}
}

static void arrays_are_zeroed_also_in_used_memory(void **unused)
{
	AUTO_ARENA a = { .max = 4096 };

	(void)unused;
	memset(arena_alloc(&a, 1000), 'x', 1000);
	arena_reset(&a);
	const char *p = arena_array(&a, 100, 10);
	assert_non_null(p);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(p[i], 0);
	assert_non_null(arena_array(&a, 0, 10));
}

static void an_array_grows_with_what_is_in_it(void **unused)
{
	(void)unused;
	AUTO_ARENA a = { .max = 1 << 16 };
	size_t room = 0;
	int *list = NULL;

	for (int i = 0; i < 1000; i++) {
		if ((size_t)i == room)
			assert_true(arena_grow(&a, &list, &room, sizeof *list));
		list[i] = i;
	}
	assert_int_equal(room, 1024);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(list[i], i);
	const int *before = list;
	assert_false(arena_grow(&a, &list, &room, SIZE_MAX / 1024));
	assert_int_equal(room, 1024);
	assert_ptr_equal(list, before);
}

static void a_copy_ends_in_nul(void **unused)
{
	AUTO_ARENA a = { .max = 4096 };
	const struct str s = guarded(STR("a\0b"));

	(void)unused;
	memset(arena_alloc(&a, 1000), 'x', 1000);
	arena_reset(&a);
	const struct str copy = arena_dup(&a, s);
	guarded_free(s);
	assert_int_equal(copy.n, 3);
	assert_memory_equal(copy.p, "a\0b", 4);
	const struct str empty = arena_dup(&a, (struct str){ NULL, 0 });
	assert_non_null(empty.p);
	assert_int_equal(empty.n, 0);
	assert_int_equal(empty.p[0], 0);
}

static void a_reset_keeps_one_moderate_block(void **unused)
{
	AUTO_ARENA a = { .max = 8 << 20 };

	(void)unused;
	for (int i = 0; i < 1000; i++)
		assert_non_null(arena_alloc(&a, 1000));
	arena_reset(&a);
	assert_true(a.total > 0 && a.total <= 64 << 10);
	assert_int_equal(a.used, 0);
	assert_int_equal(a.max, 8 << 20);
	const size_t kept = a.total;
	assert_non_null(arena_alloc(&a, kept));
	assert_int_equal(a.total, kept);
	/* Only a large block: nothing is kept. */
	arena_done(&a);
	assert_non_null(arena_alloc(&a, 1 << 20));
	arena_reset(&a);
	assert_int_equal(a.total, 0);
	arena_reset(&a);
	assert_non_null(arena_alloc(&a, 1));
}

/* What a request may use must not depend on the request before it. */
static void after_a_reset_the_maximum_can_be_had_again(void **unused)
{
	AUTO_ARENA a = { .max = 1 << 20 };

	(void)unused;
	assert_non_null(arena_alloc(&a, 1));
	arena_reset(&a);
	assert_non_null(arena_alloc(&a, 1 << 20));
	assert_int_equal(a.total, 1 << 20);
	assert_null(arena_alloc(&a, 1));
}

static void done_gives_back_and_leaves_it_usable(void **unused)
{
	struct arena a = { .max = 4096 };

	(void)unused;
	assert_non_null(arena_alloc(&a, 10));
	arena_done(&a);
	assert_null(a.block);
	assert_int_equal(a.total, 0);
	assert_int_equal(a.max, 4096);
	arena_done(&a);
	assert_non_null(arena_alloc(&a, 10));
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
		cmocka_unit_test(the_maximum_is_exact),
		cmocka_unit_test(small_pieces_never_pass_the_maximum),
		cmocka_unit_test(failure_sticks_until_a_reset),
		cmocka_unit_test(without_a_maximum_there_is_nothing),
		cmocka_unit_test(sizes_that_overflow_fail),
		cmocka_unit_test(arrays_are_zeroed_also_in_used_memory),
		cmocka_unit_test(an_array_grows_with_what_is_in_it),
		cmocka_unit_test(a_copy_ends_in_nul),
		cmocka_unit_test(a_reset_keeps_one_moderate_block),
		cmocka_unit_test(after_a_reset_the_maximum_can_be_had_again),
		cmocka_unit_test(done_gives_back_and_leaves_it_usable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
