/* SPDX-License-Identifier: MIT */
/* A text is replaced byte for byte; if it is not there, the message says why. */

#include "unit.h"

#include "tools/edit.h"
#include "tools/limits.h"

static int64_t apply(struct str content, const struct edit *edit, struct buf *out, struct err *e)
{
	const struct str copy = guarded(content);
	AUTO_ARENA a = { .max = 64 << 20 };
	const int64_t n = edit_apply(edit, STR("f"), copy, &a, out, e);

	guarded_free(copy);
	return n;
}

static const struct {
	struct str content, old_text, new_text;
	bool all;
	int64_t count;
	struct str result;
} good[] = {
	{ STR("abc"), STR("b"), STR("x"), false, 1, STR("axc") },
	{ STR("abc"), STR("abc"), STR(""), false, 1, STR("") },
	{ STR("a\0b\0"), STR("b"), STR("\0\0"), false, 1, STR("a\0\0\0\0") },
	{ STR("\xff\r\nx\xfe"), STR("x"), STR("y"), false, 1, STR("\xff\r\ny\xfe") },
	{ STR("aaa"), STR("aa"), STR("b"), false, 1, STR("ba") },
	{ STR("x.x.x"), STR("x"), STR("xx"), true, 3, STR("xx.xx.xx") },
	{ STR("aaaa"), STR("aa"), STR("a"), true, 2, STR("aa") },
};

static void the_rest_stays_as_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		const struct edit edit = { good[i].old_text, good[i].new_text, good[i].all };
		AUTO_BUF out = { .max = 1 << 20 };
		struct err e;
		assert_int_equal(apply(good[i].content, &edit, &out, &e), good[i].count);
		assert_true(str_eq(buf_str(&out), good[i].result));
	}
}

#define NOT_FOUND                                                                                  \
	"Could not find the exact text in f. The old text must match exactly including all "       \
	"whitespace and newlines."

static const struct {
	const char *content, *old_text;
	enum err_code code;
	const char *sentence;
} bad[] = {
	{ "x x", "x", ERR_TEXT_NOT_UNIQUE,
	  "Found 2 occurrences of the text in f. The text must be unique. Please provide more "
	  "context to make it unique." },
	{ "same", "same", ERR_NO_CHANGE,
	  "No changes made to f. The replacement produced identical content. This might indicate "
	  "an issue with special characters or the text not existing as expected." },
	{ "abc", "q", ERR_TEXT_NOT_FOUND, NOT_FOUND },
	{ "abc", "   ", ERR_TEXT_NOT_FOUND, NOT_FOUND },
	{ "", "q", ERR_TEXT_NOT_FOUND, NOT_FOUND },
	{ "a\n\tb();\n", "    b();", ERR_TEXT_NOT_FOUND,
	  NOT_FOUND
	  " A similar text is at line 2, but the file has tabs there and the old text has "
	  "spaces." },
	{ "a\n    b();\n", "\tb();", ERR_TEXT_NOT_FOUND,
	  NOT_FOUND " A similar text is at line 2, but the file has spaces there and the old text "
		    "has tabs." },
	{ "a\r\nb\r\n", "a\nb", ERR_TEXT_NOT_FOUND,
	  NOT_FOUND
	  " A similar text is at line 1, but the file has CRLF line endings there (\\r\\n) "
	  "and the old text does not." },
	{ "a\r\nb\r\n", "b\n", ERR_TEXT_NOT_FOUND,
	  NOT_FOUND
	  " A similar text is at line 2, but the file has CRLF line endings there (\\r\\n) "
	  "and the old text does not." },
	{ "a\nb\n", "a\r\nb", ERR_TEXT_NOT_FOUND,
	  NOT_FOUND " A similar text is at line 1, but the old text has CRLF line endings (\\r\\n) "
		    "and the file does not." },
	{ "a b", "a  b", ERR_TEXT_NOT_FOUND,
	  NOT_FOUND " A similar text is at line 1, but the white space differs." },
	{ "x\nFOO", "foo", ERR_TEXT_NOT_FOUND,
	  NOT_FOUND " A similar text is at line 2, but upper and lower case differ." },
};

static void the_reason_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct edit edit = { str_of(bad[i].old_text),
					   bad[i].code == ERR_NO_CHANGE ? str_of(bad[i].old_text)
									: STR("new"),
					   false };
		AUTO_BUF out = { .max = 1 << 20 };
		struct err e;
		assert_int_equal(apply(str_of(bad[i].content), &edit, &out, &e), -1);
		assert_string_equal(e.msg, bad[i].sentence);
		assert_int_equal(e.code, bad[i].code);
	}
}

static void a_large_file_gets_no_hint_and_a_large_result_is_refused(void **state)
{
	AUTO_BUF content = { .max = LIMIT_EDIT_HINT_BYTES + 100 };
	AUTO_BUF out = { .max = 10 };
	struct err e;

	(void)state;
	while (content.n <= LIMIT_EDIT_HINT_BYTES)
		buf_add(&content, STR("a long line of text that is there many times over\n"));
	/* No memory is spent on a hint in a file this large. */
	const struct edit absent = { STR("A LONG LINE"), STR("x"), false };
	assert_int_equal(apply(buf_str(&content), &absent, &out, &e), -1);
	assert_string_equal(e.msg, NOT_FOUND);
	const struct edit large = { STR("b"), STR("0123456789"), false };
	assert_int_equal(apply(STR("abc"), &large, &out, &e), -1);
	assert_int_equal(e.code, ERR_FILE_TOO_LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rest_stays_as_it_is),
		cmocka_unit_test(the_reason_is_told),
		cmocka_unit_test(a_large_file_gets_no_hint_and_a_large_result_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
