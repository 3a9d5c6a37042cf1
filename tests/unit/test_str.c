/* SPDX-License-Identifier: MIT */
/* str: slices compare, cut and read as their header says, NUL bytes and empty ones included. */

#include "unit.h"

#include "base/own.h"

#define T(literal)                                                                                 \
	{                                                                                          \
		"" literal, sizeof(literal) - 1                                                    \
	}

static const struct str nothing;

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static const struct {
	struct str a, b;
	bool eq, nocase;
	int order;
} compared[] = {
	{ T(""), T(""), true, true, 0 },
	{ T("a"), T("a"), true, true, 0 },
	{ T("a"), T("b"), false, false, -1 },
	{ T("a"), T(""), false, false, 1 },
	{ T("a"), T("A"), false, true, 1 },
	{ T("Zz"), T("zZ"), false, true, -1 },
	{ T("ab"), T("abc"), false, false, -1 },
	{ T("ab\0c"), T("ab\0d"), false, false, -1 },
	{ T("ab\0c"), T("ab\0c"), true, true, 0 },
	{ T("ab\0"), T("ab"), false, false, 1 },
	{ T("\x7f"), T("\x80"), false, false, -1 }, /* bytes are unsigned */
	{ T("@"), T("`"), false, false, -1 },
	{ T("["), T("{"), false, false, -1 },		    /* next to the letters, not letters */
	{ T("\xc3\x84"), T("\xc3\xa4"), false, false, -1 }, /* no case beyond ASCII */
};

static void slices_compare_by_bytes(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(compared); i++) {
		const struct str a = guarded(compared[i].a), b = guarded(compared[i].b);
		assert_int_equal(str_eq(a, b), compared[i].eq);
		assert_int_equal(str_eq(b, a), compared[i].eq);
		assert_int_equal(str_eq_nocase(a, b), compared[i].nocase);
		assert_int_equal(str_eq_nocase(b, a), compared[i].nocase);
		assert_int_equal(str_eq_secret(a, b), compared[i].eq);
		assert_int_equal(str_eq_secret(b, a), compared[i].eq);
		assert_int_equal(sign(str_cmp(a, b)), compared[i].order);
		assert_int_equal(sign(str_cmp(b, a)), -compared[i].order);
		guarded_free(a);
		guarded_free(b);
	}
}

static void a_secret_differs_wherever_it_differs(void **unused)
{
	const struct str secret = STR("0123456789abcdef");

	(void)unused;
	for (size_t i = 0; i < secret.n; i++) {
		char wrong[16];
		memcpy(wrong, secret.p, secret.n);
		wrong[i] ^= 1;
		assert_false(str_eq_secret((struct str){ wrong, sizeof wrong }, secret));
		assert_false(str_eq_secret(str_upto(secret, i), secret));
		assert_false(str_eq_secret(secret, str_upto(secret, i)));
	}
	/* The secret twice over is not the secret. */
	assert_false(str_eq_secret(STR("abab"), STR("ab")));
	assert_false(str_eq_secret(nothing, secret));
	assert_true(str_eq_secret(secret, secret));
}

static const struct {
	struct str s, part;
	bool starts, ends;
	ptrdiff_t found;
} parts[] = {
	{ T(""), T(""), true, true, 0 },	   { T("abc"), T(""), true, true, 0 },
	{ T("abc"), T("abc"), true, true, 0 },	   { T("abc"), T("ab"), true, false, 0 },
	{ T("abc"), T("bc"), false, true, 1 },	   { T("abc"), T("b"), false, false, 1 },
	{ T("abc"), T("abcd"), false, false, -1 }, { T("abc"), T("x"), false, false, -1 },
	{ T(""), T("x"), false, false, -1 },	   { T("aaab"), T("aab"), false, true, 1 },
	{ T("a\0b"), T("\0b"), false, true, 1 },   { T("a\0b"), T("a\0"), true, false, 0 },
};

