/* SPDX-License-Identifier: MIT */
/* pattern: parse an operator's pattern. */

#include "scrub/pattern.h"

#include "base/buf.h"
#include "scrub/limits.h"

struct pattern_parser {
	struct str rest;
	const char *wrong; /* the reason of a refusal; pattern_next adds the line */
};

static int peek(const struct pattern_parser *p)
{
	return p->rest.n ? (unsigned char)p->rest.p[0] : -1;
}

static int take(struct pattern_parser *p)
{
	const int c = peek(p);

	p->rest = str_from(p->rest, 1);
	return c;
}

static bool refuse(struct pattern_parser *p, const char *why)
{
	p->wrong = why;
	return false;
}

static void skip_blanks(struct pattern_parser *p)
{
	while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\r')
		(void)take(p);
}

static void skip_comment(struct pattern_parser *p)
{
	skip_blanks(p);
	if (peek(p) == '#')
		while (peek(p) >= 0 && peek(p) != '\n')
			(void)take(p);
}

static bool is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool parse_name(struct pattern_parser *p, struct str *name)
{
	*name = p->rest;
	while (is_name(peek(p)))
		(void)take(p);
	name->n -= p->rest.n;
	if (name->n == 0 || name->n > LIMIT_SCRUB_PATTERN_NAME)
		return refuse(p, "it must begin with a name of 1 to 32 lower-case letters, digits "
				 "and dashes");
	skip_blanks(p);
	if (take(p) != ':')
		return refuse(p, "a colon must follow the name");
	skip_blanks(p);
	return true;
}

/* One character, or the one after a backslash; -1 at the end of the line. */
static int take_char(struct pattern_parser *p)
{
	if (peek(p) == '\\')
		(void)take(p);
	return peek(p) == '\n' ? -1 : take(p);
}

static bool parse_prefix(struct pattern_parser *p, struct buf *prefix)
{
	while (peek(p) != '[') {
		const int c = peek(p) == ';' ? -1 : take_char(p);
		if (c < 0)
			return refuse(p, "a class in [brackets] must follow the characters at the "
					 "beginning");
		buf_addc(prefix, (char)c);
	}
	if (prefix->n < SHAPE_KEY || prefix->failed)
		return refuse(p, "3 to 256 characters must stand before the class");
	(void)take(p);
	return true;
}

static bool parse_class(struct pattern_parser *p, struct byteset *set)
{
	bool any = false;

	if (peek(p) == '^')
		return refuse(p, "a class says which characters belong to it; [^...] is not known");
	while (peek(p) != ']') {
		const int from = take_char(p);
		int to = from;
		if (peek(p) == '-' && p->rest.n > 1 && p->rest.p[1] != ']') {
			(void)take(p);
			to = take_char(p);
		}
		if (from < 0 || to < 0)
			return refuse(p, "the class is not closed by ]");
		if (from <= ' ' || to >= 0x7f || from > to)
			return refuse(p, "a class has printable ASCII characters and rising ranges "
					 "only");
		for (int c = from; c <= to; c++)
			byteset_add(set, (unsigned char)c);
		any = true;
	}
	(void)take(p);
	return any || refuse(p, "the class is empty");
}

static bool parse_number(struct pattern_parser *p, uint16_t *ret)
{
	unsigned n = 0;

	if (peek(p) < '0' || peek(p) > '9')
		return false;
	while (peek(p) >= '0' && peek(p) <= '9' && n <= LIMIT_SCRUB_PATTERN_RUN)
		n = n * 10 + (unsigned)(take(p) - '0');
	*ret = (uint16_t)n;
	return n >= 1 && n <= LIMIT_SCRUB_PATTERN_RUN;
}

static bool parse_count(struct pattern_parser *p, struct shape *s)
{
	static const char why[] =
		"how many follow must be written {8}, {8,} or {8,64}, with numbers "
		"from 1 to 1024";

	if (take(p) != '{' || !parse_number(p, &s->min))
		return refuse(p, why);
	if (peek(p) != ',')
		s->max = s->min;
	else if (take(p) && peek(p) != '}' && (!parse_number(p, &s->max) || s->max < s->min))
		return refuse(p, why);
	if (take(p) != '}')
		return refuse(p, why);
	skip_comment(p);
	if (peek(p) >= 0 && peek(p) != '\n' && peek(p) != ';')
		return refuse(p, "nothing may follow the count but a comment");
	return true;
}

int pattern_next(struct str *rest, struct arena *a, struct shape *ret, struct err *e)
{
	enum { PREFIX_MAX = 256, SHOWN = 120 };
	struct pattern_parser p = { .rest = *rest };
	AUTO_BUF prefix = { .max = PREFIX_MAX };
	struct byteset *set = arena_array(a, 1, sizeof *set);
	struct shape s = { .rest = shape_token, .set = set, .kind = SCRUB_PATTERN };
	struct str name, line, tail;

	for (skip_comment(&p); peek(&p) == '\n' || peek(&p) == ';'; skip_comment(&p))
		(void)take(&p);
	if (peek(&p) < 0)
		return 0;
	(void)str_cut(p.rest, '\n', &line, &tail);
	if (set && !(parse_name(&p, &name) && parse_prefix(&p, &prefix) && parse_class(&p, set) &&
		     parse_count(&p, &s)))
		return err_set(e, ERR_INVALID_ARGUMENTS, "Scrub pattern \"%.*s\": %s.",
			       STR_FMT(str_upto(line, SHOWN)), p.wrong);
	if (set) {
		s.name = arena_dup(a, name).p;
		s.begins = arena_dup(a, buf_str(&prefix));
	}
	if (a->failed)
		return err_set(e, ERR_EXECUTION_ERROR, "No memory for the scrub patterns.");
	*rest = p.rest;
	*ret = s;
	return 1;
}
