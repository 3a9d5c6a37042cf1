/* SPDX-License-Identifier: MIT */
/* test_glob: which names globs match, and which globs are refused. */

#include "unit.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/io.h"
#include "search/glob.h"
#include "search/wild.h"

static struct glob *compile(struct str pattern, unsigned flags)
{
	struct err e = { 0 };
	struct glob *g = NULL;
	const struct str copy = guarded(pattern);

	if (glob_new(copy, flags, &g, &e) < 0)
		fail_msg("%.*s: %s", STR_FMT(pattern), e.msg);
	guarded_free(copy);
	return g;
}

static bool matches(const struct glob *g, const char *path, bool is_dir)
{
	const struct str p = guarded(str_of(path));
	const char *slash = memrchr(p.p, '/', p.n);
	const struct str name = slash ? str_from(p, (size_t)(slash + 1 - p.p)) : p;
	const bool got = glob_match(g, p, name, is_dir);

	guarded_free(p);
	return got;
}

static const struct {
	const char *pattern, *path;
	bool want;
} cases[] = {
	{ "main.c", "main.c", true },
	{ "main.c", "src/main.c", true },
	{ "main.c", "main.cc", false },
	{ "*.c", "a/b/x.c", true },
	{ "*.c", ".c", true },
	{ "*.c", "x.c/y", false },
	{ "*", "anything/at all", true },
	{ "**", "anything/at all", true },
	{ "m*n.?", "x/main.c", true },
	{ "*a*b*", "xxaxxbxx", true },
	{ "*a*b*", "xxbxxaxx", false },
	{ "?", "\xc3\xbc", true }, /* one character, two bytes */
	{ "?", "\xff", true },	   /* not UTF-8: a character of its own */
	{ "??", "\xc3\xbc", false },
	{ "[\xc3\xa4-\xc3\xbc]", "\xc3\xb6", true },
	{ "[\xe4\xb8\x80-\xe9\xbf\xbf]", "\xe6\x97\xa5", true },
	{ "[a-c]x", "bx", true },
	{ "[!a-c]x", "bx", false },
	{ "[^a-c]x", "dx", true },
	{ "[]]", "]", true },
	{ "[a-]", "-", true },
	{ "[\\]]", "]", true },
	{ "[[:digit:]]", "7", true },
	{ "a[/]b", "a/b", false },
	{ "\\*", "*", true },
	{ "\\*", "x", false },
	{ "{a,b}.c", "b.c", true },
	{ "{a,b}.c", "c.c", false },
	{ "{a,b}.c", "a.cb.c", false },
	{ "x{,y}", "x", true },
	{ "x{,y}", "xy", true },
	{ "{a,{b,c}d}e", "cde", true },
	{ "{a,{b,c}d}e", "ce", false },
	{ "{*.c,*.h}", "src/util.h", true },
	{ "a}", "a}", true },
	{ "a,b", "a,b", true },
	{ "src/*.c", "src/main.c", true },
	{ "src/*.c", "src/deep/main.c", false },
	{ "src/*.c", "x/src/main.c", false },
	{ "src/**", "src/a/b", true },
	{ "src/**", "src", false },
	{ "**/*.c", "main.c", true },
	{ "**/*.c", "a/b/main.c", true },
	{ "**/a/*.c", "x/y/a/m.c", true },
	{ "**/a/*.c", "a/m.c", true },
	{ "**/a/*.c", "xa/m.c", false },
	{ "a/**/b", "a/b", true },
	{ "a/**/b", "a/x/y/b", true },
	{ "a/**/b", "a/xb", false },
	{ "a**b/c", "axxb/c", true },
	{ "a**b/c", "ax/xb/c", false },
	{ "{src,lib}/**/*.c", "lib/x/y.c", true },
	{ "{src/**,lib}/*.c", "src/a/b/y.c", true },
	{ "./src/x", "src/x", true },
	{ "/x", "x", true },
	{ "/x", "a/x", false },
	{ "**/**/x/y", "x/y", true },
	{ "@(a|b).c", "b.c", true },
	{ "@(a|b).c", "ab.c", false },
	{ "@(a|b).c", ".c", false },
	{ "?(a|b).c", ".c", true },
	{ "?(a|b).c", "a.c", true },
	{ "?(a|b).c", "aa.c", false },
	{ "*(a|bc).c", ".c", true },
	{ "*(a|bc).c", "abcabc.c", true },
	{ "*(a|bc).c", "abca", false },
	{ "*(a|bc).c", "ac.c", false },
	{ "+(a|bc)", "bca", true },
	{ "+(a|bc)", "", false },
	{ "x+(*.c|y)", "xmain.cy", true },
	{ "+([0-9]).log", "2026.log", true },
	{ "+([0-9]).log", "20a6.log", false },
	{ "*.@(ts|tsx)", "src/a.tsx", true },
	{ "*.@(ts|tsx)", "src/a.tsy", false },
	{ "a@(b|@(c|d)e)f", "adef", true },
	{ "a@({b,c}|d)f", "acf", true },
	{ "{a@(b|c),d}e", "ace", true },
	{ "@(a|*/)b", "x/b", true },
	{ "@(**|x)/b", "x/y/b", true },
	{ "src/!(main).ts", "src/other.ts", true },
	{ "src/!(main).ts", "src/main.ts", false },
	{ "src/!(main).ts", "src/mainly.ts", true },
	{ "src/!(main).ts", "src/deep/other.ts", false },
	{ "src/!(main|test*).ts", "src/test_x.ts", false },
	{ "src/!(main|test*).ts", "src/.ts", true },
	{ "*.!(ts)", "a.js", true },
	{ "*.!(ts)", "a.ts", false },
	{ "*.!(ts)", "a.b.ts", true }, /* as in bash: the star takes "a", the rest is not "ts" */
	{ "!(a)", "a", false },
	{ "!(a)", "x/b", true },
	{ "!(a)/!(b)", "x/y", true },
	{ "!(a)/!(b)", "x/b", false },
	{ "!(a)/!(b)", "x/y/z", false },
	{ "**/!(node_modules)/*.c", "a/b/x.c", true },
	{ "**/!(node_modules)/*.c", "a/node_modules/x.c", false },
	{ "!(*.c|*.h)", "x.h", false },
	{ "!(*.c|*.h)", "x.o", true },
	{ "!(\xc3\xbc)?", "\xc3\xbc", true }, /* nothing, and a character */
	{ "!(\xc3\xbc)", "\xc3\xbc", false },
	{ "!()", "a", true },
	{ "x!(y", "x!(y", true }, /* not closed: plain text */
	{ "*(1", "f(1", true },
	{ "f(1).c", "f(1).c", true },
	{ "*\\(1).c", "f(1).c", true },
	{ "\\@(a|b)", "@(a|b)", true },
	{ "[@](a)", "@(a)", true },
	{ "@([)]|x)", ")", true },
};

