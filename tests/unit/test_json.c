/* SPDX-License-Identifier: MIT */
/* json: what is accepted and what is refused, how the refusal reads, and the limits. */

#include "unit.h"

#include "base/json.h"
#include "base/jw.h"
#include "base/limits.h"
#include "json_cases.h"
#include "json_tree.h"

enum { ROOM = 1 << 20 };

/* Parsed over itself, a text is the same value, or the same mistake. */
static void parse_over(struct str text, int want, struct str want_written, const struct err *want_e)
{
	AUTO_ARENA a = { .max = ROOM };
	AUTO_BUF written = { .max = ROOM };
	struct jw w = jw_to(&written);
	const struct str s = guarded(text);
	const struct json *v = NULL;
	struct err e = { 0 };

	assert_int_equal(json_parse_over((char *)s.p, s.n, &a, &v, &e), want);
	if (want == 0)
		json_tree_write(&w, NULL, v);
	else
		assert_string_equal(e.msg, want_e->msg);
	assert_true(str_eq(buf_str(&written), want_written));
	guarded_free(s);
}

/* Parse input that ends at the end of memory; the text lives on until the value is written. */
static int parse(struct str text, struct buf *written, struct err *e)
{
	AUTO_ARENA a = { .max = ROOM };
	const struct str s = guarded(text);
	const struct json *v = NULL;
	const int result = json_parse(s, &a, &v, e);

	if (result == 0) {
		struct jw w = jw_to(written);
		json_tree_write(&w, NULL, v);
	} else {
		assert_null(v);
	}
	guarded_free(s);
	parse_over(text, result, buf_str(written), e);
	return result;
}

static void fail_case(const char *what, struct str text)
{
	AUTO_BUF shown = { .max = ROOM };

	jw_escape(&shown, str_upto(text, 200));
	fail_msg("%s: %.*s", what, STR_FMT(buf_str(&shown)));
}

static void valid_texts_are_accepted(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
		AUTO_BUF once = { .max = ROOM }, twice = { .max = ROOM };
		struct err e = { 0 };
		if (parse(accepted[i], &once, &e) < 0)
			fail_case("refused", accepted[i]);
		assert_int_equal(e.code, ERR_NONE);
		/* What was written says the same again. */
		assert_int_equal(parse(buf_str(&once), &twice, &e), 0);
		assert_true(str_eq(buf_str(&once), buf_str(&twice)));
	}
}

static size_t offset_of(const struct err *e)
{
	size_t at;

	assert_int_equal(sscanf(e->msg, "Invalid JSON at byte %zu: ", &at), 1);
	return at;
}

static void invalid_texts_are_refused(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		AUTO_BUF b = { .max = ROOM };
		struct err e = { 0 };
		if (parse(refused[i], &b, &e) == 0)
			fail_case("accepted", refused[i]);
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
		assert_true(offset_of(&e) <= refused[i].n);
	}
}

static void open_questions_are_decided_as_the_header_says(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(open_cases); i++) {
		AUTO_BUF b = { .max = ROOM };
		struct err e;
		const int result = parse(open_cases[i].text, &b, &e);
		if (result != (open_cases[i].value ? 0 : -1))
			fail_case("decided otherwise", open_cases[i].text);
		if (open_cases[i].value)
			assert_str(buf_str(&b), open_cases[i].value);
	}
}

/* Every text cut short is refused, or is a shorter value; never more than its bytes are read. */
static void every_beginning_of_a_text_is_handled(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
		for (size_t n = 0; n < accepted[i].n; n++) {
			AUTO_BUF b = { .max = ROOM };
			struct err e;
			if (parse(str_upto(accepted[i], n), &b, &e) < 0)
				assert_true(offset_of(&e) <= n);
		}
	}
}

/* Room for a decoded string is measured up to the quote that ends it, wherever others stand. */
static void a_quote_after_backslashes_may_end_the_string(void **unused)
{
	static const struct {
		struct str text, first;
	} cases[] = {
		{ T("[\"\\\\\",\"\\\"\"]"), T("\\") },
		{ T("[\"\\\"\",\"x\"]"), T("\"") },
		{ T("[\"a\\\\\\\"b\\\\\",\"\"]"), T("a\\\"b\\") },
		{ T("[\"\\\\\\\\\"]"), T("\\\\") },
		{ T("[\"\\\"\\\"\\\"\"]"), T("\"\"\"") },
		{ T("[\"\\u005c\"]"), T("\\") },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA a = { .max = ROOM };
		const struct json *v;
		struct err e;
		const struct str text = guarded(cases[i].text);
		assert_int_equal(json_parse(text, &a, &v, &e), 0);
		assert_true(str_eq(v->first->string, cases[i].first));
		guarded_free(text);
	}
}

