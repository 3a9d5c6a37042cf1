/* SPDX-License-Identifier: MIT */
/* regex_parse: the structure of a pattern: alternatives, sequences, atoms. */

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "regex/regex_parser.h"

int parser_fail(struct parser *p, size_t at, const char *fmt, ...)
{
	char why[200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_set(p->e, ERR_INVALID_REGEX,
		       "Invalid pattern at byte %zu: %s. To search for the text as it stands, pass "
		       "literal:true",
		       at, why);
}

struct ast *parser_node(struct parser *p, enum ast_kind kind)
{
	struct ast *node = arena_array(p->arena, 1, sizeof(*node));

	if (!node) {
		err_set(p->e, ERR_INVALID_REGEX, "The pattern is too large; split it into several");
		return NULL;
	}
	node->kind = kind;
	return node;
}

struct ast *parser_chars(struct parser *p, struct charset set)
{
	struct ast *node = parser_node(p, AST_CHARS);

	if (!node)
		return NULL;
	if (!p->o->multiline)
		charset_remove(&set, '\n', p->arena);
	node->chars = set;
	return node;
}

struct ast *parser_char(struct parser *p, uint32_t c, size_t at)
{
	struct charset set = { 0 };

	if (c == '\n' && !p->o->multiline) {
		err_set(p->e, ERR_INVALID_REGEX,
			"Invalid pattern at byte %zu: a match never crosses lines here, so \\n can "
			"match nothing. Remove it, or search with multiline:true",
			at);
		return NULL;
	}
	charset_add(&set, c, c, p->arena);
	if (p->flags.nocase)
		charset_fold(&set, p->arena);
	return parser_chars(p, set);
}

bool parser_take(struct parser *p, const char *text)
{
	const size_t n = strlen(text);

	if (p->in.n - p->at < n || memcmp(p->in.p + p->at, text, n) != 0)
		return false;
	p->at += n;
	return true;
}

uint32_t parser_code_point(struct parser *p)
{
	size_t bad;
	const size_t n = utf8_next(str_from(p->in, p->at), &bad);

	p->at += n;
	return utf8_decode(p->in.p + p->at - n, n);
}

void parser_append(struct ast *parent, struct ast *node)
{
	if (parent->height <= node->height)
		parent->height = node->height + 1;
	node->prev = parent->last;
	if (parent->last)
		parent->last->next = node;
	else
		parent->child = node;
	parent->last = node;
}

void parser_skip_blank(struct parser *p)
{
	for (;; p->at++) {
		const int c = parser_peek(p, 0);

		if (c == '#') {
			while (p->at < p->in.n && p->in.p[p->at] != '\n')
				p->at++;
			if (p->at == p->in.n)
				return;
		} else if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' &&
			   c != '\v') {
			return;
		}
	}
}

static struct ast *parse_any(struct parser *p)
{
	struct charset set = { 0 };

	charset_negate(&set, p->arena);
	if (!p->flags.dotall)
		charset_remove(&set, '\n', p->arena);
	return parser_chars(p, set);
}

static struct ast *parse_look(struct parser *p, enum look look)
{
	struct ast *node = parser_node(p, AST_LOOK);

	if (node)
		node->look = look;
	return node;
}

/* $: at the end of the line, also when that is "\r\n". */
static struct ast *parse_line_end(struct parser *p)
{
	struct charset cr = { 0 };
	struct ast *cat = parser_node(p, AST_CAT), *maybe = parser_node(p, AST_REPEAT);
	struct ast *end = parse_look(p, LOOK_LINE_END), *ch;

	charset_add(&cr, '\r', '\r', p->arena);
	ch = parser_chars(p, cr);
	if (!cat || !maybe || !end || !ch)
		return NULL;
	maybe->max = 1;
	maybe->lazy = true;
	parser_append(maybe, ch);
	parser_append(cat, maybe);
	parser_append(cat, end);
	return cat;
}

static struct ast *parse_atom(struct parser *p)
{
	const size_t at = p->at;
	uint32_t min, max;

	switch (p->in.p[at]) {
	case '(':
		p->at++;
		return parser_group(p);
	case '[':
		p->at++;
		return parser_class(p);
	case '\\':
		p->at++;
		return parser_escape(p);
	case '.':
		p->at++;
		return parse_any(p);
	case '^':
		p->at++;
		return parse_look(p, LOOK_LINE_START);
	case '$':
		p->at++;
		return parse_line_end(p);
	case '{': /* nothing in front of it: a brace */
		break;
	default:
		if (parser_quantifier(p, &min, &max))
			return parser_fail(p, at, "there is nothing to repeat"), NULL;
	}
	return parser_char(p, parser_code_point(p), at);
}