static void parts_are_found(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct str s = guarded(parts[i].s);
		assert_int_equal(str_starts(s, parts[i].part), parts[i].starts);
		assert_int_equal(str_ends(s, parts[i].part), parts[i].ends);
		assert_int_equal(str_find(s, parts[i].part), parts[i].found);
		guarded_free(s);
	}
	assert_int_equal(str_find(nothing, nothing), 0);
	assert_int_equal(str_find(nothing, STR("x")), -1);
}

static void a_byte_is_found(void **unused)
{
	(void)unused;
	assert_int_equal(str_index(STR("abcb"), 'b'), 1);
	assert_int_equal(str_index(STR("abc"), 'x'), -1);
	assert_int_equal(str_index(STR("a\0c"), '\0'), 1);
	assert_int_equal(str_index(STR("a\xff"), '\xff'), 1);
	assert_int_equal(str_index(STR("abc"), '\0'), -1); /* not the literal's own NUL */
	assert_int_equal(str_index(nothing, 'x'), -1);
}

static void slices_are_clipped(void **unused)
{
	const struct str s = STR("abc");

	(void)unused;
	assert_str(str_from(s, 0), "abc");
	assert_str(str_from(s, 2), "c");
	assert_str(str_from(s, 3), "");
	assert_str(str_from(s, 4), "");
	assert_str(str_from(s, SIZE_MAX), "");
	assert_ptr_equal(str_from(s, SIZE_MAX).p, s.p + 3);
	assert_str(str_upto(s, 0), "");
	assert_str(str_upto(s, 2), "ab");
	assert_str(str_upto(s, 3), "abc");
	assert_str(str_upto(s, SIZE_MAX), "abc");
	assert_null(str_from(nothing, 5).p);
	assert_int_equal(str_from(nothing, 5).n, 0);
	assert_int_equal(str_upto(nothing, 5).n, 0);
}

static const struct {
	struct str s;
	const char *want;
} trimmed[] = {
	{ T(""), "" },
	{ T(" "), "" },
	{ T(" \t\n\v\f\r"), "" },
	{ T("a"), "a" },
	{ T("\r\n a b \t"), "a b" },
	{ T("a "), "a" },
	{ T(" a"), "a" },
	{ T("\bx\x0e"), "\bx\x0e" },
	{ T("\xc2\xa0"), "\xc2\xa0" }, /* only ASCII white space */
};

static void white_space_goes_from_both_ends(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(trimmed); i++) {
		const struct str s = guarded(trimmed[i].s);
		assert_str(str_trim(s), trimmed[i].want);
		guarded_free(s);
	}
	assert_int_equal(str_trim(nothing).n, 0);
	assert_int_equal(str_trim(STR(" \0 ")).n, 1);
}

static const struct {
	struct str s;
	bool there;
	const char *head, *tail;
} cuts[] = {
	{ T(""), false, "", "" },	  { T("a"), false, "a", "" }, { T("="), true, "", "" },
	{ T("a="), true, "a", "" },	  { T("=b"), true, "", "b" }, { T("a=b"), true, "a", "b" },
	{ T("a=b=c"), true, "a", "b=c" },
};

static void a_cut_is_at_the_first(void **unused)
{
	struct str head, tail;

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		const struct str s = guarded(cuts[i].s);
		assert_int_equal(str_cut(s, '=', &head, &tail), cuts[i].there);
		assert_str(head, cuts[i].head);
		assert_str(tail, cuts[i].tail);
		guarded_free(s);
	}
	/* Head and tail may be the same variable as the input. */
	head = STR("x:y");
	assert_true(str_cut(head, ':', &head, &tail));
	assert_str(head, "x");
	assert_str(tail, "y");
}

