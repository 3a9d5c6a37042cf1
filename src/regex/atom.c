/* SPDX-License-Identifier: MIT */
/* atom: read characters, escapes and classes. */

#include "regex/atom.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

int parser_fail(struct regex_parser *p, size_t at, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	(void)err_set(p->e, ERR_INVALID_REGEX, "Invalid pattern at byte %zu: %s.", at, why);
	return err_advise(p->e, "To search for the text as it stands, pass literal:true");
}

struct ast *atom_node(struct regex_parser *p, enum ast_kind kind)
{
	struct ast *node = arena_array(p->arena, 1, sizeof(*node));

	if (!node) {
		err_set(p->e, ERR_INVALID_REGEX, "The pattern is too large; split it into several");
		return NULL;
	}
	node->kind = kind;
	return node;
}

struct ast *atom_look(struct regex_parser *p, enum look look)
{
	struct ast *node = atom_node(p, AST_LOOK);

	if (node)
		node->look = look;
	return node;
}

struct ast *atom_chars(struct regex_parser *p, struct charset set)
{
	struct ast *node = atom_node(p, AST_CHARS);

	if (!node)
		return NULL;
	if (!p->o->multiline)
		charset_remove(&set, '\n', p->arena);
	node->chars = set;
	return node;
}

struct ast *atom_char(struct regex_parser *p, uint32_t c, size_t at)
{
	struct charset set = { 0 };

	if (c == '\n' && !p->o->multiline) {
		(void)err_set(p->e, ERR_INVALID_REGEX,
			      "Invalid pattern at byte %zu: a match never crosses lines here, so "
			      "\\n can match nothing.",
			      at);
		(void)err_advise(p->e, "Remove it, or search with multiline:true");
		return NULL;
	}
	charset_add(&set, c, c, p->arena);
	if (p->flags.nocase)
		charset_fold(&set, p->arena);
	return atom_chars(p, set);
}