static void globs(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct glob *g = compile(str_of(cases[i].pattern), 0);

		if (matches(g, cases[i].path, false) != cases[i].want)
			fail_msg("%s on %s", cases[i].pattern, cases[i].path);
		glob_free(g);
	}
}

static void smart_case(void **unused)
{
	static const struct {
		const char *pattern, *path;
		bool want;
	} smart[] = {
		{ "readme.md", "README.md", true },
		{ "README.md", "readme.md", false },
		{ "*.TXT", "a.txt", false },
		{ "*.txt", "A.TXT", true },
		{ "[a-c]*", "Bcd", true },
		{ "[AZ]*.txt", "alpha.txt", false },
		{ "{readme,x}.md", "README.MD", true },
		{ "s*c/*.c", "SRC/MAIN.C", true },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(smart); i++) {
		struct glob *g = compile(str_of(smart[i].pattern), GLOB_SMART_CASE);

		if (matches(g, smart[i].path, false) != smart[i].want)
			fail_msg("%s on %s", smart[i].pattern, smart[i].path);
		glob_free(g);
	}
}

static void filters(void **unused)
{
	(void)unused;
	struct glob *g = compile(STR("!*.c"), GLOB_FILTER);
	assert_true(glob_negated(g));
	assert_true(matches(g, "a/x.c", false));
	glob_free(g);
	g = compile(STR("src/"), GLOB_FILTER);
	assert_false(glob_negated(g));
	assert_true(matches(g, "src/a/b", false));
	assert_false(matches(g, "x/src/a", false));
	glob_free(g);
	g = compile(STR("!build/"), GLOB_FILTER);
	assert_true(matches(g, "a/build", true));
	assert_false(matches(g, "a/build", false));
	glob_free(g);
	g = compile(STR("src/"), 0);
	assert_true(matches(g, "a/src", true));
	assert_false(matches(g, "a/src", false));
	glob_free(g);
	g = compile(STR("!x"), 0); /* plain text where nothing is filtered */
	assert_false(glob_negated(g));
	assert_true(matches(g, "!x", false));
	glob_free(g);
}

