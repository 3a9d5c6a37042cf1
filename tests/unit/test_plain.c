/* SPDX-License-Identifier: MIT */
/* plain: which lines need no shell, and what their programs get. */

#include "unit.h"

#include "base/own.h"
#include "exec/launch.h"
#include "exec/proc.h"

static const char *const usual[] = { "PATH=/nowhere:/usr/bin:/bin", "A=b", "_=/x", "PWD=/old",
				     NULL };

static struct arena arena = { .max = 1 << 20 };

static bool prepare_in(struct plain *p, const char *line, const char *const *env, const char *cwd)
{
	struct str *words;
	char *strings[8];
	const size_t n = proc_plain_words(guarded(str_of(line)), &arena, &words);

	assert_true(n <= ARRAY_LEN(strings));
	for (size_t i = 0; i < n; i++)
		strings[i] = (char *)(uintptr_t)arena_dup(&arena, words[i]).p;
	return n && plain_prepare(p, strings, n, (char *const *)(uintptr_t)env, cwd, &arena);
}

static bool prepare(struct plain *p, const char *line, const char *const *env)
{
	return prepare_in(p, line, env, "/work");
}

static int free_all(void **state)
{
	(void)state;
	arena_done(&arena);
	return 0;
}

static void columns_plains(void **state)
{
	static const struct {
		const char *line;
		const char *words[5];
	} cases[] = {
		{ "true", { "true" } },
		{ " \t ls  -la\t/usr \n\n", { "ls", "-la", "/usr" } },
		{ "env A=b c=d", { "env", "A=b", "c=d" } },
		{ "./run --x=1,2 @y %z", { "./run", "--x=1,2", "@y", "%z" } },
		{ "ls echo if time", { "ls", "echo", "if", "time" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plain p;
		assert_true(prepare(&p, cases[i].line, usual));
		size_t n = 0;
		for (; cases[i].words[n]; n++)
			assert_string_equal(p.argv[n], cases[i].words[n]);
		assert_null(p.argv[n]);
		mem_free(p.env);
	}
}

static void lines_for_a_shell(void **state)
{
	static const char *const cases[] = {
		"",	      " \n",
		"true;",      "true &",
		"true\ntrue", "true \n false",
		"a|b",	      "ls *",
		"ls ~",	      "ls $HOME",
		"ls 'a b'",   "ls \"a\"",
		"ls >x",      "ls <x",
		"ls #x",      "ls `x`",
		"(ls)",	      "{ ls",
		"A=1 ls",     "A=1",
		"! ls",	      "ls a\\ b",
		"ls {a,b}",   "ls [a]",
		"ls ?",	      "ls \xc3\xa4",
		"ls\r",	      "echo hi",
		"cd /",	      "exit 3",
		"time ls",    "if",
		"%1",	      "-x",
		":",	      ". x",
		"pwd",	      "kill 1",
		"test a",     "no-such-program-anywhere",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plain p;
		if (prepare(&p, cases[i], usual))
			fail_msg("plain: %s", cases[i]);
	}
}

static void environments_for_a_shell(void **state)
{
	static const char *const cases[][3] = {
		{ NULL },
		{ "PATH=bin:/usr/bin" },
		{ "PATH=:/usr/bin" },
		{ "PATH=/usr/bin", "BASH_ENV=x" },
		{ "PATH=/usr/bin", "SHELLOPTS=xtrace" },
		{ "PATH=/usr/bin", "BASHOPTS=x" },
		{ "PATH=/usr/bin", "BASH_FUNC_true%%=() { :; }" },
	};
	struct plain p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_false(prepare(&p, "true", cases[i]));
	assert_false(prepare_in(&p, "true", usual, ""));
}

static const char *variable(char *const *env, const char *start)
{
	const char *found = NULL;

	for (; *env; env++)
		if (strncmp(*env, start, strlen(start)) == 0) {
			assert_null(found);
			found = *env + strlen(start);
		}
	return found;
}

static void variables_of_the_shell(void **state)
{
	struct plain p;

	(void)state;
	assert_true(prepare(&p, "true", usual));
	assert_string_equal(variable(p.env, "PWD="), "/work");
	assert_string_equal(variable(p.env, "_="), p.program);
	assert_string_equal(variable(p.env, "A="), "b");
	mem_free(p.env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_plains),
		cmocka_unit_test(lines_for_a_shell),
		cmocka_unit_test(environments_for_a_shell),
		cmocka_unit_test(variables_of_the_shell),
	};

	return cmocka_run_group_tests(tests, NULL, free_all);
}
