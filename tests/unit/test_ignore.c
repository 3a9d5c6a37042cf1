/* SPDX-License-Identifier: MIT */
/* test_ignore: ignore rules, line by line. */

#include "unit.h"

#include "base/own.h"
#include "search/ignore.h"

static enum ignore_verdict ask(const struct ignore *set, const char *path, bool is_dir)
{
	const struct str p = guarded(str_of(path));
	const char *slash = memrchr(p.p, '/', p.n);
	const enum ignore_verdict v =
		ignore_match(set, p, slash ? (size_t)(slash + 1 - p.p) : 0, is_dir);

	guarded_free(p);
	return v;
}

static struct ignore *rules(struct str text, size_t depth, struct ignore *up)
{
	const struct str copy = guarded(text);
	struct ignore *set = ignore_new(copy, depth, up);

	guarded_free(copy);
	return set;
}

enum { S = IGNORE_SILENT, Y = IGNORE_YES, N = IGNORE_NO, FILE_ = 0, DIR_ = 1 };

static const struct {
	const char *text, *path;
	int is_dir, want;
} cases[] = {
	{ "foo", "foo", FILE_, Y },
	{ "foo", "a/b/foo", FILE_, Y },
	{ "foo", "foobar", FILE_, S },
	{ "/foo", "foo", FILE_, Y },
	{ "/foo", "a/foo", FILE_, S },
	{ "foo/", "foo", FILE_, S },
	{ "foo/", "a/foo", DIR_, Y },
	{ "a/foo", "a/foo", FILE_, Y },
	{ "a/foo", "b/a/foo", FILE_, S },
	{ "*.o", "a/x.o", FILE_, Y },
	{ "*.o", ".o", FILE_, Y },
	{ "*.tar.gz", "x.tar.gz", FILE_, Y },
	{ "*.o\n!keep.o", "keep.o", FILE_, N },
	{ "!keep.o\n*.o", "keep.o", FILE_, Y },
	{ "*.o\n!x*\n*.p\nxy.o", "xy.o", FILE_, Y },
	{ "foo/*", "foo/a", FILE_, Y },
	{ "foo/*", "foo/a/b", FILE_, S },
	{ "foo/**", "foo/a/b", FILE_, Y },
	{ "**/foo", "a/b/foo", FILE_, Y },
	{ "**/foo", "foo", FILE_, Y },
	{ "a/**/b", "a/b", FILE_, Y },
	{ "a/**/b", "a/x/y/b", FILE_, Y },
	{ "a/b**/c", "a/bx/y/c", FILE_, Y }, /* as in git, after plain text */
	{ "# foo", "# foo", FILE_, S },
	{ "\\# foo", "# foo", FILE_, Y },
	{ "\\!foo", "!foo", FILE_, Y },
	{ "foo   ", "foo", FILE_, Y },
	{ "foo\\ ", "foo ", FILE_, Y },
	{ "foo\\  ", "foo ", FILE_, Y },
	{ "foo\t", "foo", FILE_, S },
	{ "foo\r\nbar\r\n", "foo", FILE_, Y },
	{ "foo\r\nbar\r\n", "bar", FILE_, Y },
	{ "\xef\xbb\xbf"
	  "foo\n",
	  "foo", FILE_, Y },
	{ "[abc].x", "b.x", FILE_, Y },
	{ "[!abc].x", "b.x", FILE_, S },
	{ "[[:upper:]]", "Q", FILE_, Y },
	{ "[[:bogus:]]", "b", FILE_, S },
	{ "[ab", "a", FILE_, S },
	{ "foo\\", "foo", FILE_, S },
	{ "foo\\", "foo\\", FILE_, S },
	{ "{a,b}", "a", FILE_, S },
	{ "{a,b}", "{a,b}", FILE_, Y },
	{ "?", "\xc3\xbc", FILE_, S }, /* git counts bytes */
	{ "??", "\xc3\xbc", FILE_, Y },
	{ "/", "x", DIR_, S },
	{ "!", "x", DIR_, S },
	{ "\n\n\r\n", "x", FILE_, S },
	{ "/*\n!/foo\n/foo/*\n!/foo/bar", "foo/bar", DIR_, N },
	{ "/*\n!/foo\n/foo/*\n!/foo/bar", "foo/baz", DIR_, Y },
};

static void one_file(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ignore *set = rules(str_of(cases[i].text), 0, NULL);

		if ((int)ask(set, cases[i].path, cases[i].is_dir) != cases[i].want)
			fail_msg("\"%s\" on %s", cases[i].text, cases[i].path);
		ignore_drop(set);
	}
}

static void inner_files_decide_first(void **unused)
{
	(void)unused;
	struct ignore *top = rules(STR("*.o\n/sub/x\n"), 0, NULL);
	struct ignore *sub = rules(STR("!keep.o\n/y\n"), 4, ignore_hold(top));

	assert_int_equal(ask(sub, "sub/keep.o", false), IGNORE_NO);
	assert_int_equal(ask(sub, "sub/a.o", false), IGNORE_YES);
	assert_int_equal(ask(sub, "sub/x", false), IGNORE_YES);
	assert_int_equal(ask(sub, "sub/y", false), IGNORE_YES);
	assert_int_equal(ask(sub, "sub/z/y", false), IGNORE_SILENT);
	assert_int_equal(ask(top, "sub/keep.o", false), IGNORE_YES);
	ignore_drop(top);
	assert_int_equal(ask(sub, "sub/a.o", false), IGNORE_YES);
	ignore_drop(sub);
}

static void no_rules_cost_nothing(void **unused)
{
	(void)unused;
	assert_null(rules(STR("# only a comment\n\n"), 0, NULL));
	assert_null(rules(STR(""), 0, NULL));
	assert_int_equal(ask(NULL, "x", false), IGNORE_SILENT);
	struct ignore *top = rules(STR("x"), 0, NULL);
	struct ignore *same = rules(STR("#\n"), 3, ignore_hold(top));
	assert_ptr_equal(same, top);
	ignore_drop(same);
	ignore_drop(top);
}

static void many_rules(void **unused)
{
	char text[40000];
	size_t n = 0;

	(void)unused;
	for (int i = 0; i < 1000; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "name%d\n*.ext%d\n!not%d\n", i, i,
				      i);
	struct ignore *set = rules((struct str){ text, n }, 0, NULL);
	assert_int_equal(ask(set, "a/name777", false), IGNORE_YES);
	assert_int_equal(ask(set, "a/x.ext999", false), IGNORE_YES);
	assert_int_equal(ask(set, "a/not0", false), IGNORE_NO);
	assert_int_equal(ask(set, "a/name1000", false), IGNORE_SILENT);
	ignore_drop(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file),
		cmocka_unit_test(inner_files_decide_first),
		cmocka_unit_test(no_rules_cost_nothing),
		cmocka_unit_test(many_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
