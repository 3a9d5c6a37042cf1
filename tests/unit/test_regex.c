/* SPDX-License-Identifier: MIT */
/* regex: which lines a pattern matches, what is refused and why, multiline, budgets. */

#include "unit.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "regex/limits.h"
#include "regex/need.h"
#include "regex/regex.h"

static const struct regex_budget forever = { .deadline_ms = IO_FOREVER };

struct row {
	const char *pattern;
	const char *flags; /* i: ignore case, F: literal */
	const char *yes[6], *no[6];
};

static const struct row rows[] = {
	/* plain text */
	{ "abc", "", { "abc", "xabcx", "ababc" }, { "", "ab", "abd", "ABC", "a bc" } },
	{ "a", "", { "a", "ba" }, { "", "b", "A" } },
	{ "", "", { "", "x" }, { 0 } },
	{ "foo{", "", { "foo{", "a foo{ b" }, { "foo", "fo{" } },
	{ "interface{}", "", { "var x interface{}" }, { "interface", "interface{ }" } },
	{ "{", "", { "{", "a{b" }, { "}" } },
	{ "{}", "", { "{}" }, { "{ }" } },
	{ "{2}", "", { "{2}" }, { "2", "{" } },
	{ "a{,3}", "", { "a{,3}" }, { "aaa" } },
	{ "a{x}", "", { "a{x}" }, { "ax" } },
	{ "a{1", "", { "a{1" }, { "a" } },
	{ "}", "", { "}" }, { "{" } },
	{ "]", "", { "]", "a]" }, { "[" } },
	{ "a/b", "", { "a/b" }, { "ab" } },
	{ "http:\\/\\/", "", { "see http://x" }, { "http:\\/\\/" } },
	{ "caf\xc3\xa9", "", { "un caf\xc3\xa9!" }, { "cafe", "caf\xe9" } },
	{ "\\-\\_\\@\\\"\\'\\#\\%\\&\\=\\~\\`\\,\\;\\:\\<\\>\\!\\ ",
	  "",
	  { "-_@\"'#%&=~`,;:<>! " },
	  { "-_" } },
	/* escapes */
	{ "\\u00e9", "", { "\xc3\xa9" }, { "e", "u00e9" } },
	{ "\\u{e9}", "", { "\xc3\xa9" }, { "e" } },
	{ "\\u{1F600}", "", { "\xf0\x9f\x98\x80" }, { "x" } },
	{ "\\ud83d\\ude00", "", { "\xf0\x9f\x98\x80" }, { "\xf0\x9f\x98\x81" } },
	{ "\\x41", "", { "A" }, { "x41", "a" } },
	{ "\\x{e9}", "", { "\xc3\xa9" }, { "\xe9" } },
	{ "\\xe9", "", { "\xc3\xa9" }, { "\xe9", "e" } },
	{ "a\\tb", "", { "a\tb" }, { "atb", "a b" } },
	{ "\\a\\e\\f\\v", "", { "\a\033\f\v" }, { "aefv" } },
	{ "\\0x", "F", { "\\0x" }, { "x" } },
	{ "\\cA", "", { "\001" }, { "cA", "A" } },
	{ "\\011?x\\0?", "", { "x", "\tx" }, { "0" } },
	{ "\\\\", "", { "\\" }, { "/" } },
	{ "\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\^\\$", "", { ".*+?()[]{}|^$" }, { ".*+?" } },
	{ "\\Qa.b*\\E+", "", { "a.b*", "a.b**" }, { "axb", "a.b" } },
	{ "\\Q(|)", "", { "(|)" }, { "()" } },
	{ "x\\Q\\Ey", "", { "xy" }, { "x" } },
	{ "\\Qab\\E{2}", "", { "abb" }, { "abab" } },
	/* classes */
	{ "[abc]", "", { "a", "xb" }, { "d", "" } },
	{ "[^abc]", "", { "d", "ad" }, { "abc", "", "a" } },
	{ "^[^abc]$",
	  "",
	  { "d", "\xc3\xa9", "\xe2\x82\xac", "\xff" },
	  { "dd", "\xc3\xa9\xc3\xa9" } },
	{ "[a-c]", "", { "b" }, { "d", "-" } },
	{ "[a-]", "", { "-", "a" }, { "b" } },
	{ "[-a]", "", { "-", "a" }, { "b" } },
	{ "[a\\-z]", "", { "-", "a", "z" }, { "b" } },
	{ "[\\d-x]", "", { "-", "5", "x" }, { "e" } },
	{ "[a-\\d]", "", { "-", "5", "a" }, { "b" } },
	{ "[\\]]", "", { "]" }, { "[" } },
	{ "[[]", "", { "[" }, { "]" } },
	{ "[a[]", "", { "[", "a" }, { "b" } },
	{ "x[]y", "", { 0 }, { "xy", "x]y", "x[]y" } },
	{ "x[^]y", "", { "x]y", "x y" }, { "xy" } },
	{ "[]", "", { 0 }, { "", "[]" } },
	{ "a|[]", "", { "a" }, { "b" } },
	{ "[.]", "", { "." }, { "a" } },
	{ "[$^*+?(){}|]", "", { "$", "^", "*", "|" }, { "a" } },
	{ "[\\n]x|y", "", { "y" }, { "x" } },
	{ "[^\\n]", "", { "a" }, { "" } },
	{ "[\\b]", "", { "\b" }, { "b" } },
	{ "[\\x41-\\x43]", "", { "B" }, { "D" } },
	{ "[\\u0430-\\u044f]", "", { "\xd0\xb6" }, { "\xd0\x96", "x" } },
	{ "[\xd0\xb0-\xd1\x8f]", "", { "\xd0\xb6" }, { "\xd0\x96" } },
	{ "^[^\xc3\xa9]+$",
	  "",
	  { "abc", "\xc3\xa8", "\xff", "\xe2\x82" },
	  { "\xc3\xa9", "a\xc3\xa9" } },
	{ "[[:alpha:]]", "", { "a", "Z" }, { "1", ":" } },
	{ "^[[:digit:][:space:]]+$", "", { "1 2" }, { "a" } },
	{ "[[:^digit:]]", "", { "a" }, { "1" } },
	{ "[[:upper:]]{2}", "", { "AB" }, { "Ab" } },
	{ "[[:xdigit:]]+h", "", { "fFh" }, { "gh" } },
	{ "[[:punct:]]", "", { "!", "_", "~" }, { "a", " " } },
	{ "[[:word:]]", "", { "_" }, { "-" } },
	{ "^[[:blank:]]*$", "", { "", " \t" }, { "\f" } },
	{ "[:alpha:]", "", { ":", "a", "p" }, { "z" } },
	{ "\\d+", "", { "1", "a12" }, { "a", "\xd9\xa1" } },
	{ "\\D", "", { "a", "\xc3\xa9" }, { "1", "" } },
	{ "^\\w+$", "", { "aZ_9" }, { "a-b", "\xc3\xa9", "" } },
	{ "^\\W+$", "", { "-+", "\xc3\xa9" }, { "a" } },
	{ "a\\sb",
	  "",
	  { "a b", "a\tb", "a\vb", "a\rb" },
	  { "ab", "a\xc2\xa0"
		  "b" } },
	{ "^\\S+$", "", { "abc", "\xc3\xa9" }, { "a b", "" } },
	{ "a\\hb", "", { "a b", "a\tb" }, { "a\rb", "ahb" } },
	{ "a\\Hb", "", { "axb" }, { "a b" } },
	{ "[\\w.+-]+@[\\w-]+\\.[\\w.-]+", "", { "x.y+z@host-1.example.org" }, { "@a.b", "a@b" } },
	{ "[\\s\\S]", "", { "a", " " }, { "" } },
	{ "[\\D\\d]", "", { "a", "1" }, { "" } },
	{ "[^\\d\\D]", "", { 0 }, { "a", "1" } },
	/* the dot and text that is not UTF-8 */
	{ "a.c",
	  "",
	  { "abc",
	    "a\xc3\xa9"
	    "c",
	    "a\xff"
	    "c",
	    "a\rc" },
	  { "ac", "abbc" } },
	{ "^.$",
	  "",
	  { "a", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xff", "\xe2\x82", "\x80" },
	  { "ab", "", "\xff\xff", "\x80\x80", "\xc3\xa9\xc3\xa9" } },
	{ "^..$",
	  "",
	  { "\xe0\x80", "\xed\xa0", "\xc3\xc3", "\xe2\x82\xe2", "\xf4\x90" },
	  { "\xe2\x82\xac", "\xc3\xa9", "\xe2\x82" } },
	{ "^.{3}$",
	  "",
	  { "\xe2\x82\xac\xc3\xa9x", "\xed\xa0\x80" },
	  { "\xe2\x82\xac", "\xc3\xa9x" } },
	{ "..", "", { "ab", "\xc3\xa9x" }, { "\xe2\x82\xac", "\xf0\x9f\x98\x80" } },
	{ ".*", "", { "", "a" }, { 0 } },
	{ ".+", "", { "a" }, { "" } },
	{ "printf.*err", "", { "printf(\"\xe9\", err)" }, { "printf", "err printf" } },
	/* repeats */
	{ "^a*$", "", { "", "a", "aaa" }, { "b" } },
	{ "^a+$", "", { "a", "aaa" }, { "", "b" } },
	{ "^a?$", "", { "", "a" }, { "aa" } },
	{ "^a{2}$", "", { "aa" }, { "a", "aaa" } },
	{ "^a{2,}$", "", { "aa", "aaaa" }, { "a" } },
	{ "^a{2,3}$", "", { "aa", "aaa" }, { "a", "aaaa" } },
	{ "^a{0}$", "", { "" }, { "a" } },
	{ "^a{0,1}b$", "", { "b", "ab" }, { "aab" } },
	{ "^(ab){2}$", "", { "abab" }, { "ab", "ababab" } },
	{ "^a*?b$", "", { "b", "aab" }, { "a" } },
	{ "^a+?$", "", { "aa" }, { "" } },
	{ "^a??b", "", { "ab", "b" }, { "aab" } },
	{ "^a{1,2}?$", "", { "a", "aa" }, { "aaa" } },
	{ "^(a*)*$", "", { "", "aa" }, { "b" } },
	{ "^(a|b)*c$", "", { "c", "abac" }, { "ab" } },
	{ "^(a+)+$", "", { "aaa" }, { "aab" } },
	{ "^(?:a{2}){3}$", "", { "aaaaaa" }, { "aaaaa" } },
	{ "^a{2}{3}$", "", { "aaaaaa" }, { "aa" } },
	{ "[A-Z]{5,}_[0-9]{3}", "", { "xABCDE_123", "ABCDEFG_0001" }, { "ABCD_123", "ABCDE_12" } },
	{ "x{1000}", "", { 0 }, { "xxx" } },
	{ "^(?:){5}a", "", { "a" }, { "b" } },
	{ ".*foo.*", "", { "foo", "xfoox" }, { "fo", "" } },
	{ "^.*foo.*$", "", { "foo", "xfoox", "\xff\tfoo\r" }, { "fo" } },
	{ "^.*?foo$", "", { "foo", "xfoo" }, { "foox" } },
	{ "^.*$", "", { "", "a" }, { 0 } },
	{ "^.+$", "", { "a" }, { "" } },
	{ "^[^x]*foo", "", { "foo", "yfoo" }, { "xfoo" } },
	{ "\\s*foo\\s+", "", { "foo ", "foo\t" }, { "foo" } },
	{ "(a*b)+c?", "", { "b", "aab" }, { "a", "c" } },
	{ "(a|b*)c*$", "", { "", "x" }, { 0 } },
	{ "(?:a+|b+c*)(?:d*e|f*)", "", { "a", "b" }, { "c" } },
	{ "a*\\bb+\\b", "", { "b", "x b", "abb b" }, { "ab", "bc" } },
	{ "(?:x{2,}y?){2,}", "", { "xxxx", "xxyxx" }, { "xxyx", "xxx" } },
	/* alternatives and groups */
	{ "a|b", "", { "a", "b" }, { "c" } },
	{ "foo|bar|baz", "", { "xfoox", "bar", "a baz" }, { "fo", "ba" } },
	{ "^(foo|foobar)$", "", { "foo", "foobar" }, { "foob" } },
	{ "a|", "", { "a", "", "b" }, { 0 } },
	{ "|a", "", { "a", "" }, { 0 } },
	{ "()", "", { "" }, { 0 } },
	{ "(?:ab|cd|ef){2}", "", { "abef", "xcdcdx" }, { "ab", "abxcd", "adcb" } },
	{ "^(a(b(c)))$", "", { "abc" }, { "ab" } },
	{ "(?P<year>\\d{4})-(?<m>\\d\\d)", "", { "2024-05" }, { "202-05" } },
	{ "(?'q'a)b", "", { "ab" }, { "b" } },
	{ "a(?#comment)b", "", { "ab" }, { "a" } },
	{ "(a|b)(c|d)", "", { "ac", "bd" }, { "ab", "cd" } },
	{ "foo(bar)?baz", "", { "foobaz", "foobarbaz" }, { "foobar" } },
	{ "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
	  "fifteen|sixteen|seventeen|eighteen|nineteen|twenty",
	  "",
	  { "xtwelvex", "twenty" },
	  { "thre", "zero" } },
	/* flags */
	{ "(?i)abc", "", { "ABC", "aBc" }, { "ab" } },
	{ "a(?i)b", "", { "aB", "ab" }, { "AB" } },
	{ "a(?i:b)c", "", { "aBc" }, { "aBC", "ABc" } },
	{ "(?i)a(?-i)b", "", { "Ab" }, { "AB" } },
	{ "(a(?i)b)c", "", { "aBc" }, { "aBC" } },
	{ "(?i)[a-c]x", "", { "BX" }, { "DX" } },
	{ "(?i)[^a]", "", { "b" }, { "a", "A" } },
	{ "(?i)caf\xc3\xa9", "", { "CAF\xc3\x89" }, { "CAFE" } },
	{ "(?i)\xd0\xb6", "", { "\xd0\x96", "\xd0\xb6" }, { "\xd0\xb7" } },
	{ "(?s)a.b", "", { "axb" }, { "ab" } },
	{ "(?m)^a$", "", { "a" }, { "ab" } },
	{ "(?im)^A", "", { "a" }, { "ba" } },
	{ "(?x) a b # comment", "", { "ab" }, { "a b" } },
	{ "(?x)a\\ b [ ]", "", { "a b " }, { "ab" } },
	{ "(?x)a {2}", "", { "aa" }, { "a" } },
	{ "(?u)a", "", { "a" }, { "b" } },
	{ "abc", "i", { "ABC", "abc" }, { "ab" } },
	{ "K1_x", "i", { "k1_X" }, { "k1-x" } },
	{ "foo|BAR", "i", { "FOO", "bar" }, { "baz" } },
	{ "(?-i)abc", "i", { "abc" }, { "ABC" } },
	{ "\\w+_INIT\\(", "i", { "my_init(" }, { "_init" } },
	/* literal */
	{ "a.b", "F", { "a.b" }, { "axb" } },
	{ "(?i)x", "F", { "(?i)x" }, { "x", "X" } },
	{ "[a", "F", { "[a" }, { "a" } },
	{ "A.b", "Fi", { "a.B" }, { "aXb" } },
	{ "\xc3\x89t", "Fi", { "\xc3\xa9T" }, { "\xc3\xa8t" } },
	{ "\\", "F", { "\\" }, { "/" } },
	{ "", "F", { "", "a" }, { 0 } },
	/* positions */
	{ "^abc", "", { "abcd" }, { "xabc" } },
	{ "abc$", "", { "xabc", "abc\r" }, { "abcd", "abc\rx" } },
	{ "^$", "", { "", "\r" }, { " " } },
	{ "^", "", { "", "a" }, { 0 } },
	{ "$", "", { "", "a" }, { 0 } },
	{ "a^b", "", { 0 }, { "ab", "a^b" } },
	{ "a$b", "", { 0 }, { "ab", "a$b" } },
	{ "(^a|b$)", "", { "ax", "xb" }, { "xa", "bx" } },
	{ "\\Aab", "", { "abc" }, { "cab" } },
	{ "ab\\z", "", { "cab" }, { "abc" } },
	{ "ab\\Z", "", { "cab" }, { "abc" } },
	{ "\\bskb\\b", "", { "skb", "(skb)", "skb->x" }, { "skbs", "_skb", "skb_put" } },
	{ "\\bfoo",
	  "",
	  { "foo", " foo", "-foox",
	    "\xc3\xa9"
	    "foo" },
	  { "afoo", "_foo" } },
	{ "foo\\b", "", { "foo", "foo-" }, { "foox", "foo_" } },
	{ "\\Bfoo", "", { "afoo" }, { "foo", " foo" } },
	{ "foo\\B", "", { "foox" }, { "foo", "foo " } },
	{ "^\\B$", "", { "" }, { "a" } },
	{ "\\B", "", { "", "ab", " " }, { "a" } },
	{ "\\b", "", { "a", " a" }, { "", " " } },
	{ "\\bat\\b.*\\bof\\b", "", { "at the end of it" }, { "hat of", "at off" } },
	{ "a\\b", "", { "a", "a " }, { "ab" } },
	{ "a\\bb", "", { 0 }, { "ab", "a b" } },
	{ "^static\\s+int\\s+\\w+\\(",
	  "",
	  { "static int f(", "static  int\tmain(" },
	  { " static int f(", "static int (" } },
	{ "\\w+_init\\(", "", { "x_init(", "module_init(foo)" }, { "_init", " _ini(" } },
	{ "^\\s*#\\s*include\\s+[<\"]",
	  "",
	  { "#include <a>", "  # include \"b\"" },
	  { "//#include <a>" } },
	{ "(?:^|[^a-z])if\\(", "", { "if(x", " if(" }, { "elif(" } },
	{ "TODO|FIXME|XXX", "", { "/* TODO */", "XXX" }, { "todo" } },
	{ "function\\s+\\w+\\s*\\([^)]*\\)\\s*{",
	  "",
	  { "function foo (a, b) {" },
	  { "function (a) {" } },
	{ "\\$\\{\\w+\\}", "", { "${abc}" }, { "$abc", "${}" } },
	{ "^(?!x)y", "P", { "y" }, { "xy" } },
	{ "foo(?=bar)", "P", { "foobar" }, { "foo", "foobaz" } },
	{ "foo(?!bar)", "P", { "foobaz", "foo" }, { "foobar" } },
	{ "(?<=a)b", "P", { "ab" }, { "b", "cb" } },
	{ "(?<!a)b", "P", { "b", "cb" }, { "ab" } },
	{ "(\\w)\\1", "P", { "aa", "hello" }, { "abab" } },
	{ "(?P<q>['\"]).*(?P=q)", "P", { "'a'", "\"b\"" }, { "'a\"" } },
	{ "(?<q>a|b)\\k<q>", "P", { "aa", "bb" }, { "ab" } },
	{ "(a)(b)\\g{2}\\g1", "P", { "abba" }, { "abab" } },
	{ "(a)\\g{-1}", "P", { "aa" }, { "ab" } },
	{ "(?i)(a)\\1", "P", { "aA" }, { "ab" } },
	{ "a++b", "P", { "aab" }, { "b" } },
	{ "a*+a", "P", { 0 }, { "aaa" } },
	{ "(?>a|ab)c", "P", { "ac" }, { "abc" } },
	{ "\\p{Lu}x", "P", { "\xc3\x89x", "Ax" }, { "ax" } },
	{ "\\pL+\\d",
	  "P",
	  { "\xc3\xa9"
	    "1" },
	  { "-1" } },
	{ "^(?=.*a)(?=.*b)", "P", { "xbya" }, { "xa", "b" } },
	{ "(?=foo{)x|y{", "P", { "y{" }, { "y" } },
};

static bool matches(const struct row *r, struct str line, const char *end)
{
	struct regex_options o = { .ignore_case = strchr(r->flags, 'i'),
				   .literal = strchr(r->flags, 'F') };
	struct err e = { 0 };
	struct regex *re = NULL;
	struct regex_match m = { 0 };
	char text[300];
	const int n = snprintf(text, sizeof(text), "%.*s%s", STR_FMT(line), end);

	if (regex_new(str_of(r->pattern), &o, &re, &e) < 0)
		fail_msg("/%s/: %s", r->pattern, e.msg);

	struct regex_cache *c = regex_cache_new(re);
	const struct str input = guarded((struct str){ text, (size_t)n });
	const int got = regex_next(re, c, input, 0, &forever, &m, &e);

	assert_true(got >= 0);
	if (got) {
		assert_int_equal(m.line, 0);
		assert_int_equal(m.line_end, line.n);
	}
	guarded_free(input);
	regex_cache_free(c);
	regex_free(re);
	return got;
}

static void expect(const struct row *r, const char *line, bool want)
{
	/* An empty text without a newline has no line. */
	for (int newline = *line == 0; newline < 2; newline++)
		if (matches(r, str_of(line), newline ? "\n" : "") != want)
			fail_msg("/%s/ (%s) on \"%s\"%s: want %d", r->pattern, r->flags, line,
				 newline ? " + newline" : "", want);
}

static bool have_pcre2(void)
{
	const struct regex_options o = { 0 };
	struct err e = { 0 };
	struct regex *re = NULL;

	if (regex_new(STR("(?=a)"), &o, &re, &e) < 0)
		return false;
	regex_free(re);
	return true;
}

static void test_lines(void **state)
{
	unsigned cases = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];

		if (strchr(r->flags, 'P') && !have_pcre2())
			continue;
		for (size_t k = 0; k < 6 && r->yes[k]; k++, cases++)
			expect(r, r->yes[k], true);
		for (size_t k = 0; k < 6 && r->no[k]; k++, cases++)
			expect(r, r->no[k], false);
	}
	print_message("%u lines\n", cases);
}

