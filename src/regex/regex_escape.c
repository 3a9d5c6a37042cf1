/* SPDX-License-Identifier: MIT */
/* regex_escape: what a backslash begins. */

#include "regex/regex_parser.h"

static int64_t hex_digits(struct parser *p, unsigned n)
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

/* {…} behind \x or \u. */
static int64_t hex_braced(struct parser *p)
{
	uint32_t value = 0;
	unsigned n = 0;
	int v;

	for (; (v = str_hex((char)parser_peek(p, 0))) >= 0 && n < 8; n++, p->at++)
		value = value * 16 + (uint32_t)v;
	return n > 0 && parser_take(p, "}") ? (int64_t)value : -1;
}

/* Behind \x or \u: the code point, or -1 with *e set. */
static int64_t hex_escape(struct parser *p, unsigned n, size_t at)
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

static int64_t octal(struct parser *p, unsigned most)
{
	int64_t value = 0;
	int c;

	for (unsigned i = 0; i < most && (c = parser_peek(p, 0)) >= '0' && c <= '7'; i++, p->at++)
		value = value * 8 + (c - '0');
	return value;
}

int64_t parser_char_escape(struct parser *p)
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

int parser_name(struct parser *p, char close, struct str *ret)
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

uint32_t parser_group_named(struct parser *p, char close)
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

/* \1 \g1 \g{1} \g{-1}: the group's number is read at the cursor. */
static uint32_t group_number(struct parser *p, size_t at)
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

static struct ast *back_reference(struct parser *p, int letter, size_t at)
{
	struct ast *node = parser_node(p, AST_BACKREF);

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
			return parser_fail(p, at, "the brace behind \\g is not closed"), NULL;
	} else {
		node->number = group_number(p, at);
	}
	return node->number ? node : NULL;
}

/* \pL \p{Greek} \P{Lu}: handed on to PCRE2 once it looks like one. */
static struct ast *property(struct parser *p, size_t at)
{
	const int c = parser_peek(p, 0);
	struct ast *node = parser_node(p, AST_PROPERTY);

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

static bool position(struct parser *p, int c, enum look *ret)
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

struct ast *parser_escape(struct parser *p)
{
	const size_t at = p->at - 1;
	const int c = parser_peek(p, 0);
	struct charset set = { 0 };
	enum look look;

	if (parser_perl_class(p, &set))
		return parser_chars(p, set);
	if (position(p, c, &look)) {
		struct ast *node = parser_node(p, AST_LOOK);

		p->at++;
		if (node)
			node->look = look;
		return node;
	}
	if (c >= '1' && c <= '9')
		return back_reference(p, 0, at);
	if (c == 'k' || c == 'g' || c == 'p' || c == 'P') {
		p->at++;
		return (c | 0x20) == 'p' ? property(p, at) : back_reference(p, c, at);
	}

	const int64_t ch = parser_char_escape(p);

	return ch < 0 ? NULL : parser_char(p, (uint32_t)ch, at);
}