/* An atom with its quantifiers; between \Q and \E a character, and quantifiers only behind \E. */
static struct ast *parse_quoted_or_atom(struct parser *p)
{
	const size_t at = p->at;
	struct ast *node = p->quoting ? parser_char(p, parser_code_point(p), at) : parse_atom(p);

	if (p->quoting && parser_take(p, "\\E"))
		p->quoting = false;
	return node && !p->quoting ? parser_repeats(p, node) : node;
}

static struct ast *parse_cat(struct parser *p)
{
	struct ast *cat = parser_node(p, AST_CAT);

	if (!cat)
		return NULL;
	for (;;) {
		if (p->flags.extended && !p->quoting)
			parser_skip_blank(p);
		if (parser_take(p, "\\E")) {
			p->quoting = false;
			continue;
		}
		if (parser_take(p, "\\Q")) {
			p->quoting = true;
			continue;
		}
		if (p->at == p->in.n ||
		    (!p->quoting && (p->in.p[p->at] == '|' || p->in.p[p->at] == ')')))
			break;

		struct ast *node = parse_quoted_or_atom(p);

		if (!node)
			return NULL;
		parser_append(cat, node);
	}
	if (!cat->child)
		cat->kind = AST_EMPTY;
	return cat->child && cat->child == cat->last ? cat->child : cat;
}

struct ast *parser_alternatives(struct parser *p)
{
	struct ast *first = parse_cat(p);

	if (!first || parser_peek(p, 0) != '|')
		return first;

	struct ast *alt = parser_node(p, AST_ALT);

	if (!alt)
		return NULL;
	parser_append(alt, first);
	while (parser_take(p, "|")) {
		struct ast *node = parse_cat(p);

		if (!node)
			return NULL;
		parser_append(alt, node);
	}
	return alt;
}

static int check_input(struct str text, struct err *e)
{
	if (text.n > LIMIT_REGEX_PATTERN)
		return err_set(e, ERR_INVALID_REGEX,
			       "The pattern has %zu bytes; at most %d are allowed. Search for a "
			       "shorter part of it",
			       text.n, LIMIT_REGEX_PATTERN);
	if (!utf8_valid(text))
		return err_set(e, ERR_INVALID_REGEX, "The pattern is not valid UTF-8");
	return 0;
}

int regex_parse(struct str pattern, const struct regex_options *o, struct arena *a,
		struct ast_pattern *ret, struct err *e)
{
	struct parser p = { .in = pattern, .o = o, .arena = a, .e = e };

	if (check_input(pattern, e) < 0)
		return -1;
	p.flags.nocase = o->ignore_case;

	struct ast *root = parser_alternatives(&p);

	if (!root)
		return -1;
	if (p.at < pattern.n)
		return parser_fail(&p, p.at, "this ) closes no group; write \\) for a parenthesis");
	if (p.last_ref > p.groups)
		return parser_fail(&p, p.last_ref_at, "there is no group %u to refer to",
				   p.last_ref);
	if (a->failed)
		return err_set(e, ERR_INVALID_REGEX, "The pattern is too large");
	*ret = (struct ast_pattern){ .root = root, .groups = p.groups, .pcre = p.pcre };
	return 0;
}

int regex_parse_literal(struct str text, const struct regex_options *o, struct arena *a,
			struct ast_pattern *ret, struct err *e)
{
	struct parser p = { .in = text, .o = o, .arena = a, .e = e };

	if (check_input(text, e) < 0)
		return -1;
	p.flags.nocase = o->ignore_case;

	struct ast *root = parser_node(&p, AST_CAT);

	if (!root)
		return -1;
	while (p.at < text.n) {
		const size_t at = p.at;
		struct ast *node = parser_char(&p, parser_code_point(&p), at);

		if (!node)
			return -1;
		parser_append(root, node);
	}
	if (!root->child)
		root->kind = AST_EMPTY;
	*ret = (struct ast_pattern){ .root = root };
	return a->failed ? err_set(e, ERR_INVALID_REGEX, "The text is too large") : 0;
}
