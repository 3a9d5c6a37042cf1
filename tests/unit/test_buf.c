/* SPDX-License-Identifier: MIT */
/* buf: adds are whole or not at all, the maximum is exact, failure sticks. */

#include "unit.h"

#include "base/buf.h"

static void bytes_are_appended(void **unused)
{
	AUTO_BUF b = { .max = 100 };
	const struct str s = guarded(STR("b\0"));

	(void)unused;
	buf_add(&b, STR("a"));
	buf_add(&b, s);
	buf_add(&b, (struct str){ NULL, 0 });
	buf_addc(&b, '\xff');
	buf_addf(&b, "%d%s", 42, "");
	guarded_free(s);
	assert_false(b.failed);
	assert_true(str_eq(buf_str(&b), STR("ab\0\xff"
					    "42")));
}

/* Each way to add `n` bytes. */
static void add_str(struct buf *b, size_t n)
{
	static const char many[5000];

	buf_add(b, (struct str){ many, n });
}

static void add_chars(struct buf *b, size_t n)
{
	while (n--)
		buf_addc(b, 'x');
}

static void add_formatted(struct buf *b, size_t n)
{
	buf_addf(b, "%*s", (int)n, "");
}

static void add_room(struct buf *b, size_t n)
{
	char *to = buf_room(b, n);

	if (!to)
		return;
	assert_true(b->cap - b->n >= n);
	memset(to, 'x', n);
	buf_filled(b, n);
}

static void (*const ways[])(struct buf *, size_t) = { add_str, add_chars, add_formatted, add_room };

static void the_maximum_is_exact_in_every_way(void **unused)
{
	static const size_t maxima[] = { 1, 2, 255, 256, 257, 300, 511, 512, 513, 1000, 4096 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(maxima); i++) {
		for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
			AUTO_BUF b = { .max = maxima[i] };
			ways[k](&b, maxima[i]);
			assert_false(b.failed);
			assert_int_equal(b.n, maxima[i]);
			assert_true(b.cap <= b.max);
			ways[k](&b, 1);
			assert_true(b.failed);
			assert_int_equal(b.n, maxima[i]);
		}
	}
}

static void an_add_beyond_the_maximum_adds_nothing(void **unused)
{
	(void)unused;
	for (size_t k = 0; k < ARRAY_LEN(ways); k++) {
		if (ways[k] == add_chars)
			continue;
		AUTO_BUF b = { .max = 400 };
		buf_add(&b, STR("abc"));
		ways[k](&b, 398);
		assert_true(b.failed);
		assert_str(buf_str(&b), "abc");
	}
}

static void failure_sticks_until_a_reset(void **unused)
{
	AUTO_BUF b = { .max = 4 };

	(void)unused;
	buf_add(&b, STR("abc"));
	buf_add(&b, STR("de"));
	assert_true(b.failed);
	buf_addc(&b, 'x');
	buf_addf(&b, "y");
	buf_add(&b, (struct str){ NULL, 0 });
	assert_null(buf_room(&b, 1));
	assert_null(buf_room(&b, 0));
	assert_str(buf_str(&b), "abc");
	buf_drop(&b, 2);
	assert_str(buf_str(&b), "c");
	assert_true(b.failed);
	buf_reset(&b, 4);
	assert_false(b.failed);
	buf_add(&b, STR("abcd"));
	assert_str(buf_str(&b), "abcd");
}

static void without_a_maximum_nothing_fits(void **unused)
{
	AUTO_BUF b = { 0 }, empty = { 0 };

	(void)unused;
	buf_addc(&b, 'x');
	assert_true(b.failed);
	buf_add(&empty, STR(""));
	assert_false(empty.failed);
	assert_int_equal(buf_str(&empty).n, 0);
}

static void it_is_fitted_exactly(void **unused)
{
	AUTO_BUF b = { .max = 1000 };

	(void)unused;
	assert_true(buf_fit(&b, 5));
	assert_int_equal(b.cap, 5);
	buf_add(&b, STR("abcdef"));
	assert_true(b.cap > 6);
	assert_true(buf_fit(&b, 1));
	assert_int_equal(b.cap, 7);
	assert_str(buf_str(&b), "abcdef");
	assert_true(buf_fit(&b, 994));
	assert_false(buf_fit(&b, 995));
	assert_false(buf_fit(&b, SIZE_MAX));
	assert_int_equal(b.cap, 1000);
	assert_false(b.failed);
	buf_reset(&b, SIZE_MAX);
	assert_true(buf_fit(&b, 0));
	buf_add(&b, STR("x"));
	assert_str(buf_str(&b), "x");
}

static void sizes_that_overflow_fail(void **unused)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 2, SIZE_MAX - 3, SIZE_MAX / 2 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		AUTO_BUF small = { .max = 1000 }, large = { .max = SIZE_MAX };
		buf_add(&small, STR("abc"));
		buf_add(&large, STR("abc"));
		assert_null(buf_room(&small, sizes[i]));
		assert_true(small.failed);
		assert_null(buf_room(&large, sizes[i]));
		assert_true(large.failed);
		assert_str(buf_str(&large), "abc");
	}
}

