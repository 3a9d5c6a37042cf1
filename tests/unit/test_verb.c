/* SPDX-License-Identifier: MIT */
/* Words of a command line: options in all their forms, operands, and what is wrong with them. */

#include "unit.h"

#include "base/own.h"
#include "cli/cli.h"

struct args {
	bool all;
	const char *name, *mode;
	int64_t count;
	double seconds;
	struct option_list env;
};

static const char *const modes[] = { "fast", "slow", NULL };

static const struct option options[] = {
	{ "all", 'a', OPTION_SWITCH, offsetof(struct args, all), NULL, "everything" },
	{ "name", 'n', OPTION_TEXT, offsetof(struct args, name), "NAME", "a name" },
	{ "mode", 0, OPTION_WORD, offsetof(struct args, mode), NULL, "how", modes },
	{ "count", 'c', OPTION_NUMBER, offsetof(struct args, count), "N", "how many" },
	{ "seconds", 0, OPTION_SECONDS, offsetof(struct args, seconds), "SECONDS", "how long" },
	{ "env", 'e', OPTION_LIST, offsetof(struct args, env), "NAME=VALUE", "again and again" },
	OPTION_END,
};

static const struct verb plain = {
	.name = "try",
	.operands = "WHAT",
	.options = options,
	.flags = VERB_PRINTS | VERB_SETTINGS,
	.least = 1,
	.most = 2,
};

static const struct verb rest = {
	.name = "rest",
	.operands = "COMMAND",
	.options = options,
	.flags = VERB_REST,
	.most = -1,
};

/* Parse words; the cli's memory must be given back. */
static int parse(const struct verb *v, const char *const *words, struct cli *c, struct args *a,
		 struct err *e)
{
	static char room[16][128];
	char *argv[16];
	int argc = 0;

	*c = (struct cli){ .memory = { .max = 1 << 20 } };
	*a = (struct args){ 0 };
	for (; words[argc]; argc++) {
		assert_true(argc < 16);
		(void)snprintf(room[argc], sizeof room[argc], "%s", words[argc]);
		argv[argc] = room[argc];
	}
	return verb_parse(v, argc, argv, c, a, e);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void options_have_two_forms_and_operands_any_place(void **state)
{
	const char *const *const same[] = {
		WORDS("-a", "-n", "x", "-c", "3", "what", "--mode", "slow", "-e", "A=1", "-e",
		      "B=2"),
		WORDS("what", "--all", "--name=x", "--count=3", "--mode=slow", "--env=A=1", "--env",
		      "B=2"),
		WORDS("-anx", "-c3", "--mode=slow", "-eA=1", "-eB=2", "--", "what"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		struct cli c;
		struct args a;
		struct err e;
		if (parse(&plain, same[i], &c, &a, &e) < 0)
			fail_msg("%zu: %s", i, e.msg);
		assert_true(a.all);
		assert_string_equal(a.name, "x");
		assert_ptr_equal(a.mode, modes[1]);
		assert_int_equal(a.count, 3);
		assert_int_equal(a.env.count, 2);
		assert_string_equal(a.env.item[1], "B=2");
		assert_int_equal(c.argc, 1);
		assert_string_equal(c.argv[0], "what");
		arena_done(&c.memory);
	}
}

static void a_command_keeps_its_own_options(void **state)
{
	struct cli c;
	struct args a;
	struct err e;

	(void)state;
	assert_int_equal(parse(&rest, WORDS("-a", "ls", "-n", "--", "--all"), &c, &a, &e), 0);
	assert_true(a.all);
	assert_null(a.name);
	assert_int_equal(c.argc, 4);
	assert_string_equal(c.argv[1], "-n");
	assert_string_equal(c.argv[3], "--all");
	arena_done(&c.memory);
}

static void flags_of_settings_are_kept(void **state)
{
	struct cli c;
	struct args a;
	struct err e;

	(void)state;
	assert_int_equal(parse(&plain,
			       WORDS("--workspace", "/w", "x", "--read-only", "y", "--tcp=h:1"), &c,
			       &a, &e),
			 0);
	assert_int_equal(c.settings_count, 4);
	assert_string_equal(c.settings[1], "/w");
	assert_string_equal(c.settings[2], "--read-only");
	assert_int_equal(c.argc, 2);
	arena_done(&c.memory);
}

static const struct {
	const char *const *words;
	const char *says;
} wrong[] = {
	{ WORDS("x", "--al"), "--al; did you mean --all?" },
	{ WORDS("x", "--jsno"), "did you mean --json?" },
	{ WORDS("x", "--workspcae", "/"), "did you mean --workspace?" },
	{ WORDS("x", "--zzzzzzzzzz"), "unknown option --zzzzzzzzzz" },
	{ WORDS("x", "--=1"), "unknown option --" },
	{ WORDS("x", "-z"), "unknown option -z" },
	{ WORDS("x", "-az"), "unknown option -z" },
	{ WORDS("x", "--name"), "--name needs a value" },
	{ WORDS("x", "-n"), "-n needs a value" },
	{ WORDS("x", "--all=1"), "--all takes no value" },
	{ WORDS("x", "--count", "-1"), "--count must be" },
	{ WORDS("x", "--count="), "--count must be" },
	{ WORDS("x", "--seconds", "1s"), "--seconds must be" },
	{ WORDS("x", "--seconds", "nan"), "--seconds must be" },
	{ WORDS("x", "--seconds", "1e99"), "--seconds must be" },
	{ WORDS("x", "--mode", "medium"), "one of fast, slow" },
	{ WORDS("-a"), "missing argument WHAT" },
	{ WORDS("x", "y", "z"), "\"z\"" },
};

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct cli c;
		struct args a;
		struct err e;
		if (parse(&plain, wrong[i].words, &c, &a, &e) == 0)
			fail_msg("%zu was taken", i);
		if (!strstr(e.msg, wrong[i].says))
			fail_msg("\"%s\" is not in: %s", wrong[i].says, e.msg);
		arena_done(&c.memory);
	}
}

static void help_needs_nothing_else(void **state)
{
	struct cli c;
	struct args a;
	struct err e;

	(void)state;
	assert_int_equal(parse(&plain, WORDS("-h", "--nonsense"), &c, &a, &e), 0);
	assert_true(c.help);
	arena_done(&c.memory);
}

static void words_are_quoted_for_a_shell(void **state)
{
	static const struct {
		const char *words[4], *command;
	} cases[] = {
		{ { "echo $HOME | wc" }, "echo $HOME | wc" },
		{ { "echo", "$HOME" }, "echo '$HOME'" },
		{ { "ls", "-l", "a b" }, "ls -l 'a b'" },
		{ { "echo", "" }, "echo ''" },
		{ { "echo", "it's" }, "echo 'it'\\''s'" },
		{ { "A=1", "x" }, "'A=1' x" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = { .max = 4096 };
		char room[4][64], *words[4];
		int n = 0;
		for (; n < 4 && cases[i].words[n]; n++) {
			(void)snprintf(room[n], sizeof room[n], "%s", cases[i].words[n]);
			words[n] = room[n];
		}
		verb_join_command(n, words, &out);
		assert_string_equal(out.p, cases[i].command);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_have_two_forms_and_operands_any_place),
		cmocka_unit_test(a_command_keeps_its_own_options),
		cmocka_unit_test(flags_of_settings_are_kept),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(help_needs_nothing_else),
		cmocka_unit_test(words_are_quoted_for_a_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
