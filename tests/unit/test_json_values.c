/* SPDX-License-Identifier: MIT */
/* json: the values that were read are the ones that were written. */

#include "unit.h"

#include <math.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/utf8.h"
#include "json_tree.h"

#define T(literal)                                                                                 \
	{                                                                                          \
		"" literal, sizeof(literal) - 1                                                    \
	}

enum { ROOM = 1 << 20 };

static void fail_case(const char *what, struct str text)
{
	AUTO_BUF shown = { .max = ROOM };

	jw_escape(&shown, str_upto(text, 200));
	fail_msg("%s: %.*s", what, STR_FMT(buf_str(&shown)));
}

static const struct {
	struct str text;
	double number;
	bool whole;
	int64_t integer;
} numbers[] = {
	{ T("0"), 0, true, 0 },
	{ T("-0"), 0, true, 0 },
	{ T("-0.0"), 0, true, 0 },
	{ T("1.0"), 1, true, 1 },
	{ T("-1.50e1"), -15, true, -15 },
	{ T("1e3"), 1000, true, 1000 },
	{ T("100E-2"), 1, true, 1 },
	{ T("0.5"), 0.5, false, 0 },
	{ T("1e-1"), 0.1, false, 0 },
	{ T("5e-324"), 5e-324, false, 0 },
	{ T("2e-324"), 0, true, 0 },
	{ T("1e-999"), 0, true, 0 },
	{ T("9223372036854775807"), 9223372036854775807.0, true, INT64_MAX },
	{ T("9223372036854775808"), 9223372036854775808.0, false, 0 },
	{ T("-9223372036854775808"), -9223372036854775808.0, true, INT64_MIN },
	{ T("-9223372036854775809"), -9223372036854775808.0, false, 0 },
	{ T("9007199254740991.0"), 9007199254740991.0, true, 9007199254740991 },
	{ T("9007199254740993"), 9007199254740992.0, true, 9007199254740993 },
	/* From 2^53 on a double no longer tells integers apart: not trusted. */
	{ T("9007199254740992.0"), 9007199254740992.0, false, 0 },
	{ T("9007199254740993.0"), 9007199254740992.0, false, 0 },
	{ T("1e15"), 1e15, true, 1000000000000000 },
	{ T("1e18"), 1e18, false, 0 },
	{ T("1.7976931348623157e308"), 1.7976931348623157e308, false, 0 },
	{ T("1e999"), INFINITY, false, 0 },
	{ T("-1e999"), -INFINITY, false, 0 },
	{ T("0.1"), 0.1, false, 0 },
	{ T("123456789.125"), 123456789.125, false, 0 },
};

static void numbers_have_the_right_value(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		AUTO_ARENA a = { .max = ROOM };
		const struct str s = guarded(numbers[i].text);
		const struct json *v;
		struct err e;
		assert_int_equal(json_parse(s, &a, &v, &e), 0);
		assert_int_equal(v->type, JSON_NUMBER);
		if (v->number != numbers[i].number || v->whole != numbers[i].whole ||
		    (v->whole && v->integer != numbers[i].integer))
			fail_case("wrong number", numbers[i].text);
		guarded_free(s);
	}
}

static const struct {
	struct str text, want;
} strings[] = {
	{ T("\"\""), T("") },
	{ T("\"plain\""), T("plain") },
	{ T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), T("\"\\/\b\f\n\r\t") },
	{ T("\"a\\u0000b\""), T("a\0b") },
	{ T("\"\\u007f\\u0080\\u07ff\\u0800\\uffff\""),
	  T("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf") },
	{ T("\"\\ud800\\udc00\\uDBFF\\uDFFF\""), T("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf") },
	{ T("\"\\uAbCd\\uaBcD\""), T("\xea\xaf\x8d\xea\xaf\x8d") },
	{ T("\"x\\ty\\n\""), T("x\ty\n") },
	{ T("\"\\\\\""), T("\\") },
	{ T("\"\xc3\xa9\\u00e9\""), T("\xc3\xa9\xc3\xa9") },
	/* Longer than a block, with the escape first, in the middle and last. */
	{ T("\"\\n0123456789abcdef0123456789\""), T("\n0123456789abcdef0123456789") },
	{ T("\"0123456789abcdef\\n0123456789abcdef\""), T("0123456789abcdef\n0123456789abcdef") },
	{ T("\"0123456789abcdef0123456789abcdef\\\"\""), T("0123456789abcdef0123456789abcdef\"") },
	{ T("\"0123456789abcd\xe2\x82\xac"
	    "f\""),
	  T("0123456789abcd\xe2\x82\xac"
	    "f") },
};

static void strings_have_the_right_bytes(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
		AUTO_ARENA a = { .max = ROOM };
		const struct str s = guarded(strings[i].text);
		const struct json *v;
		struct err e;
		assert_int_equal(json_parse(s, &a, &v, &e), 0);
		assert_int_equal(v->type, JSON_STRING);
		if (!str_eq(v->string, strings[i].want))
			fail_case("wrong string", strings[i].text);
		guarded_free(s);
	}
}

static void every_escaped_code_unit_is_decoded(void **unused)
{
	(void)unused;
	for (uint32_t c = 0; c < 0x10000; c++) {
		AUTO_ARENA a = { .max = ROOM };
		char text[16], want[4];
		const struct json *v;
		struct err e;
		const int n = snprintf(text, sizeof text, "\"\\u%04X\"", c);
		assert_int_equal(json_parse((struct str){ text, (size_t)n }, &a, &v, &e), 0);
		const struct str wanted = { want, utf8_encode(c, want) };
		assert_true(str_eq(v->string, wanted));
	}
}