static const struct refused {
	const char *pattern, *says;
} refused[] = {
	{ "(", "byte 0: the group is not closed" },
	{ "a(b", "byte 1: the group is not closed" },
	{ ")", "byte 0: this ) closes no group" },
	{ "ab)c", "byte 2: this ) closes no group" },
	{ "[a", "byte 0: the bracket is not closed" },
	{ "x[^", "byte 1: the bracket is not closed" },
	{ "*a", "byte 0: there is nothing to repeat" },
	{ "a|+", "byte 2: there is nothing to repeat" },
	{ "(?:?)", "byte 3: there is nothing to repeat" },
	{ "(*UTF)a", "byte 1: there is nothing to repeat" },
	{ "a\\", "byte 1: a backslash ends the pattern" },
	{ "[\\", "backslash ends the pattern" },
	{ "[z-a]", "byte 1: the ends of the range are out of order" },
	{ "a{3,2}", "byte 1: the numbers of the repeat are out of order" },
	{ "a{65536}", "byte 1: a repeat is limited to 65535" },
	{ "a{1,99999999999999999999}", "a repeat is limited" },
	{ "a{60000}", "too large" },
	{ "(.{1,100}x){1,100}", "too large" },
	{ "((a{1,100}){1,100}){1,100}", "too large" },
	{ "((((){65535}){65535}){65535}){65535}", "too large" },
	{ "(?<n>a)(?<n>b)", "already taken" },
	{ "(?<>a)", "a group's name" },
	{ "(?<a-b>c)", "a group's name" },
	{ "\\k<x>", "no group of that name" },
	{ "(a)\\2", "there is no group 2" },
	{ "\\g{0}", "needs the number of a group" },
	{ "(a)\\g{-2}", "needs the number of a group" },
	{ "(?R)", "unknown flag or kind of group" },
	{ "(?(1)a)", "unknown flag or kind of group" },
	{ "(?|a)", "unknown flag or kind of group" },
	{ "(?z)", "unknown flag or kind of group" },
	{ "(?i", "unknown flag or kind of group" },
	{ "(?#x", "the comment is not closed" },
	{ "\\xZZ", "\\x needs 2 hexadecimal digits" },
	{ "\\u12", "\\u needs 4 hexadecimal digits" },
	{ "\\u{110000}", "not a Unicode character" },
	{ "\\ud800", "not a Unicode character" },
	{ "\\y", "\\y is not known" },
	{ "\\Ka", "\\K is not known" },
	{ "\\C", "\\C is not known" },
	{ "[[:foo:]]", "no class of that name" },
	{ "[\\pL]", "only outside of brackets" },
	{ "\\p{L", "a group's name" },
	{ "a\\nb", "byte 1: a match never crosses lines" },
	{ "a\nb", "byte 1: a match never crosses lines" },
	{ "\xff", "not valid UTF-8" },
};

