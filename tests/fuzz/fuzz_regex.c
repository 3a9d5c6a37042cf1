/* SPDX-License-Identifier: MIT */
/*
 * fuzz_regex: any bytes as pattern and text. Nothing may crash; on the regular subset every line's
 * verdict and every multiline match must be what PCRE2's interpreter says.
 *
 * Input: one byte of options, the pattern, a 0xff byte, the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/utf8.h"
#include "regex_oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct regex_budget forever = { .deadline_ms = IO_FOREVER };

struct subject {
	struct str pattern, text;
	struct regex_options options;
	struct regex *re;
	struct regex_cache *cache;
	struct oracle oracle;
	bool comparable; /* the oracle can be asked */
};

static void differ(const struct subject *s, size_t line, int got, int want)
{
	fprintf(stderr, "/%.*s/ at %zu: got %d, want %d\n", STR_FMT(s->pattern), line, got, want);
	abort();
}

static void compare_lines(struct subject *s)
{
	struct regex_match m = { 0 };
	struct err e;
	size_t from = 0, start, end;
	int got = regex_next(s->re, s->cache, s->text, 0, &forever, &m, &e);

	while (from < s->text.n && got >= 0) {
		const char *newline = memchr(s->text.p + from, '\n', s->text.n - from);
		const size_t stop = newline ? (size_t)(newline - s->text.p) : s->text.n;
		const struct str line = str_from(str_upto(s->text, stop), from);
		const bool hit = got > 0 && m.line == from;

		if (got > 0 && (m.line < from || (hit && m.line_end != stop)))
			differ(s, from, -2, 0);
		if (s->comparable && utf8_valid(line)) {
			const int want = oracle_match(&s->oracle, line, &start, &end);

			if (want >= 0 && want != hit)
				differ(s, from, hit, want);
		}
		from = stop + 1;
		if (hit)
			got = regex_next(s->re, s->cache, s->text, from, &forever, &m, &e);
	}
}

static void compare_multiline(struct subject *s)
{
	struct regex_match m = { 0 };
	struct err e;
	size_t start, end;
	const int got = regex_next(s->re, s->cache, s->text, 0, &forever, &m, &e);

	if (got > 0 && (m.start < m.line || m.end > m.line_end + 1 || m.start > m.end))
		differ(s, m.start, -2, 0);
	if (!s->comparable || !utf8_valid(s->text) || s->text.n == 0)
		return;

	const int want = oracle_match(&s->oracle, s->text, &start, &end);

	if (want < 0 || (want && start == s->text.n && s->text.p[start - 1] == '\n'))
		return;
	if (got != want || (got && m.start != start))
		differ(s, got ? m.start : 0, got, want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct subject s = { 0 };
	struct err e = { 0 };

	if (size < 2 || size > 2000)
		return 0;

	const struct str rest = { (const char *)data + 1, size - 1 };

	s.options.ignore_case = data[0] & 1;
	s.options.multiline = data[0] & 2;
	s.options.literal = (data[0] & 12) == 12;
	str_cut(rest, (char)0xff, &s.pattern, &s.text);
	if (regex_new(s.pattern, &s.options, &s.re, &e) < 0)
		return 0;
	s.cache = regex_cache_new(s.re);
	if (!s.cache)
		abort();
	s.comparable = oracle_init(&s.oracle, ORACLE_TREE, s.pattern, &s.options);
	if (s.options.multiline)
		compare_multiline(&s);
	else
		compare_lines(&s);
	oracle_done(&s.oracle);
	regex_cache_free(s.cache);
	regex_free(s.re);
	return 0;
}