/* The room for a string is found by looking for its closing quote: an escaped one is not it. */
static void an_escape_does_not_hide_the_end_of_a_string(void **unused)
{
	static const struct str escapes[] = { T("\\\""),    T("\\\\"),	   T("\\n"),
					      T("\\u0022"), T("\\\\\\\""), T("\\\"\\\"") };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
		for (size_t n = 0; n < 5000; n = n * 2 + 1) {
			AUTO_BUF text = { .max = ROOM }, again = { .max = ROOM };
			AUTO_ARENA a = { .max = ROOM };
			const struct json *v;
			struct err e;
			struct jw w = jw_to(&again);
			buf_add(&text, STR("[\""));
			buf_add(&text, escapes[i]);
			for (size_t k = 0; k < n; k++)
				buf_addc(&text, 'x');
			buf_add(&text, STR("\",\"\\n0123456789012345678901234567890\"]"));
			assert_int_equal(json_parse(buf_str(&text), &a, &v, &e), 0);
			json_tree_write(&w, NULL, v);
			if (escapes[i].p[1] == 'u')
				continue; /* written in the short form */
			assert_true(str_eq(buf_str(&text), buf_str(&again)));
		}
	}
}

static void plain_strings_point_into_the_text(void **unused)
{
	AUTO_ARENA a = { .max = ROOM };
	const struct str text = STR("{\"key\":\"value\"}");
	const struct json *v;
	struct err e;

	(void)unused;
	assert_int_equal(json_parse(text, &a, &v, &e), 0);
	assert_ptr_equal(v->first->name.p, text.p + 2);
	assert_ptr_equal(v->first->string.p, text.p + 8);
}

static void members_are_found(void **unused)
{
	AUTO_ARENA a = { .max = ROOM };
	const struct json *v, *other;
	struct err e;

	(void)unused;
	assert_int_equal(
		json_parse(STR("{\"a\":1,\"b\":[2],\"a\":3,\"\":4,\"n\\u0000\":5,\"\\u0061b\":6}"),
			   &a, &v, &e),
		0);
	assert_int_equal(json_get(v, STR("a"))->integer, 3); /* the last one counts */
	assert_int_equal(json_get(v, STR("b"))->first->integer, 2);
	assert_int_equal(json_get(v, STR(""))->integer, 4);
	assert_int_equal(json_get(v, STR("n\0"))->integer, 5);
	assert_int_equal(json_get(v, STR("ab"))->integer, 6);
	assert_null(json_get(v, STR("n")));
	assert_null(json_get(v, STR("A")));
	assert_null(json_get(NULL, STR("a")));
	assert_null(json_get(json_get(v, STR("b")), STR("a")));
	assert_null(json_get(json_get(v, STR("a")), STR("a")));
	assert_int_equal(json_parse(STR("{}"), &a, &other, &e), 0);
	assert_null(other->first);
	assert_null(json_get(other, STR("")));
}

static void types_have_names(void **unused)
{
	static const struct {
		struct str text;
		enum json_type type;
		const char *name;
	} cases[] = {
		{ T("null"), JSON_NULL, "null" },    { T("true"), JSON_BOOL, "a boolean" },
		{ T("1"), JSON_NUMBER, "a number" }, { T("\"\""), JSON_STRING, "a string" },
		{ T("[]"), JSON_ARRAY, "an array" }, { T("{}"), JSON_OBJECT, "an object" },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA a = { .max = ROOM };
		const struct json *v;
		struct err e;
		assert_int_equal(json_parse(cases[i].text, &a, &v, &e), 0);
		assert_int_equal(v->type, cases[i].type);
		assert_string_equal(json_type_name(v), cases[i].name);
	}
}

static void members_are_read_by_type(void **state)
{
	AUTO_ARENA a = { .max = ROOM };
	const struct json *object;
	struct err e;

	(void)state;
	assert_int_equal(json_parse(STR("{\"n\":7,\"f\":1.5,\"s\":\"7\",\"t\":true,\"no\":false,"
					"\"l\":[1,2],\"none\":[]}"),
				    &a, &object, &e),
			 0);
	assert_int_equal(json_int(object, STR("n"), -1), 7);
	assert_int_equal(json_int(object, STR("f"), -1), -1);
	assert_int_equal(json_int(object, STR("s"), -1), -1);
	assert_int_equal(json_int(object, STR("missing"), -1), -1);
	assert_int_equal(json_int(NULL, STR("n"), -1), -1);
	assert_true(json_is_true(object, STR("t")));
	assert_false(json_is_true(object, STR("no")));
	assert_false(json_is_true(object, STR("n")));
	assert_int_equal(json_items(object, STR("l"))->integer, 1);
	assert_null(json_items(object, STR("none")));
	assert_null(json_items(object, STR("s")));
	assert_null(json_items(NULL, STR("l")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_right_value),
		cmocka_unit_test(strings_have_the_right_bytes),
		cmocka_unit_test(every_escaped_code_unit_is_decoded),
		cmocka_unit_test(an_escape_does_not_hide_the_end_of_a_string),
		cmocka_unit_test(plain_strings_point_into_the_text),
		cmocka_unit_test(members_are_found),
		cmocka_unit_test(types_have_names),
		cmocka_unit_test(members_are_read_by_type),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
