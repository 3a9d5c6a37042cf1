/* SPDX-License-Identifier: MIT */
/* dfa: time is proportional to the text: states are few, or forgotten within bounds. */

#include "unit.h"

#include "base/io.h"
#include "base/own.h"
#include "regex/ast.h"
#include "regex/dfa.h"
#include "regex/limits.h"

enum { LINE = 1 << 20 };

static const struct regex_budget forever = { .deadline_ms = IO_FOREVER };

struct subject {
	struct nfa nfa;
	struct dfa dfa;
};

static void subject_init(struct subject *s, const char *pattern)
{
	const struct regex_options o = { 0 };
	AUTO_ARENA arena = { .max = LIMIT_REGEX_ARENA };
	struct ast_pattern tree;
	struct err e = { 0 };

	*s = (struct subject){ 0 };
	assert_int_equal(regex_parse(str_of(pattern), &o, &arena, &tree, &e), 0);
	assert_int_equal(nfa_compile(&s->nfa, tree.root, NFA_SEARCH, &e), 0);
	assert_int_equal(dfa_init(&s->dfa, &s->nfa, DFA_EARLIEST), 0);
}

static void subject_done(struct subject *s)
{
	dfa_done(&s->dfa);
	nfa_done(&s->nfa);
}

/* Patterns on which a backtracking matcher takes exponential or quadratic time or worse. */
static const char *const evil[] = {
	"(a+)+$b",	    "(a|aa)+b",
	"(a*)*b",	    "(a|a)*b",
	"(a|a?)+b",	    "a*a*a*a*[bc]",
	"(.*a){12}b",	    "(x+x+)+y",
	".*.*.*=.*b",	    "^(([a-z])+.)+[A-Z]b",
	"(?:a?){30}a{30}b", "a.*a.*a.*a.*b",
	"(a{0,20}){0,20}b", "[^b]*a[^b]*a[^b]*b",
	"\\w*\\W*\\w*b",
};

static void test_a_byte_is_a_step(void **state)
{
	char *text = mem_new(LINE, 1);

	(void)state;
	memset(text, 'a', LINE);
	for (size_t i = 0; i < ARRAY_LEN(evil); i++) {
		struct subject s;
		struct err e;
		size_t at;

		subject_init(&s, evil[i]);
		assert_int_equal(
			dfa_run(&s.dfa, (struct str){ text, LINE }, 0, true, &forever, &at, &e), 0);
		/* All other bytes went through states that were there already. */
		if (s.dfa.built > 1000 || s.dfa.forgotten > 0)
			fail_msg("/%s/ built %u states", evil[i], (unsigned)s.dfa.built);
		subject_done(&s);
	}
	mem_free(text);
}

/* A pattern with 2^20 states on a text that visits many: at most one state is built for a byte. */
static void test_forgets_and_goes_on(void **state)
{
	char *text = mem_new(LINE, 1);
	uint64_t seed = 1;
	struct subject s;
	struct err e;
	size_t at;

	(void)state;
	for (size_t i = 0; i < LINE; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		text[i] = seed >> 63 ? 'a' : 'b';
	}
	subject_init(&s, "[ab]*a[ab]{19}c");
	assert_int_equal(dfa_run(&s.dfa, (struct str){ text, LINE }, 0, true, &forever, &at, &e),
			 0);
	assert_true(s.dfa.forgotten > 0);
	assert_true(s.dfa.built <= LINE + 300);
	subject_done(&s);
	mem_free(text);
}

static void test_cancelled_when_it_forgets(void **state)
{
	const struct cancel cancelled = { .asked = true, .fd = -1 };
	const struct regex_budget budget = { IO_FOREVER, &cancelled };
	char *text = mem_new(LINE / 8, 1);
	uint64_t seed = 1;
	struct subject s;
	struct err e = { 0 };
	size_t at;

	(void)state;
	for (size_t i = 0; i < LINE / 8; i++) {
		seed = seed * UINT64_C(6364136223846793005) + 1;
		text[i] = seed >> 63 ? 'a' : 'b';
	}
	subject_init(&s, "[ab]*a[ab]{19}c");
	assert_int_equal(dfa_run(&s.dfa, (struct str){ text, LINE / 8 }, 0, true, &budget, &at, &e),
			 -1);
	assert_int_equal(e.code, ERR_SEARCH_TIMEOUT);
	subject_done(&s);
	mem_free(text);
}

/* States as large as they get, in memory as small as it gets. */
static void test_largest_states(void **state)
{
	static const char *const patterns[] = { "(?:.{0,40}x){0,40}y$", "(?:a?){2000}b",
						".{1000,}b$" };
	char text[3000];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 7 == 3 ? 'x' : 'a';
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		const struct str input = guarded((struct str){ text, sizeof(text) });
		struct subject s;
		struct err e;
		size_t at;

		subject_init(&s, patterns[i]);
		assert_int_equal(dfa_run(&s.dfa, input, 0, true, &forever, &at, &e), 0);
		subject_done(&s);
		guarded_free(input);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_byte_is_a_step),
		cmocka_unit_test(test_forgets_and_goes_on),
		cmocka_unit_test(test_cancelled_when_it_forgets),
		cmocka_unit_test(test_largest_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