static void test_refused(void **state)
{
	const struct regex_options o = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		const struct str pattern = guarded(str_of(refused[i].pattern));
		struct err e = { 0 };
		struct regex *re = NULL;

		if (regex_new(pattern, &o, &re, &e) != -1)
			fail_msg("/%s/ was accepted", refused[i].pattern);
		assert_int_equal(e.code, ERR_INVALID_REGEX);
		if (!strstr(e.msg, refused[i].says))
			fail_msg("/%s/: %s", refused[i].pattern, e.msg);
		guarded_free(pattern);
	}
}

/* n times the text, and a NUL. */
static char *many(const char *text, size_t n)
{
	const size_t len = strlen(text);
	char *p = mem_new(n * len + 1, 1);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++)
		memcpy(p + i * len, text, len);
	return p;
}

static void test_oversized(void **state)
{
	static const char *const units[] = {
		"a", "(", "[", "a|", "(a", "a?", "a{2}", "\\Q", "[^a]*"
	};
	const struct regex_options o = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		char *pattern = many(units[i], 100 << 10);
		struct err e = { 0 };
		struct regex *re = NULL;

		assert_int_equal(regex_new(str_of(pattern), &o, &re, &e), -1);
		assert_int_equal(e.code, ERR_INVALID_REGEX);
		assert_non_null(strstr(e.msg, "at most"));
		/* The largest pattern that is allowed must do no harm, whatever the result. */
		if (regex_new(str_upto(str_of(pattern), LIMIT_REGEX_PATTERN), &o, &re, &e) == 0)
			regex_free(re);
		mem_free(pattern);
	}
}