static void formatting_meets_its_own_buffer_exactly(void **unused)
{
	(void)unused;
	for (int n = 250; n < 260; n++) {
		AUTO_BUF b = { .max = 1000 };
		buf_addf(&b, "<%*d>", n, 7);
		assert_int_equal(b.n, n + 2);
		assert_int_equal(b.p[0], '<');
		assert_int_equal(b.p[n], '7');
		assert_int_equal(b.p[n + 1], '>');
	}
}

static void growth_keeps_what_is_there(void **unused)
{
	AUTO_BUF b = { .max = 100000 };

	(void)unused;
	for (int i = 0; i < 100000; i++)
		buf_addc(&b, (char)(i % 251));
	assert_false(b.failed);
	for (int i = 0; i < 100000; i++)
		assert_int_equal((unsigned char)b.p[i], i % 251);
}

static void the_front_is_dropped(void **unused)
{
	static const struct {
		size_t n;
		const char *left;
	} cases[] = { { 0, "abcdef" }, { 1, "bcdef" }, { 5, "f" },
		      { 6, "" },       { 7, "" },      { SIZE_MAX, "" } };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF b = { .max = 10 };
		buf_add(&b, STR("abcdef"));
		buf_drop(&b, cases[i].n);
		assert_str(buf_str(&b), cases[i].left);
		buf_addc(&b, '!');
		assert_int_equal(b.p[b.n - 1], '!');
	}
	struct buf zero = { .max = 10 };
	buf_drop(&zero, 3);
	assert_int_equal(zero.n, 0);
}

static void a_reset_keeps_only_moderate_memory(void **unused)
{
	AUTO_BUF b = { .max = 10000 };

	(void)unused;
	buf_addf(&b, "%5000s", "");
	const size_t cap = b.cap;
	buf_reset(&b, cap);
	assert_int_equal(b.cap, cap);
	assert_non_null(b.p);
	buf_reset(&b, cap - 1);
	assert_int_equal(b.cap, 0);
	assert_null(b.p);
	buf_add(&b, STR("again"));
	assert_str(buf_str(&b), "again");
}

static void done_leaves_it_usable(void **unused)
{
	struct buf b = { .max = 10 };

	(void)unused;
	buf_done(&b);
	buf_add(&b, STR("12345678901"));
	assert_true(b.failed);
	buf_done(&b);
	assert_false(b.failed);
	assert_null(b.p);
	assert_int_equal(b.max, 10);
	buf_add(&b, STR("1234567890"));
	assert_false(b.failed);
	buf_done(&b);
}

static void memory_of_the_caller_is_filled_to_its_end(void **unused)
{
	char bytes[8];
	struct buf b = buf_over(bytes, sizeof bytes);

	(void)unused;
	buf_add(&b, STR("12345678"));
	assert_false(b.failed);
	assert_ptr_equal(b.p, bytes);
	buf_addf(&b, "%300s", "");
	assert_true(b.failed);
	assert_ptr_equal(b.p, bytes);
}

static void memory_of_the_caller_is_never_freed(void **unused)
{
	char bytes[8];
	AUTO_BUF b = buf_over(bytes, sizeof bytes);

	(void)unused;
	for (int round = 0; round < 3; round++) {
		buf_add(&b, STR("12345"));
		assert_false(buf_fit(&b, 4));
		assert_true(buf_fit(&b, 2));
		buf_add(&b, STR("678"));
		assert_true(str_eq(buf_str(&b), STR("12345678")));
		assert_ptr_equal(b.p, bytes);
		buf_addc(&b, '9');
		assert_true(b.failed);
		if (round)
			buf_done(&b);
		else
			buf_reset(&b, 0);
		assert_int_equal(b.n, 0);
	}
}

static void numbers_are_written_in_decimal(void **unused)
{
	static const int64_t numbers[] = { 0,	     1,		9,	   10,
					   99,	     100,	-1,	   -10,
					   12345678, INT32_MIN, INT32_MAX, INT64_MAX,
					   1000,     -1000,	INT64_MIN, INT64_MIN + 1 };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		AUTO_BUF b = { .max = 20 };
		char want[32];
		(void)snprintf(want, sizeof want, "%lld", (long long)numbers[i]);
		buf_addi(&b, numbers[i]);
		assert_true(str_eq(buf_str(&b), str_of(want)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_appended),
		cmocka_unit_test(the_maximum_is_exact_in_every_way),
		cmocka_unit_test(an_add_beyond_the_maximum_adds_nothing),
		cmocka_unit_test(failure_sticks_until_a_reset),
		cmocka_unit_test(without_a_maximum_nothing_fits),
		cmocka_unit_test(it_is_fitted_exactly),
		cmocka_unit_test(sizes_that_overflow_fail),
		cmocka_unit_test(formatting_meets_its_own_buffer_exactly),
		cmocka_unit_test(growth_keeps_what_is_there),
		cmocka_unit_test(the_front_is_dropped),
		cmocka_unit_test(a_reset_keeps_only_moderate_memory),
		cmocka_unit_test(done_leaves_it_usable),
		cmocka_unit_test(memory_of_the_caller_is_filled_to_its_end),
		cmocka_unit_test(memory_of_the_caller_is_never_freed),
		cmocka_unit_test(numbers_are_written_in_decimal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
