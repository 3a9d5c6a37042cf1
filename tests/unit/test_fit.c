/* SPDX-License-Identifier: MIT */
/* What an answer holds of texts: both ends of each, and together no more than there is room for. */

#include "unit.h"

#include <string.h>

#include "base/own.h"
#include "results/fit.h"

enum { TEXT = 8000, SHORT = 100 };

static char escaped[TEXT], plain[TEXT];

static int64_t cost_of(const struct fit *f, const struct ends_shown *s)
{
	return fit_cost(f, s->head) + fit_cost(f, s->tail);
}

static struct fit_text of(const struct ends *all, int64_t bytes)
{
	return (struct fit_text){ .all = all, .limit = { bytes, INT64_MAX, .head = 40 } };
}

static int fill(void **state)
{
	(void)state;
	memset(escaped, 1, sizeof escaped); /* \u0001 */
	memset(plain, 'x', sizeof plain);
	return 0;
}

/* Whatever the room is, one text fills most of it and never more. */
static void one_text(void **state)
{
	const struct ends texts[] = { fit_whole((struct str){ escaped, TEXT }),
				      fit_whole((struct str){ plain, TEXT }) };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (int64_t room = 0; room < 7 * TEXT; room += 97) {
			AUTO_ARENA a = { .max = 1 << 20 };
			const struct fit f = { room, INT64_MAX, true };
			struct fit_text t = of(&texts[i], room);
			struct err e;
			assert_int_equal(fit_ends(&f, &t, 1, &a, &e), 0);
			const int64_t cost = cost_of(&f, &t.shown);
			assert_true(cost <= room);
			assert_true(cost + 16 > room || t.shown.bytes == 0);
			assert_int_equal(t.shown.head.n + t.shown.tail.n + (size_t)t.shown.bytes,
					 TEXT);
		}
}

/* Of two texts the shorter one is shown whole while the other gives way. */
static void two_texts(void **state)
{
	const struct ends large = fit_whole((struct str){ escaped, TEXT });
	const struct ends small = fit_whole((struct str){ plain, SHORT });
	const struct fit f = { 2000, INT64_MAX, true };
	AUTO_ARENA a = { .max = 1 << 20 };
	struct fit_text t[] = { of(&small, 2000), of(&large, 2000) };
	struct err e;

	(void)state;
	assert_int_equal(fit_ends(&f, t, ARRAY_LEN(t), &a, &e), 0);
	assert_int_equal(t[0].shown.bytes, 0);
	assert_int_equal(t[0].shown.head.n, SHORT);
	assert_true(t[1].shown.bytes > 0);
	assert_true(cost_of(&f, &t[0].shown) + cost_of(&f, &t[1].shown) <= f.bytes);
}

/* In a text bytes are what they are, and without a limit everything is shown. */
static void not_counted(void **state)
{
	const struct ends all = fit_whole((struct str){ escaped, TEXT });
	const struct fit text = { TEXT, INT64_MAX, false },
			 unlimited = { INT64_MAX, INT64_MAX, true };
	AUTO_ARENA a = { .max = 1 << 20 };
	struct fit_text t = of(&all, TEXT);
	struct err e;

	(void)state;
	assert_int_equal(fit_ends(&text, &t, 1, &a, &e), 0);
	assert_int_equal(t.shown.head.n, TEXT);
	t = of(&all, INT64_MAX);
	assert_int_equal(fit_ends(&unlimited, &t, 1, &a, &e), 0);
	assert_int_equal(t.shown.head.n, TEXT);
}

static void nothing(void **state)
{
	const struct ends empty = fit_whole((struct str){ NULL, 0 });
	const struct fit f = { 0, INT64_MAX, true };
	AUTO_ARENA a = { .max = 1 << 20 };
	struct fit_text t[] = { of(&empty, 0), of(NULL, 0) };
	struct err e;

	(void)state;
	assert_int_equal(fit_ends(&f, t, ARRAY_LEN(t), &a, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		assert_int_equal(t[i].shown.head.n + t[i].shown.tail.n + (size_t)t[i].shown.bytes,
				 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_text),
		cmocka_unit_test(two_texts),
		cmocka_unit_test(not_counted),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
