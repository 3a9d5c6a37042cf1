/* SPDX-License-Identifier: MIT */
/* regex: random regular patterns on random lines, compared with PCRE2's interpreter. */

#include "unit.h"

#ifdef HAVE_PCRE2

#include "base/buf.h"
#include "base/io.h"
#include "regex_oracle.h"

enum { PATTERNS = 3000, LINES = 24 };

static const struct regex_budget forever = { .deadline_ms = IO_FOREVER };

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

static unsigned pick(uint64_t *seed, unsigned n)
{
	return next_random(seed) % n;
}

static void add_atom(struct buf *b, uint64_t *seed)
{
	static const char *const atoms[] = {
		"a",
		"b",
		"c",
		"A",
		"_",
		"1",
		" ",
		"\xc3\xa9",
		"\xd0\xb6",
		".",
		".",
		"[ab]",
		"[^a]",
		"\\w",
		"\\d",
		"\\s",
		"\\W",
		"\\D",
		"\\S",
		"[a-c]",
		"[^b1]",
		"[\\w-]",
		"[\xc3\xa9-\xd0\xb6]",
		"[^\xc3\xa9]",
		"[[:alpha:]_]",
		"\\x61",
		"abc",
		"a_1",
		"\\bb",
		"\\b",
		"\\B",
		"^",
		"$",
		"b\\B",
		"",
	};

	buf_add(b, str_of(atoms[pick(seed, ARRAY_LEN(atoms))]));
}

static void add_pattern(struct buf *b, uint64_t *seed, unsigned depth)
{
	static const char *const opens[] = { "(?:", "(", "(?i:", "(?:" };
	static const char *const quantifiers[] = { "*",	   "+",	 "?",  "{2}",	 "{1,2}", "{0,3}",
						   "{2,}", "*?", "+?", "{1,3}?", "",	  "" };
	const unsigned parts = 1 + pick(seed, 4);

	for (unsigned i = 0; i < parts; i++) {
		if (depth == 0 || pick(seed, 3)) {
			const size_t before = b->n;

			add_atom(b, seed);
			/* PCRE2 treats repeated positions differently: leave them out. */
			if (b->n == before || strchr("^$", b->p[b->n - 1]) ||
			    (b->n > 1 && b->p[b->n - 2] == '\\' && strchr("bB", b->p[b->n - 1])))
				continue;
		} else {
			buf_add(b, str_of(opens[pick(seed, ARRAY_LEN(opens))]));
			add_pattern(b, seed, depth - 1);
			for (unsigned k = pick(seed, 3); k > 0; k--) {
				buf_addc(b, '|');
				add_pattern(b, seed, depth - 1);
			}
			buf_addc(b, ')');
		}
		if (!pick(seed, 3))
			buf_add(b, str_of(quantifiers[pick(seed, ARRAY_LEN(quantifiers))]));
	}
}

static void add_line(struct buf *b, uint64_t *seed)
{
	static const char *const bits[] = {
		"a", "b", "c", "A",	   "B",	       "_",	   "1",
		" ", "-", "a", "\xc3\xa9", "\xc3\x89", "\xd0\xb6", "abc"
	};

	for (unsigned n = pick(seed, 12); n > 0; n--)
		buf_add(b, str_of(bits[pick(seed, ARRAY_LEN(bits))]));
}

struct subject {
	struct str pattern;
	struct regex *re;
	struct regex_cache *cache;
	struct oracle oracle;
	unsigned compared;
};

static void compare_line(struct subject *s, struct str line)
{
	struct regex_match m;
	struct err e;
	size_t start, end;
	const struct str text = guarded(line);
	const int want = oracle_match(&s->oracle, text, &start, &end);
	const int got = regex_next(s->re, s->cache, text, 0, &forever, &m, &e);

	if (want >= 0 && text.n > 0 && got != want)
		fail_msg("/%.*s/ on \"%.*s\": got %d, PCRE2 says %d", STR_FMT(s->pattern),
			 STR_FMT(text), got, want);
	s->compared += want >= 0;
	guarded_free(text);
}

/* A repeated group may match the empty text; matchers differ on where such a loop ends.
 */
static bool repeats_a_group(struct str pattern)
{
	for (size_t i = 0; i + 1 < pattern.n; i++)
		if (pattern.p[i] == ')' && strchr("*+{?", pattern.p[i + 1]))
			return true;
	return false;
}

static void compare_span(struct subject *s, struct str text)
{
	struct regex_match m = { 0 };
	struct err e;
	size_t start = 0, end = 0;
	const int want = oracle_match(&s->oracle, text, &start, &end);
	const int got = regex_next(s->re, s->cache, text, 0, &forever, &m, &e);

	if (want < 0 || text.n == 0 || (want && start == text.n && text.p[start - 1] == '\n'))
		return;
	if (got != want || (got && m.start != start) ||
	    (got && m.end != end && !repeats_a_group(s->pattern)))
		fail_msg("/%.*s/ on \"%.*s\": got %d %zu-%zu, PCRE2 says %d %zu-%zu",
			 STR_FMT(s->pattern), STR_FMT(text), got, m.start, m.end, want, start, end);
	s->compared++;
}

static unsigned compare(uint64_t seed, bool multiline, enum oracle_kind kind)
{
	const struct regex_options o = { .multiline = multiline, .ignore_case = seed % 5 == 0 };
	AUTO_BUF pattern = { .max = 4096 };
	AUTO_BUF text = { .max = 4096 };
	struct subject s = { 0 };
	struct err e = { 0 };

	add_pattern(&pattern, &seed, 2);
	s.pattern = buf_str(&pattern);
	if (regex_new(s.pattern, &o, &s.re, &e) < 0)
		fail_msg("/%.*s/: %s", STR_FMT(s.pattern), e.msg);
	s.cache = regex_cache_new(s.re);
	if (!oracle_init(&s.oracle, kind, s.pattern, &o))
		fail_msg("/%.*s/ is not for PCRE2", STR_FMT(s.pattern));
	for (unsigned i = 0; i < LINES; i++) {
		buf_reset(&text, text.cap);
		add_line(&text, &seed);
		if (!multiline) {
			compare_line(&s, buf_str(&text));
			continue;
		}
		buf_addc(&text, '\n');
		add_line(&text, &seed);
		compare_span(&s, buf_str(&text));
	}
	oracle_done(&s.oracle);
	regex_cache_free(s.cache);
	regex_free(s.re);
	return s.compared;
}

static void run(bool multiline, enum oracle_kind kind)
{
	unsigned compared = 0;

	for (uint64_t i = 1; i <= PATTERNS; i++)
		compared += compare(i * 7919 + multiline, multiline, kind);
	print_message("%u texts\n", compared);
	assert_true(compared > PATTERNS * LINES / 2);
}

static void test_lines_as_parsed_by_pcre(void **state)
{
	(void)state;
	run(false, ORACLE_TEXT);
}

static void test_lines_of_the_tree(void **state)
{
	(void)state;
	run(false, ORACLE_TREE);
}

static void test_spans(void **state)
{
	(void)state;
	run(true, ORACLE_TREE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_as_parsed_by_pcre),
		cmocka_unit_test(test_lines_of_the_tree),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	(void)puts("1..0 # SKIP built without PCRE2");
	return 0;
}

#endif