static void mistakes(void **unused)
{
	static const struct {
		const char *pattern, *says;
	} bad[] = {
		{ "a[b", "offset 1: this \"[\"" },
		{ "[", "offset 0" },
		{ "[]", "offset 0" },
		{ "x{a,b", "offset 1: this \"{\"" },
		{ "a\\", "offset 1: a backslash" },
		{ "", "empty" },
		{ "[[:nope:]]", "offset 0: there is no such class" },
		{ "x[[:alpha", "offset 1: this \"[\"" },
		{ "x[a-cz-y]", "offset 1: the ends of a range are out of order" },
		{ "{{{{{{{{{{{{{{{{{a}}}}}}}}}}}}}}}}}", "nested too deeply" },
		{ "@({a)b", "offset 2: this \"{\"" },
		{ "a!(b!(c))", "offset 4: a \"!(…)\" cannot be within" },
		{ "{a,!(b)}", "offset 3: a \"!(…)\" cannot be within" },
		{ "@(a|!(b))", "offset 4: a \"!(…)\" cannot be within" },
		{ "x/!(a/b)", "offset 5: a \"!(…)\" is about one component" },
		{ "!()!()!()!()!()!()!()!()!()", "offset 24: it has more than 8" },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };
		struct glob *g = NULL;
		const struct str copy = guarded(str_of(bad[i].pattern));

		assert_int_equal(glob_new(copy, 0, &g, &e), -1);
		assert_int_equal(e.code, ERR_INVALID_GLOB);
		if (!strstr(e.msg, bad[i].says))
			fail_msg("%s: %s", bad[i].pattern, e.msg);
		guarded_free(copy);
	}
	char *large = test_malloc(LIMIT_GLOB_BYTES + 1);
	struct err e = { 0 };
	struct glob *g;
	memset(large, 'a', LIMIT_GLOB_BYTES + 1);
	assert_int_equal(glob_new((struct str){ large, LIMIT_GLOB_BYTES + 1 }, 0, &g, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_GLOB);
	test_free(large);
}

/* Patterns that take a backtracking matcher exponential time: here they end at once, or the test
 * never does. */
static void time_is_bounded(void **unused)
{
	AUTO_BUF pattern = { .max = LIMIT_GLOB_BYTES };
	AUTO_BUF text = { .max = LIMIT_GLOB_BYTES };

	(void)unused;
	for (int i = 0; i < 250; i++) {
		buf_add(&pattern, STR("*a{,b}"));
		buf_add(&text, STR("aaaaaaaa"));
	}
	buf_add(&pattern, STR("c"));
	struct glob *g = compile(buf_str(&pattern), 0);
	assert_false(glob_match(g, buf_str(&text), buf_str(&text), false));
	buf_add(&text, STR("c"));
	assert_true(glob_match(g, buf_str(&text), buf_str(&text), false));
	glob_free(g);

	buf_reset(&pattern, LIMIT_GLOB_BYTES);
	buf_reset(&text, LIMIT_GLOB_BYTES);
	for (int i = 0; i < 250; i++) {
		buf_add(&pattern, STR("**/*a*/"));
		buf_add(&text, STR("aa/ab/"));
	}
	buf_add(&pattern, STR("end"));
	g = compile(buf_str(&pattern), 0);
	assert_false(glob_match(g, buf_str(&text), STR(""), false));
	glob_free(g);

	/* As many ways to divide the name among the parts as there are. */
	buf_reset(&text, LIMIT_GLOB_BYTES);
	for (int i = 0; i < 255; i++)
		buf_addc(&text, 'a');
	g = compile(STR("!(b)*(a|aa)!(b)+(a|aa)!(b)*!(b)*!(b)*!(b)*!(b)*!(b)c"), 0);
	assert_false(glob_match(g, buf_str(&text), buf_str(&text), false));
	glob_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globs),	   cmocka_unit_test(smart_case),
		cmocka_unit_test(filters),	   cmocka_unit_test(mistakes),
		cmocka_unit_test(time_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