/* Groups in groups, each with as many quantifiers as there is room for. */
static void test_deep_trees(void **state)
{
	const struct regex_options o = { 0 };

	(void)state;
	for (unsigned groups = 1; groups <= LIMIT_REGEX_DEPTH; groups++) {
		AUTO_BUF pattern = { .max = LIMIT_REGEX_PATTERN };
		struct err e = { 0 };
		struct regex *re = NULL;
		char *stars = many("*", (LIMIT_REGEX_PATTERN - 8 * groups) / groups);

		for (unsigned i = 0; i < groups; i++)
			buf_add(&pattern, STR("("));
		buf_add(&pattern, STR("a"));
		for (unsigned i = 0; i < groups; i++)
			buf_addf(&pattern, ")%s", stars);
		assert_false(pattern.failed);
		assert_int_equal(regex_new(buf_str(&pattern), &o, &re, &e), -1);
		assert_non_null(strstr(e.msg, "repeats of repeats"));
		mem_free(stars);
	}
}

static void test_all_lines_in_order(void **state)
{
	static const char text[] = "foo\nbar\n\nxfoo\r\nnone\nfoo";
	static const size_t starts[] = { 0, 9, 20 };
	const struct regex_options o = { 0 };
	static const char *const patterns[] = { "foo", "fo+", "o{2}", "[f][^x]o", "foo$" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		const struct str input = guarded(str_of(text));
		struct regex *re = NULL;
		struct err e = { 0 };
		struct regex_match m;
		size_t from = 0, n = 0;

		assert_int_equal(regex_new(str_of(patterns[i]), &o, &re, &e), 0);

		struct regex_cache *c = regex_cache_new(re);

		while (regex_next(re, c, input, from, &forever, &m, &e) > 0) {
			assert_true(n < ARRAY_LEN(starts));
			assert_int_equal(m.line, starts[n++]);
			from = m.line_end + 1;
		}
		assert_int_equal(n, ARRAY_LEN(starts));
		guarded_free(input);
		regex_cache_free(c);
		regex_free(re);
	}
}

