/* SPDX-License-Identifier: MIT */
/* shword_split: quotes, escapes and blanks as a shell reads them, and nothing else. */

#include "unit.h"

#include "base/arena.h"
#include "base/own.h"
#include "policy/shlex.h"

static void words_are_taken_apart(void **state)
{
	static const struct {
		const char *text;
		const char *words[6];
	} cases[] = {
		{ "ls", { "ls" } },
		{ "  ls\t-l\n", { "ls", "-l" } },
		{ "echo 'a b' \"c d\"", { "echo", "a b", "c d" } },
		{ "a'b'\"c\"d", { "abcd" } },
		{ "echo '' \"\"", { "echo", "", "" } },
		{ "a\\ b c", { "a b", "c" } },
		{ "'\\n\\\\'", { "\\n\\\\" } },
		{ "\"\\n \\\" \\\\ $x\"", { "\\n \" \\ $x" } },
		{ "echo $HOME * ; rm | # x", { "echo", "$HOME", "*", ";", "rm", "|" } },
		{ "a\\'b", { "a'b" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { .max = 4096 };
		struct str *words;
		size_t n, want = 0;
		struct err e;
		const struct str text = guarded(str_of(cases[i].text));
		assert_int_equal(shword_split(text, &arena, &words, &n, &e), 0);
		for (; want < 6 && cases[i].words[want]; want++)
			assert_true(want < n && str_eq(words[want], str_of(cases[i].words[want])));
		assert_true(want == n || want == 6);
	}
}

static void texts_without_words_are_refused(void **state)
{
	static const struct str cases[] = {
		{ "", 0 },    { " \n", 2 },  { "a 'b", 4 }, { "a \"b", 4 },
		{ "a\\", 2 }, { "a\0b", 3 }, { "\"\\", 2 }, { "\"\\\"", 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { .max = 4096 };
		struct str *words;
		size_t n;
		struct err e;
		assert_int_equal(shword_split(guarded(cases[i]), &arena, &words, &n, &e), -1);
		assert_int_equal(e.code, ERR_INVALID_ARGUMENTS);
	}
	struct arena none = { .max = 0 };
	struct str *words;
	size_t n;
	struct err e;
	assert_int_equal(shword_split(STR("a"), &none, &words, &n, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_taken_apart),
		cmocka_unit_test(texts_without_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
