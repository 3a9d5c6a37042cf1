/* SPDX-License-Identifier: MIT */
/* Whole lines, however the bytes come. */

#include "unit.h"

#include "base/lines.h"

enum { LONGEST = 8 };

static const struct {
	const char *in, *want; /* lines in order, '|' after each; '!' for one that was too long */
} cases[] = {
	{ "", "" },
	{ "a\n", "a|" },
	{ "a\nb\n", "a|b|" },
	{ "\n\n", "||" },
	{ "12345678\n", "12345678|" },
	{ "123456789\n", "!" },
	{ "a\n1234567890123456789\nb\n", "a|!b|" },
	{ "123456789012\n123456789012\nx\n", "!!x|" },
	{ "unfinish", "" },
	{ "a\r\n", "a\r|" },
};

static void feed(struct lines *l, struct str bytes, struct buf *got)
{
	struct str line;
	enum lines_got what;
	size_t room;
	char *to = lines_room(l, &room);

	assert_non_null(to);
	assert_true(room >= bytes.n);
	memcpy(to, bytes.p, bytes.n);
	lines_filled(l, bytes.n);
	while ((what = lines_next(l, &line)) != LINES_MORE) {
		if (what == LINES_LINE)
			buf_addf(got, "%.*s|", STR_FMT(line));
		else
			buf_addc(got, '!');
	}
}

static void lines_are_the_same_in_pieces_of_any_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct str in = str_of(cases[i].in);
		for (size_t size = 1; size <= in.n + 1; size++) {
			CLEANUP(lines_done) struct lines l = { .max = LONGEST };
			AUTO_BUF got = { .max = 1024 };
			for (size_t at = 0; at < in.n; at += size)
				feed(&l, str_upto(str_from(in, at), size), &got);
			assert_str(buf_str(&got), cases[i].want);
		}
	}
}

static void what_is_left_is_there_unless_it_is_too_long(void **state)
{
	CLEANUP(lines_done) struct lines l = { .max = LONGEST };
	AUTO_BUF got = { .max = 1024 };

	(void)state;
	feed(&l, STR("a\nrest"), &got);
	assert_str(lines_rest(&l), "rest");
	feed(&l, STR(" of a long line"), &got);
	assert_str(lines_rest(&l), "");
	assert_str(buf_str(&got), "a|!");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_the_same_in_pieces_of_any_size),
		cmocka_unit_test(what_is_left_is_there_unless_it_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
