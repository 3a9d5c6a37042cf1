/* SPDX-License-Identifier: MIT */
/* regex_class: bracket expressions and the classes that have names. */

#include "regex/regex_parser.h"

static const struct named_class {
	const char *name;
	struct char_range ranges[4];
	unsigned n;
} named_classes[] = {
	{ "d", { { '0', '9' } }, 1 },
	{ "w", { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } }, 4 },
	{ "s", { { '\t', '\r' }, { ' ', ' ' } }, 2 },
	{ "h", { { '\t', '\t' }, { ' ', ' ' } }, 2 },
	{ "alpha", { { 'A', 'Z' }, { 'a', 'z' } }, 2 },
	{ "digit", { { '0', '9' } }, 1 },
	{ "alnum", { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } }, 3 },
	{ "upper", { { 'A', 'Z' } }, 1 },
	{ "lower", { { 'a', 'z' } }, 1 },
	{ "space", { { '\t', '\r' }, { ' ', ' ' } }, 2 },
	{ "blank", { { '\t', '\t' }, { ' ', ' ' } }, 2 },
	{ "punct", { { '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' } }, 4 },
	{ "xdigit", { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } }, 3 },
	{ "cntrl", { { 0, 0x1f }, { 0x7f, 0x7f } }, 2 },
	{ "print", { { ' ', '~' } }, 1 },
	{ "graph", { { '!', '~' } }, 1 },
	{ "word", { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } }, 4 },
	{ "ascii", { { 0, 0x7f } }, 1 },
};

static bool named_class(struct str name, struct charset *ret, struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(named_classes); i++) {
		if (!str_eq(name, str_of(named_classes[i].name)))
			continue;
		for (unsigned k = 0; k < named_classes[i].n; k++)
			charset_add(ret, named_classes[i].ranges[k].lo,
				    named_classes[i].ranges[k].hi, a);
		return true;
	}
	return false;
}

bool parser_perl_class(struct parser *p, struct charset *ret)
{
	const int letter = parser_peek(p, 0);
	const char lower = (char)(letter | 0x20);

	if (letter <= 0 || !strchr("dDwWsShH", letter))
		return false;
	p->at++;
	named_class((struct str){ &lower, 1 }, ret, p->arena);
	if (letter != lower)
		charset_negate(ret, p->arena);
	return true;
}

/* [:alpha:] or [:^alpha:] inside of a class: 1 when it stood here, 0 when not, -1 with *e set. */
static int posix_class(struct parser *p, struct charset *ret)
{
	const size_t at = p->at;
	struct str rest = str_from(p->in, at), name, tail;
	struct charset set = { 0 };

	if (!str_starts(rest, STR("[:")) || !str_cut(str_from(rest, 2), ':', &name, &tail) ||
	    !str_starts(tail, STR("]")))
		return 0;

	const bool negated = str_starts(name, STR("^"));

	if (!named_class(str_from(name, negated), &set, p->arena) || name.n < 2)
		return parser_fail(p, at, "there is no class of that name");
	if (negated)
		charset_negate(&set, p->arena);
	charset_add_all(ret, &set, p->arena);
	p->at += name.n + 4;
	return 1;
}

/* One member: 1 when it is the single character *c, 0 when a whole class was added to set, -1. */
static int member(struct parser *p, struct charset *set, uint32_t *c)
{
	const int posix = posix_class(p, set);
	struct charset perl = { 0 };

	if (posix != 0)
		return posix < 0 ? -1 : 0;
	if (!parser_take(p, "\\")) {
		*c = parser_code_point(p);
		return 1;
	}
	if (parser_perl_class(p, &perl)) {
		charset_add_all(set, &perl, p->arena);
		return 0;
	}
	if (parser_take(p, "b")) {
		*c = '\b';
		return 1;
	}
	if (parser_peek(p, 0) == 'p' || parser_peek(p, 0) == 'P')
		return parser_fail(p, p->at - 1,
				   "\\p stands only outside of brackets: (?:\\p{L}|[0-9])");

	const int64_t got = parser_char_escape(p);

	*c = (uint32_t)got;
	return got < 0 ? -1 : 1;
}

/* A member and, when a hyphen follows, the end of its range. */
static int member_range(struct parser *p, struct charset *set)
{
	const size_t at = p->at;
	uint32_t lo, hi;
	int kind = member(p, set, &lo);

	if (kind <= 0)
		return kind;
	if (parser_peek(p, 0) != '-' || parser_peek(p, 1) == ']' || parser_peek(p, 1) < 0) {
		charset_add(set, lo, lo, p->arena);
		return 0;
	}
	p->at++;
	kind = member(p, set, &hi);
	if (kind < 0)
		return -1;
	if (kind == 0) { /* [a-\d]: the hyphen stands for itself */
		charset_add(set, lo, lo, p->arena);
		charset_add(set, '-', '-', p->arena);
		return 0;
	}
	if (hi < lo)
		return parser_fail(p, at, "the ends of the range are out of order");
	charset_add(set, lo, hi, p->arena);
	return 0;
}

struct ast *parser_class(struct parser *p)
{
	const size_t open = p->at - 1;
	const bool negated = parser_take(p, "^");
	struct charset set = { 0 };

	while (!parser_take(p, "]")) {
		if (p->at >= p->in.n)
			return parser_fail(p, open,
					   "the bracket is not closed; write \\[ for a "
					   "bracket"),
			       NULL;
		if (member_range(p, &set) < 0)
			return NULL;
	}
	if (p->flags.nocase)
		charset_fold(&set, p->arena);
	if (negated)
		charset_negate(&set, p->arena);
	return parser_chars(p, set);
}