static const struct spans {
	const char *pattern, *text;
	size_t line, line_end, start, end;
} spans[] = {
	{ "foo\\s+bar", "x\nfoo\n  bar y\nz\n", 2, 13, 2, 11 },
	{ "a\\nb", "xa\nb\n", 0, 4, 1, 4 },
	{ "a", "b\na\n", 2, 3, 2, 3 },
	{ "^b$", "a\nb\nc", 2, 3, 2, 3 },
	{ "(?s)a.*c", "1\na\nb\nc\n2\n", 2, 7, 2, 7 },
	{ "(?s)a.*?b", "a\nb b\n", 0, 5, 0, 3 },
	{ "abcdef|cd", "xabcdefx\n", 0, 8, 1, 7 },
	{ "a|ab", "ab", 0, 2, 0, 1 },
	{ "ab|a", "ab", 0, 2, 0, 2 },
	{ "\\Aa", "a\na", 0, 1, 0, 1 },
	{ "a\\z", "a\na", 2, 3, 2, 3 },
	{ "b\\n\\z", "b\nb\n", 2, 3, 2, 4 },
	{ "\\n", "a\nb", 0, 1, 1, 2 },
	{ "{\\s*}", "f() {\n\n}\n", 0, 8, 4, 8 },
	{ "x*", "aaa", 0, 3, 0, 0 },
	{ "[^x]+y", "x\xc3\xa9\ny", 0, 5, 1, 5 },
};

