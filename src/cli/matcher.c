/* SPDX-License-Identifier: MIT */
/* matcher: join patterns, and find what matches in a line. */

#include "cli/matcher.h"

#include <string.h>

#include "base/buf.h"
#include "base/io.h"

/* Add a pattern as one part of another. */
static void add_part(struct buf *to, const char *pattern, bool literal)
{
	buf_add(to, STR("(?:"));
	for (; *pattern; pattern++) {
		if (literal && strchr("\\^$.|?*+()[]{}", *pattern))
			buf_addc(to, '\\');
		buf_addc(to, *pattern);
	}
	buf_addc(to, ')');
}

static bool has_upper(const char *pattern, bool literal)
{
	for (; *pattern; pattern++) {
		if (!literal && *pattern == '\\' && pattern[1])
			pattern++; /* \S is a class, not a letter */
		else if (*pattern >= 'A' && *pattern <= 'Z')
			return true;
	}
	return false;
}

int matcher_init(struct matcher *m, const struct matcher_options *o, const char *const *patterns,
		 size_t count, struct arena *memory, struct err *e)
{
	const bool alone = count == 1 && !o->word && !o->line;
	size_t size = 16;
	bool upper = false;

	for (size_t i = 0; i < count; i++) {
		size += 2 * strlen(patterns[i]) + 8;
		upper |= has_upper(patterns[i], o->literal);
	}
	*m = (struct matcher){ .pattern = patterns[0],
			       .literal = o->literal && alone,
			       .ignore_case = o->ignore_case || (o->smart_case && !upper) };
	if (alone)
		return 0;
	char *to = arena_alloc(memory, size);
	struct buf b = buf_over(to, to ? size : 0);
	buf_add(&b, o->line ? STR("^(?:") : o->word ? STR("\\b(?:") : STR("(?:"));
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_addc(&b, '|');
		add_part(&b, patterns[i], o->literal);
	}
	buf_add(&b, o->line ? STR(")$") : o->word ? STR(")\\b") : STR(")"));
	buf_addc(&b, '\0');
	m->pattern = to;
	return to ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory");
}

int matcher_compile(struct matcher *m, struct err *e)
{
	const struct regex_options o = { m->literal, m->ignore_case, true };
	struct regex *regex;

	if (regex_new(str_of(m->pattern), &o, &regex, e) < 0)
		return -1;
	m->regex = regex;
	m->cache = regex_cache_new(regex);
	return m->cache ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory");
}

bool matcher_next(struct matcher *m, struct str line, size_t *from, struct regex_match *ret)
{
	const struct regex_budget forever = { .deadline_ms = IO_FOREVER };
	struct err e;

	while (m->cache && *from < line.n) {
		if (regex_next(m->regex, m->cache, line, *from, &forever, ret, &e) <= 0)
			return false;
		*from = ret->end > ret->start ? ret->end : ret->end + 1;
		if (ret->end > ret->start)
			return true;
	}
	return false;
}

void matcher_done(struct matcher *m)
{
	regex_cache_free(m->cache);
	regex_free(m->regex);
}
