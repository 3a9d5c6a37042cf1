/* SPDX-License-Identifier: MIT */
/* regex_unparse: a tree as a pattern for PCRE2, in the few forms that mean one thing only. */

#include "base/buf.h"
#include "base/limits.h"
#include "search/regex_ast.h"

static void write_ast(const struct ast *t, struct buf *to);

static void write_range(struct char_range r, struct buf *to)
{
	if (r.lo >= 0xd800 && r.lo < 0xe000)
		r.lo = 0xe000;
	if (r.hi >= 0xd800 && r.hi < 0xe000)
		r.hi = 0xd7ff;
	if (r.hi > CHARSET_LAST)
		r.hi = CHARSET_LAST;
	if (r.lo > r.hi)
		return;
	buf_addf(to, "\\x{%x}", r.lo);
	if (r.hi > r.lo)
		buf_addf(to, "-\\x{%x}", r.hi);
}

static void write_chars(const struct charset *set, struct buf *to)
{
	buf_addc(to, '[');
	for (uint32_t i = 0; i < set->n; i++)
		write_range(set->ranges[i], to);
	buf_addc(to, ']');
}

static void write_repeat(const struct ast *t, struct buf *to)
{
	buf_add(to, STR("(?:"));
	write_ast(t->child, to);
	buf_addf(to, "){%u,", t->min);
	if (t->max != AST_MANY)
		buf_addf(to, "%u", t->max);
	buf_addc(to, '}');
	if (t->lazy || t->possessive)
		buf_addc(to, t->lazy ? '?' : '+');
	if (t->min != t->max)
		buf_add(to, STR("(?C1)")); /* steps are counted here: regex_pcre.c */
}

static void write_list(const struct ast *t, struct str between, struct buf *to)
{
	buf_add(to, STR("(?:"));
	for (const struct ast *k = t->child; k; k = k->next) {
		write_ast(k, to);
		if (k->next)
			buf_add(to, between);
	}
	buf_addc(to, ')');
}

static void write_look(enum look look, struct buf *to)
{
	switch (look) {
	case LOOK_LINE_START:
	case LOOK_TEXT_START:
		buf_addc(to, '^');
		break;
	case LOOK_LINE_END:
	case LOOK_TEXT_END:
		buf_addc(to, '$');
		break;
	case LOOK_WORD:
		buf_add(to, STR("\\b"));
		break;
	case LOOK_NOT_WORD:
		buf_add(to, STR("\\B"));
		break;
	default:
		break;
	}
}

static void write_ast(const struct ast *t, struct buf *to)
{
	switch (t->kind) {
	case AST_EMPTY:
		break;
	case AST_CHARS:
		write_chars(&t->chars, to);
		break;
	case AST_CAT:
		write_list(t, STR(""), to);
		break;
	case AST_ALT:
		write_list(t, STR("|"), to);
		break;
	case AST_REPEAT:
		write_repeat(t, to);
		break;
	case AST_LOOK:
		write_look(t->look, to);
		break;
	case AST_GROUP:
	case AST_AROUND:
		buf_addc(to, '(');
		buf_add(to, t->text);
		write_ast(t->child, to);
		buf_addc(to, ')');
		break;
	case AST_BACKREF:
		buf_addf(to, t->nocase ? "(?i:\\g{%u})" : "\\g{%u}", t->number);
		break;
	case AST_PROPERTY:
		buf_add(to, t->text);
		break;
	}
}

int regex_unparse(const struct ast_pattern *p, struct arena *a, struct str *ret, struct err *e)
{
	AUTO_BUF
	text = { .max = 16 * LIMIT_REGEX_PATTERN };

	write_ast(p->root, &text);
	if (!text.failed)
		*ret = arena_dup(a, buf_str(&text));
	if (text.failed || a->failed)
		return err_set(e, ERR_INVALID_REGEX, "The pattern is too large");
	return 0;
}