static void test_multiline(void **state)
{
	const struct regex_options o = { .multiline = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
		const struct str text = guarded(str_of(spans[i].text));
		struct regex *re = NULL;
		struct err e = { 0 };
		struct regex_match m = { 0 };

		assert_int_equal(regex_new(str_of(spans[i].pattern), &o, &re, &e), 0);

		struct regex_cache *c = regex_cache_new(re);

		if (regex_next(re, c, text, 0, &forever, &m, &e) != 1 || m.line != spans[i].line ||
		    m.line_end != spans[i].line_end || m.start != spans[i].start ||
		    m.end != spans[i].end)
			fail_msg("/%s/: line %zu-%zu match %zu-%zu", spans[i].pattern, m.line,
				 m.line_end, m.start, m.end);
		guarded_free(text);
		regex_cache_free(c);
		regex_free(re);
	}
}

static void test_multiline_needs_no_pcre(void **state)
{
	const struct regex_options o = { .multiline = true };
	struct regex *re = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(regex_new(STR("a(?=b)"), &o, &re, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_REGEX);
}

/* A search whose time is over before it begins, with a pattern that checks the clock. */
static int over(const char *pattern, const char *line, const struct regex_budget *budget,
		struct err *e)
{
	const struct regex_options o = { 0 };
	char *text = many(line, 300 << 10);
	struct regex *re = NULL;
	struct regex_match m;

	assert_int_equal(regex_new(str_of(pattern), &o, &re, e), 0);

	struct regex_cache *c = regex_cache_new(re);
	const int got = regex_next(re, c, str_of(text), 0, budget, &m, e);

	regex_cache_free(c);
	regex_free(re);
	mem_free(text);
	return got;
}

static void test_budget(void **state)
{
	static const char *const patterns[] = { "^[^a]{2}[^b]", "^(?!.)[^b]" };
	const struct cancel cancelled = { .asked = true, .fd = -1 };
	const struct regex_budget gone = { IO_FOREVER, &cancelled }, late = { 1, NULL };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		if (i == 1 && !have_pcre2())
			continue;
		assert_int_equal(over(patterns[i], "abba\n", &gone, &e), -1);
		assert_int_equal(e.code, ERR_SEARCH_TIMEOUT);
		assert_int_equal(over(patterns[i], "abba\n", &late, &e), -1);
		assert_int_equal(e.code, ERR_SEARCH_TIMEOUT);
	}
}

