/* SPDX-License-Identifier: MIT */
/* test_ring: the end of a text of any length. */
#include "unit.h"

#include "exec/ring.h"

static struct str at(int64_t position)
{
	static char text[256];

	/* The text that is added in all tests: its bytes tell their positions. */
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)((position + (int64_t)i) % 251);
	return (struct str){ text, sizeof text };
}

static void add(struct ring *r, size_t n)
{
	while (n) {
		const struct str part = str_upto(at(r->total), n);
		ring_add(r, part);
		n -= part.n;
	}
}

static void check(const struct ring *r, int64_t start)
{
	AUTO_BUF out = { .max = 1 << 20 };

	assert_int_equal(ring_start(r), start);
	for (int64_t from = start; from < r->total; from += 256) {
		const int64_t to = from + 256 < r->total ? from + 256 : r->total;
		buf_reset(&out, out.max);
		ring_copy(r, from, to, &out);
		assert_int_equal(out.n, to - from);
		assert_memory_equal(out.p, at(from).p, out.n);
	}
}

static void test_it_grows_and_then_forgets(void **unused)
{
	(void)unused;
	struct ring r = { .size = 3000 };

	check(&r, 0);
	for (size_t n = 1; r.total < 20000; n = n * 3 % 1009) {
		add(&r, n);
		check(&r, r.total > 3000 ? r.total - 3000 : 0);
		assert_true(r.room <= 3000);
	}
	ring_done(&r);
}

static void test_a_short_text_costs_its_bytes(void **unused)
{
	(void)unused;
	struct ring r = { .size = 1 << 20 };

	ring_fit(&r);
	assert_int_equal(r.room, 0);
	add(&r, 3);
	assert_true(r.room < 1024);
	ring_fit(&r);
	assert_int_equal(r.room, 3);
	check(&r, 0);
	add(&r, 1000);
	check(&r, 0);
	ring_done(&r);
}

static void test_a_piece_longer_than_the_ring(void **unused)
{
	(void)unused;
	struct ring r = { .size = 100 };

	add(&r, 10);
	ring_add(&r, str_upto(at(10), 250));
	assert_int_equal(r.total, 260);
	check(&r, 160);
	ring_fit(&r);
	check(&r, 160);
	ring_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_grows_and_then_forgets),
		cmocka_unit_test(test_a_short_text_costs_its_bytes),
		cmocka_unit_test(test_a_piece_longer_than_the_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