bool parser_take(struct regex_parser *p, const char *text)
{
	const size_t n = strlen(text);

	if (p->in.n - p->at < n || memcmp(p->in.p + p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

uint32_t parser_code_point(struct regex_parser *p)
{
	size_t bad;
	const size_t n = utf8_next(str_from(p->in, p->at), &bad);

	p->at += n;
	return utf8_decode(p->in.p + p->at - n, n);
}

static int64_t hex_digits(struct regex_parser *p, unsigned n)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < n; i++) {
		const int v = str_hex((char)parser_peek(p, i));

		if (v < 0)
			return -1;
		value = value * 16 + (uint32_t)v;
	}
	p->at += n;
	return value;
}

/* {…} after \x or \u. */
static int64_t hex_braced(struct regex_parser *p)
{
	uint32_t value = 0;
	unsigned n = 0;
	int v;

	for (; (v = str_hex((char)parser_peek(p, 0))) >= 0 && n < 8; n++, p->at++)
		value = value * 16 + (uint32_t)v;
	return n > 0 && parser_take(p, "}") ? (int64_t)value : -1;
}

/* After \x or \u: the code point, or -1 with *e set. */
static int64_t hex_escape(struct regex_parser *p, unsigned n, size_t at)
{
	int64_t c = parser_take(p, "{") ? hex_braced(p) : hex_digits(p, n);

	if (c < 0)
		return parser_fail(p, at, "\\%c needs %u hexadecimal digits, or {…}",
				   n == 2 ? 'x' : 'u', n);
	if (c >= 0xd800 && c < 0xdc00 && parser_take(p, "\\u")) {
		const int64_t low = hex_digits(p, 4);

		if (low >= 0xdc00 && low < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	if (c > CHARSET_LAST || (c >= 0xd800 && c < 0xe000))
		return parser_fail(p, at, "this is not a Unicode character");
	return c;
}

static int64_t octal(struct regex_parser *p, unsigned most)
{
	int64_t value = 0;
	int c;

	for (unsigned i = 0; i < most && (c = parser_peek(p, 0)) >= '0' && c <= '7'; i++, p->at++)
		value = value * 8 + (c - '0');
	return value;
}

/* The one character that the escape after the backslash means, or -1 with *e set. */
static int64_t char_escape(struct regex_parser *p)
{
	static const char names[] = "tnrfvae", values[] = "\t\n\r\f\v\a\033";
	const size_t at = p->at - 1;
	const int c = parser_peek(p, 0);

	if (c < 0)
		return parser_fail(p, at,
				   "a backslash ends the pattern; write \\\\ for a backslash");
	if (c >= 0x80)
		return parser_code_point(p);
	p->at++;

	const char *known = c ? strchr(names, c) : NULL;

	if (known)
		return values[known - names];
	if (c == 'x')
		return hex_escape(p, 2, at);
	if (c == 'u')
		return hex_escape(p, 4, at);
	if (c == '0')
		return octal(p, 2);
	if (c == 'c' && parser_peek(p, 0) > ' ' && parser_peek(p, 0) < 0x7f)
		return p->in.p[p->at++] & 0x1f;
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
		return parser_fail(p, at, "\\%c is not known; write \\\\%c for a backslash", c, c);
	return c;
}

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

/* \d \D and their like, after the backslash; false when something else comes. */
static bool perl_class(struct regex_parser *p, struct charset *ret)
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

/* [:alpha:] or [:^alpha:] within a class: 1 when there was one, 0 when not, -1 with *e set. */
static int posix_class(struct regex_parser *p, struct charset *ret)
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

/* One member: 1 when it is the single character *c, 0 when a whole class was added to set, -1 with
 * *e set. */
static int member(struct regex_parser *p, struct charset *set, uint32_t *c)
{
	const int posix = posix_class(p, set);
	struct charset perl = { 0 };

	if (posix != 0)
		return posix < 0 ? -1 : 0;
	if (!parser_take(p, "\\")) {
		*c = parser_code_point(p);
		return 1;
	}
	if (perl_class(p, &perl)) {
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

	const int64_t got = char_escape(p);

	*c = (uint32_t)got;
	return got < 0 ? -1 : 1;
}

/* A member and, when a hyphen follows, the end of its range. */
static int member_range(struct regex_parser *p, struct charset *set)
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

struct ast *atom_class(struct regex_parser *p)
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
	return atom_chars(p, set);
}

int parser_name(struct regex_parser *p, char close, struct str *ret)
{
	const size_t from = p->at;
	int c;

	while ((c = parser_peek(p, 0)) == '_' || (c >= '0' && c <= '9') ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
		p->at++;
	if (c != close || p->at == from)
		return parser_fail(
			p, from, "a group's name has letters, digits and _ and ends in %c", close);
	*ret = str_from(str_upto(p->in, p->at), from);
	p->at++;
	return 0;
}

uint32_t parser_group_named(struct regex_parser *p, char close)
{
	const size_t at = p->at;
	struct str name;

	p->pcre = true;
	if (parser_name(p, close, &name) < 0)
		return 0;
	for (const struct group_name *g = p->names; g; g = g->older)
		if (str_eq(g->name, name))
			return g->number;
	parser_fail(p, at, "there is no group of that name before this place");
	return 0;
}

/* The number in \1 \g1 \g{1} \g{-1}; 0 with *e set. */
static uint32_t group_number(struct regex_parser *p, size_t at)
{
	const bool back = parser_take(p, "-");
	uint32_t n = 0;

	for (int c; (c = parser_peek(p, 0)) >= '0' && c <= '9' && n < 1000; p->at++)
		n = n * 10 + (uint32_t)(c - '0');
	if (back)
		n = n <= p->groups ? p->groups + 1 - n : 0;
	if (n == 0)
		parser_fail(p, at, "a back-reference needs the number of a group");
	if (n > p->last_ref) {
		p->last_ref = n;
		p->last_ref_at = at;
	}
	return n;
}

static struct ast *back_reference(struct regex_parser *p, int letter, size_t at)
{
	struct ast *node = atom_node(p, AST_BACKREF);

	if (!node)
		return NULL;
	p->pcre = true;
	node->nocase = p->flags.nocase;
	if (letter == 'k') {
		const char close = parser_take(p, "<") ? '>' : parser_take(p, "{") ? '}' : 0;

		node->number = close ? parser_group_named(p, close) : 0;
		if (!close)
			parser_fail(p, at, "\\k needs the name of a group: \\k<name>");
	} else if (parser_take(p, "{")) {
		node->number = group_number(p, at);
		if (node->number && !parser_take(p, "}"))
			return parser_fail(p, at, "the brace after \\g is not closed"), NULL;
	} else {
		node->number = group_number(p, at);
	}
	return node->number ? node : NULL;
}

/* \pL \p{Greek} \P{Lu}: passed on to PCRE2 when it has the right form. */
static struct ast *property(struct regex_parser *p, size_t at)
{
	const int c = parser_peek(p, 0);
	struct ast *node = atom_node(p, AST_PROPERTY);

	if (!node)
		return NULL;
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') {
		p->at++;
	} else {
		struct str name;

		if (!parser_take(p, "{"))
			return parser_fail(p, at, "\\p needs a property: \\p{L}"), NULL;
		parser_take(p, "^");
		if (parser_name(p, '}', &name) < 0)
			return NULL;
	}
	p->pcre = true;
	node->text = str_from(str_upto(p->in, p->at), at);
	return node;
}

static bool position(struct regex_parser *p, int c, enum look *ret)
{
	const bool lines = !p->o->multiline;

	switch (c) {
	case 'b':
		*ret = LOOK_WORD;
		return true;
	case 'B':
		*ret = LOOK_NOT_WORD;
		return true;
	case 'A':
		*ret = lines ? LOOK_LINE_START : LOOK_TEXT_START;
		return true;
	case 'z':
	case 'Z':
		*ret = lines ? LOOK_LINE_END : LOOK_TEXT_END;
		return true;
	default:
		return false;
	}
}

struct ast *atom_escape(struct regex_parser *p)
{
	const size_t at = p->at - 1;
	const int c = parser_peek(p, 0);
	struct charset set = { 0 };
	enum look look;

	if (perl_class(p, &set))
		return atom_chars(p, set);
	if (position(p, c, &look)) {
		p->at++;
		return atom_look(p, look);
	}
	if (c >= '1' && c <= '9')
		return back_reference(p, 0, at);
	if (c == 'k' || c == 'g' || c == 'p' || c == 'P') {
		p->at++;
		return (c | 0x20) == 'p' ? property(p, at) : back_reference(p, c, at);
	}

	const int64_t ch = char_escape(p);

	return ch < 0 ? NULL : atom_char(p, (uint32_t)ch, at);
}