static void test_pcre_gives_up(void **state)
{
	char line[LIMIT_PCRE_LINE];
	const struct regex_options o = { 0 };
	struct regex *re = NULL;
	struct regex_match m;
	struct err e = { 0 };

	(void)state;
	if (!have_pcre2())
		skip_because("built without PCRE2");
	memset(line, 'a', sizeof(line));
	assert_int_equal(regex_new(STR("(?=a)a*a*a*a*[bc]"), &o, &re, &e), 0);

	struct regex_cache *c = regex_cache_new(re);

	assert_int_equal(regex_next(re, c, (struct str){ line, sizeof(line) }, 0, &forever, &m, &e),
			 -1);
	assert_int_equal(e.code, ERR_SEARCH_TIMEOUT);
	assert_int_equal(regex_lines_skipped(c), 0);
	regex_cache_free(c);
	regex_free(re);
}

static void test_pcre_skips_long_lines(void **state)
{
	char *text = many("a", LIMIT_PCRE_LINE + 1);
	const struct regex_options o = { 0 };
	struct regex *re = NULL;
	struct regex_match m;
	struct err e = { 0 };

	(void)state;
	if (have_pcre2()) {
		assert_int_equal(regex_new(STR("a(?!b)"), &o, &re, &e), 0);

		struct regex_cache *c = regex_cache_new(re);

		assert_int_equal(regex_next(re, c, str_of(text), 0, &forever, &m, &e), 0);
		assert_int_equal(regex_lines_skipped(c), 1);
		regex_cache_free(c);
		regex_free(re);
	}
	mem_free(text);
}

