/* SPDX-License-Identifier: MIT */
/* Cursors: what is written is read back; nothing else is. */

#include "unit.h"

#include "base/json.h"
#include "base/own.h"
#include "tools/scope.h"

static void test_there_and_back(void **state)
{
	static const struct {
		const char *path;
		int64_t line;
		const char *text;
	} rows[] = {
		{ "a", 1, "1:a" },
		{ "src/a.c", 120, "120:src/a.c" },
		{ "dir/", INT64_MAX, "0:dir/" },
		{ "a b%:\n\"\\", 2, "2:a%20b%25:%0A\"\\" },
		{ "[id]/a", 5, "5:[id%5D/a" },
		{ "\xff\xc3\xa9", 3, "3:%FF%C3%A9" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA a = { .max = 1 << 16 };
		const struct cursor cursor = { str_of(rows[i].path), rows[i].line };
		struct cursor back;
		struct err e;

		assert_str(cursor_text(&cursor, &a), rows[i].text);
		const struct str text = guarded(str_of(rows[i].text));
		assert_int_equal(cursor_read(text, &a, &back, &e), 0);
		guarded_free(text);
		assert_true(str_eq(back.path, str_of(rows[i].path)));
		assert_true(back.line == rows[i].line);
	}
}

static void test_what_is_not_a_cursor(void **state)
{
	static const char *const rows[] = { "x",   ":",	   "1:",    "1",     ":a",  "-1:a",
					    "1:%", "1:%4", "1:%4g", "1:%00", " 1:a" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA a = { .max = 1 << 16 };
		const struct str text = guarded(str_of(rows[i]));
		struct cursor c;
		struct err e;
		assert_int_equal(cursor_read(text, &a, &c, &e), -1);
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
		guarded_free(text);
	}
}

static void test_empty_is_the_start(void **state)
{
	AUTO_ARENA a = { .max = 1 << 16 };
	struct cursor c;
	struct err e;

	(void)state;
	assert_int_equal(cursor_read(STR(""), &a, &c, &e), 0);
	assert_int_equal(c.path.n, 0);
	assert_true(c.line == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_what_is_not_a_cursor),
		cmocka_unit_test(test_empty_is_the_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