static struct str repeated(struct buf *b, struct str open, struct str close, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buf_add(b, open);
	for (size_t i = 0; i < times; i++)
		buf_add(b, close);
	assert_false(b->failed);
	return buf_str(b);
}

static void nesting_has_a_limit(void **unused)
{
	static const struct {
		struct str open, close;
		size_t levels, times;
		bool ok;
	} cases[] = {
		{ T("["), T("]"), 1, LIMIT_JSON_DEPTH, true },
		{ T("["), T("]"), 1, LIMIT_JSON_DEPTH + 1, false },
		{ T("["), T("]"), 1, 500, false },
		{ T("["), T(""), 1, 100000, false },
		{ T("[{\"\":"), T(""), 2, 50000, false },
		{ T("["), T("]"), 1, 100000, false },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF b = { .max = ROOM };
		AUTO_ARENA a = { .max = ROOM };
		const struct json *v;
		struct err e;
		const struct str s = repeated(&b, cases[i].open, cases[i].close, cases[i].times);
		assert_int_equal(json_parse(s, &a, &v, &e), cases[i].ok ? 0 : -1);
		/* The offset is that of the bracket that is one too many. */
		if (!cases[i].ok)
			assert_int_equal(offset_of(&e),
					 LIMIT_JSON_DEPTH / cases[i].levels * cases[i].open.n);
	}
}

/* A value of two bytes takes many times as much memory. */
static void the_number_of_values_has_a_limit(void **unused)
{
	(void)unused;
	for (size_t more = 0; more < 2; more++) {
		AUTO_BUF b = { .max = ROOM };
		AUTO_ARENA a = { .max = 16 * ROOM };
		const struct json *v;
		struct err e;
		buf_addc(&b, '[');
		/* The array itself is one, the last item another. */
		for (size_t i = 2; i < LIMIT_JSON_VALUES + more; i++)
			buf_add(&b, STR("0,"));
		buf_add(&b, STR("0]"));
		assert_int_equal(json_parse(buf_str(&b), &a, &v, &e), more ? -1 : 0);
		if (more)
			assert_int_equal(offset_of(&e), b.n - 2);
	}
}

/* Siblings do not count as depth. */
static void width_is_not_depth(void **unused)
{
	AUTO_BUF b = { .max = ROOM };
	AUTO_ARENA a = { .max = ROOM };
	const struct json *v;
	struct err e;

	(void)unused;
	buf_addc(&b, '[');
	for (int i = 0; i < 1000; i++)
		buf_add(&b, STR("[],{},"));
	buf_add(&b, STR("1]"));
	assert_int_equal(json_parse(buf_str(&b), &a, &v, &e), 0);
}

static const struct {
	struct str text;
	size_t at;
	const char *what;
} mistakes[] = {
	{ T(""), 0, "the text ends too early" },
	{ T("  "), 2, "the text ends too early" },
	{ T("[1,]"), 3, "expected a value" },
	{ T("[1 2]"), 3, "expected ',' or ']'" },
	{ T("{\"a\":1 2}"), 7, "expected ',' or '}'" },
	{ T("{\"a\" 1}"), 5, "expected ':'" },
	{ T("{a:1}"), 1, "expected a member name in quotes" },
	{ T("{\"a\":1,}"), 7, "expected a member name in quotes" },
	{ T("1 2"), 2, "unexpected text after the value" },
	{ T("1\0"), 1, "unexpected text after the value" },
	{ T("-x"), 1, "expected a digit" },
	{ T("1.x"), 2, "expected a digit after the decimal point" },
	{ T("1ex"), 2, "expected a digit in the exponent" },
	{ T("\"ab"), 3, "the string does not end" },
	{ T("\"a\nb\""), 2, "a control character in a string must be escaped" },
	{ T("\"a\xff\""), 2, "a string is not well-formed UTF-8" },
	{ T("\"\\u12g4\""), 5, "expected four hexadecimal digits" },
	{ T("\"\\q\""), 2, "unknown escape in a string" },
	{ T("[tru]"), 1, "expected a value" },
};

static void an_error_tells_what_and_where(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		AUTO_ARENA a = { .max = ROOM };
		char want[200];
		const struct json *v = NULL;
		struct err e;
		assert_int_equal(json_parse(mistakes[i].text, &a, &v, &e), -1);
		(void)snprintf(want, sizeof want, "Invalid JSON at byte %zu: %s", mistakes[i].at,
			       mistakes[i].what);
		assert_string_equal(e.msg, want);
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
		assert_null(v);
	}
}