static const struct {
	struct str s;
	bool ok;
	int64_t want;
} integers[] = {
	{ T("0"), true, 0 },
	{ T("-0"), true, 0 },
	{ T("7"), true, 7 },
	{ T("007"), true, 7 },
	{ T("-42"), true, -42 },
	{ T("9223372036854775807"), true, INT64_MAX },
	{ T("9223372036854775808"), false, 0 },
	{ T("-9223372036854775808"), true, INT64_MIN },
	{ T("-9223372036854775809"), false, 0 },
	{ T("9223372036854775810"), false, 0 },
	{ T("18446744073709551616"), false, 0 },
	{ T("99999999999999999999999999"), false, 0 },
	{ T("00000000000000000000000000000001"), true, 1 },
	{ T(""), false, 0 },
	{ T("-"), false, 0 },
	{ T("--1"), false, 0 },
	{ T("+1"), false, 0 },
	{ T(" 1"), false, 0 },
	{ T("1 "), false, 0 },
	{ T("1\0"), false, 0 },
	{ T("1.0"), false, 0 },
	{ T("0x10"), false, 0 },
	{ T("1e3"), false, 0 },
	{ T("\xd9\xa1"), false, 0 },
	{ T("/"), false, 0 },
	{ T(":"), false, 0 },
};

static void integers_are_read_whole_or_not_at_all(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(integers); i++) {
		const struct str s = guarded(integers[i].s);
		int64_t got = 12345;
		assert_int_equal(str_int(s, &got), integers[i].ok);
		assert_true(got == (integers[i].ok ? integers[i].want : 12345));
		guarded_free(s);
	}
}

static const struct {
	struct str s;
	bool want;
} truths[] = {
	{ T("1"), true },      { T("true"), true },   { T("TRUE"), true }, { T("Yes"), true },
	{ T(" yes\n"), true }, { T(""), false },      { T("0"), false },   { T("no"), false },
	{ T("on"), false },    { T("11"), false },    { T("y"), false },   { T("true\0"), false },
	{ T("tru"), false },   { T("truex"), false },
};

static void only_three_words_are_true(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(truths); i++)
		assert_int_equal(str_truthy(truths[i].s), truths[i].want);
	assert_false(str_truthy(nothing));
}

static void a_list_has_whole_names(void **state)
{
	const char *list = "curl wget -h";

	(void)state;
	assert_true(str_is_listed(list, STR("curl")));
	assert_true(str_is_listed(list, STR("wget")));
	assert_true(str_is_listed(list, STR("-h")));
	assert_false(str_is_listed(list, STR("cur")));
	assert_false(str_is_listed(list, STR("wgets")));
	assert_false(str_is_listed(list, STR("curl wget")));
	assert_false(str_is_listed(list, nothing));
	assert_false(str_is_listed(NULL, STR("curl")));
}

static void c_strings_and_literals_become_slices(void **unused)
{
	char text[8];
	const struct str absurd = { "abc", SIZE_MAX };

	(void)unused;
	assert_int_equal(str_of(NULL).n, 0);
	assert_int_equal(str_of("ab").n, 2);
	assert_int_equal(STR("a\0b").n, 3);
	assert_int_equal(snprintf(text, sizeof text, "%.*s", STR_FMT(str_upto(STR("abc"), 2))), 2);
	assert_string_equal(text, "ab");
	assert_int_equal(snprintf(text, sizeof text, "%.*s", STR_FMT(absurd)), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_compare_by_bytes),
		cmocka_unit_test(a_secret_differs_wherever_it_differs),
		cmocka_unit_test(parts_are_found),
		cmocka_unit_test(a_byte_is_found),
		cmocka_unit_test(slices_are_clipped),
		cmocka_unit_test(white_space_goes_from_both_ends),
		cmocka_unit_test(a_cut_is_at_the_first),
		cmocka_unit_test(integers_are_read_whole_or_not_at_all),
		cmocka_unit_test(only_three_words_are_true),
		cmocka_unit_test(a_list_has_whole_names),
		cmocka_unit_test(c_strings_and_literals_become_slices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
