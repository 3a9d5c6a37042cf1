/* SPDX-License-Identifier: MIT */
/* Both ends of a text: what is shown and what is left out add up, whatever the pieces were. */

#include "unit.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utf8.h"
#include "tools/ends.h"

enum { MOST = 4000 };

struct trial {
	struct str whole;
	size_t step;
	struct ends_limit limit;
};

static struct ends_shown put_through(const struct trial *t, struct arena *a)
{
	const size_t head = (size_t)t->limit.bytes * t->limit.head / 100;
	struct ends_shown shown;
	struct ends o;
	struct err e;

	assert_int_equal(ends_init(&o, head, (size_t)t->limit.bytes - head, a, &e), 0);
	for (struct str rest = t->whole; rest.n; rest = str_from(rest, t->step))
		ends_add(&o, str_upto(rest, t->step));
	assert_int_equal(ends_show(&o, &t->limit, a, &shown, &e), 0);
	return shown;
}

static int64_t newlines(struct str s)
{
	return (int64_t)bytes_count(s, '\n');
}

/* Head and tail are what they claim to be, and not more than allowed. */
static void check(const struct trial *t, const struct ends_shown *s)
{
	const struct str whole = t->whole;
	const int64_t bytes = (int64_t)(s->head.n + s->tail.n);

	if ((int64_t)whole.n <= t->limit.bytes && newlines(whole) <= t->limit.lines) {
		assert_int_equal(s->bytes, 0);
		assert_true(str_eq(s->head, whole));
		assert_int_equal(s->tail.n, 0);
		return;
	}
	assert_true(s->bytes > 0);
	assert_int_equal(bytes + s->bytes, whole.n);
	assert_true(bytes <= t->limit.bytes);
	assert_true(newlines(s->head) + newlines(s->tail) <= t->limit.lines);
	assert_int_equal(s->lines, newlines(whole) - newlines(s->head) - newlines(s->tail));
	assert_int_equal(s->next_line, newlines(s->head) + 1);
	assert_true(str_starts(whole, s->head));
	assert_true(str_eq(str_from(whole, whole.n - s->tail.n), s->tail));
	assert_int_equal(utf8_whole(s->head), s->head.n);
	assert_int_equal(utf8_cut_rest(s->tail), 0);
}

/* Whether the cuts are at lines where they could have been. */
static void check_lines(const struct trial *t, const struct ends_shown *s)
{
	const char *tail = t->whole.p + t->whole.n - s->tail.n;

	if (!t->limit.at_lines || s->bytes == 0)
		return;
	if (newlines(s->head))
		assert_int_equal(s->head.p[s->head.n - 1], '\n');
	if (newlines(str_upto(s->tail, s->tail.n ? s->tail.n - 1 : 0)))
		assert_int_equal(tail[-1], '\n');
}

static void texts_of_all_shapes(void **state)
{
	static const char *const parts[] = { "a",
					     "word ",
					     "\n",
					     "\xc3\xa9",
					     "\xe2\x82\xac",
					     "\n\n",
					     "\xf0\x9f\x98\x80",
					     "line of text\n" };
	char *text = mem_new(1, MOST);

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		AUTO_ARENA a = { .max = 1 << 20 };
		const size_t want = (size_t)rand() % (MOST - 20), kinds = 1 + (size_t)rand() % 8;
		struct trial t = {
			.step = 1 + (size_t)rand() % (rand() % 2 ? 7 : MOST),
			.limit = { .bytes = 1 + rand() % 900,
				   .lines = rand() % 3 ? 1 + rand() % 60 : INT64_MAX,
				   .head = rand() % 2 ? 40 : 25,
				   .at_lines = rand() % 2 },
		};
		size_t n = 0;
		while (n < want) {
			const char *part = parts[(size_t)rand() % kinds];
			memcpy(text + n, part, strlen(part));
			n += strlen(part);
		}
		t.whole = (struct str){ text, n };
		const struct ends_shown shown = put_through(&t, &a);
		check(&t, &shown);
		check_lines(&t, &shown);
	}
	mem_free(text);
}

static void a_smaller_limit_shows_less(void **state)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	const struct ends_limit less = { .bytes = 10, .lines = INT64_MAX, .head = 40 };
	struct ends_shown shown;
	struct ends o;
	struct err e;

	(void)state;
	assert_int_equal(ends_init(&o, 40, 60, &a, &e), 0);
	ends_add(&o, STR("0123456789abcdefghij"));
	assert_int_equal(ends_show(&o, &less, &a, &shown, &e), 0);
	assert_str(shown.head, "0123");
	assert_str(shown.tail, "efghij");
	assert_int_equal(shown.bytes, 10);
}

static void without_memory_it_is_an_error(void **state)
{
	struct arena a = { .max = 100 };
	struct ends o;
	struct err e;

	(void)state;
	assert_int_equal(ends_init(&o, 1000, 1000, &a, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_of_all_shapes),
		cmocka_unit_test(a_smaller_limit_shows_less),
		cmocka_unit_test(without_memory_it_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