static void an_arena_too_small_is_an_error_everywhere(void **unused)
{
	const struct str text = STR("[1.5,{\"a\\n\":\"b\\t\",\"c\":[null,true]},1e5]");
	bool worked = false;

	(void)unused;
	for (size_t max = 0; max < 2000; max += 16) {
		AUTO_ARENA a = { .max = max };
		const struct json *v = NULL;
		struct err e = { 0 };
		const int result = json_parse(text, &a, &v, &e);
		assert_true(a.total <= max);
		if (result == 0) {
			worked = true;
			continue;
		}
		assert_false(worked);
		assert_null(v);
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
		assert_non_null(strstr(e.msg, "memory"));
	}
	assert_true(worked);
}

/* Lines of every length, so that runs between escapes end at every place of a step; both ways of
 * decoding, and what the writer made them from. */
static void long_strings_are_decoded_either_way(void **unused)
{
	(void)unused;
	for (size_t width = 0; width < 100; width++) {
		AUTO_BUF plain = { .max = ROOM }, text = { .max = ROOM }, again = { .max = ROOM };
		struct jw w = jw_to(&text);
		struct err e = { 0 };
		for (size_t line = 0; line < 60; line++) {
			for (size_t i = 0; i < (width + line) % 100; i++)
				buf_addc(&plain, (char)('a' + (line + i) % 26));
			buf_add(&plain, line % 7 ? STR("\n") : STR("\"\\\x01\t\xc3\xa9\n"));
		}
		jw_array(&w, NULL);
		jw_str(&w, NULL, buf_str(&plain));
		jw_str(&w, NULL, STR("\n"));
		jw_end(&w);
		assert_int_equal(parse(buf_str(&text), &again, &e), 0);
		assert_true(str_eq(buf_str(&again), buf_str(&text)));
	}
}

/* Every beginning of a text can be completed to a text of which it is the beginning as well. */
static void every_beginning_can_be_completed(void **state)
{
	static const struct {
		const char *text, *completed;
	} cases[] = {
		{ "", "" },
		{ "{", "{}" },
		{ "{\"na", "{}" },
		{ "{\"name\"", "{}" },
		{ "{\"name\":", "{}" },
		{ "{\"name\":\"", "{\"name\":\"\"}" },
		{ "{\"name\":\"te\\\"x", "{\"name\":\"te\\\"x\"}" },
		{ "{\"name\":\"te\\", "{\"name\":\"te\"}" },
		{ "{\"name\":\"te\\u00e", "{\"name\":\"te\"}" },
		{ "{\"name\":\"te\xc3", "{\"name\":\"te\"}" },
		{ "{\"a\":[1,2", "{\"a\":[1]}" },
		{ "{\"a\":[1,2],", "{\"a\":[1,2]}" },
		{ "{\"a\":{\"b\":[{\"c\":true", "{\"a\":{\"b\":[{}]}}" },
		{ "{\"a\":nul", "{}" },
		{ "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}" },
	};
	const struct str whole = STR("{\"a\":\"\\\\\\\"\\n\\u00e9\xc3\xa9\",\"b\":[1,-2.5e3,[],{}],"
				     "\"c\":{\"d\":[true,null,\"x\"]}}");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA a = { .max = ROOM };
		const struct str s = guarded(str_of(cases[i].text));
		const struct str got = json_complete(s, &a);
		assert_true(str_eq(got, str_of(cases[i].completed)));
		guarded_free(s);
	}
	for (size_t n = 1; n <= whole.n; n++) {
		AUTO_ARENA a = { .max = ROOM };
		const struct json *v;
		struct err e;
		const struct str s = guarded(str_upto(whole, n));
		assert_int_equal(json_parse(json_complete(s, &a), &a, &v, &e), 0);
		guarded_free(s);
	}
}

static void deep_beginnings_are_completed(void **state)
{
	AUTO_ARENA a = { .max = ROOM }, none = { .max = 1 };
	AUTO_BUF b = { .max = ROOM };
	const struct json *v;
	struct err e;

	(void)state;
	for (int i = 0; i < 2 * LIMIT_JSON_DEPTH; i++)
		buf_add(&b, STR("["));
	assert_int_equal(json_parse(json_complete(buf_str(&b), &a), &a, &v, &e), 0);
	assert_int_equal(json_complete(STR("]]}"), &a).n, 0);
	assert_int_equal(json_complete(buf_str(&b), &none).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_strings_are_decoded_either_way),
		cmocka_unit_test(valid_texts_are_accepted),
		cmocka_unit_test(invalid_texts_are_refused),
		cmocka_unit_test(open_questions_are_decided_as_the_header_says),
		cmocka_unit_test(every_beginning_of_a_text_is_handled),
		cmocka_unit_test(a_quote_after_backslashes_may_end_the_string),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(the_number_of_values_has_a_limit),
		cmocka_unit_test(width_is_not_depth),
		cmocka_unit_test(an_error_tells_what_and_where),
		cmocka_unit_test(an_arena_too_small_is_an_error_everywhere),
		cmocka_unit_test(every_beginning_can_be_completed),
		cmocka_unit_test(deep_beginnings_are_completed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