struct share {
	const struct regex *re;
	struct str text;
	unsigned lines;
};

static void *count_lines(void *arg)
{
	struct share *s = arg;
	struct regex_cache *c = regex_cache_new(s->re);
	struct regex_match m;
	struct err e;
	size_t from = 0;

	while (c && regex_next(s->re, c, s->text, from, &forever, &m, &e) > 0) {
		from = m.line_end + 1;
		s->lines++;
	}
	regex_cache_free(c);
	return NULL;
}

static void test_threads_share_a_pattern(void **state)
{
	static const char *const patterns[] = { "skb", "ab|kb->", "[^x]\\w+->", "(?!x)skb->" };
	const struct regex_options o = { 0 };
	char *text = many("skb->len\nxyz\n", 1000);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		struct regex *re = NULL;
		struct err e;
		struct share shares[4] = { 0 };
		pthread_t threads[4];

		if (i == 3 && !have_pcre2())
			continue;
		assert_int_equal(regex_new(str_of(patterns[i]), &o, &re, &e), 0);
		for (size_t k = 0; k < 4; k++) {
			shares[k] = (struct share){ .re = re, .text = str_of(text) };
			assert_int_equal(pthread_create(&threads[k], NULL, count_lines, &shares[k]),
					 0);
		}
		for (size_t k = 0; k < 4; k++) {
			assert_int_equal(pthread_join(threads[k], NULL), 0);
			assert_int_equal(shares[k].lines, 1000);
		}
		regex_free(re);
	}
	mem_free(text);
}

static void test_needs_a_literal(void **state)
{
	static const struct {
		const char *pattern;
		bool has;
	} cases[] = {
		{ "foo", true },	   { "\\w+_init\\(", true }, { "(?:ab|cd|ef){2}", true },
		{ "\\w+", false },	   { "^$", false },	     { "[A-Z]{5,}_[0-9]{3}", true },
		{ "(foo|bar)?", false },   { "foo|.*", false },	     { "(?i)mutex", true },
		{ "[^x]*foo[^x]*", true }, { "(a|b)*xyzzy", true },  { "", false },
	};
	const struct regex_options o = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { .max = LIMIT_REGEX_ARENA };
		struct ast_pattern p = { 0 };
		struct need need = { 0 };
		struct err e = { 0 };

		assert_int_equal(regex_parse(str_of(cases[i].pattern), &o, &arena, &p, &e), 0);
		ast_trim(&p);
		assert_int_equal(need_init(&need, &p), 0);
		if ((need.kind != NEED_NOTHING) != cases[i].has)
			fail_msg("/%s/", cases[i].pattern);
		need_done(&need);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_oversized),
		cmocka_unit_test(test_deep_trees),
		cmocka_unit_test(test_all_lines_in_order),
		cmocka_unit_test(test_multiline),
		cmocka_unit_test(test_multiline_needs_no_pcre),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_pcre_gives_up),
		cmocka_unit_test(test_pcre_skips_long_lines),
		cmocka_unit_test(test_threads_share_a_pattern),
		cmocka_unit_test(test_needs_a_literal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
