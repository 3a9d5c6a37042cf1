/* SPDX-License-Identifier: MIT */
/* regex_unparse: a tree as a pattern for PCRE2, in the few forms that mean one thing only. */

#include "base/buf.h"
#include "base/limits.h"
#include "regex/regex_ast.h"

struct writer {
	struct buf text;
	bool counted;
};

static void write_ast(const struct ast *t, struct writer *to);

static void write_range(struct char_range r, struct writer *to)
{
	if (r.lo >= 0xd800 && r.lo < 0xe000)
		r.lo = 0xe000;
	if (r.hi >= 0xd800 && r.hi < 0xe000)
		r.hi = 0xd7ff;
	if (r.hi > CHARSET_LAST)
		r.hi = CHARSET_LAST;
	if (r.lo > r.hi)
		return;
	buf_addf(&to->text, "\\x{%x}", r.lo);
	if (r.hi > r.lo)
		buf_addf(&to->text, "-\\x{%x}", r.hi);
}

static void write_chars(const struct charset *set, struct writer *to)
{
	buf_addc(&to->text, '[');
	for (uint32_t i = 0; i < set->n; i++)
		write_range(set->ranges[i], to);
	buf_addc(&to->text, ']');
}

static void write_repeat(const struct ast *t, struct writer *to)
{
	buf_add(&to->text, STR("(?:"));
	write_ast(t->child, to);
	buf_addf(&to->text, "){%u,", t->min);
	if (t->max != AST_MANY)
		buf_addf(&to->text, "%u", t->max);
	buf_addc(&to->text, '}');
	if (t->lazy || t->possessive)
		buf_addc(&to->text, t->lazy ? '?' : '+');
	if (to->counted && t->min != t->max)
		buf_add(&to->text, STR("(?C1)")); /* steps are counted here: regex_pcre.c */
}

static void write_list(const struct ast *t, struct str between, struct writer *to)
{
	buf_add(&to->text, STR("(?:"));
	for (const struct ast *k = t->child; k; k = k->next) {
		write_ast(k, to);
		if (k->next)
			buf_add(&to->text, between);
	}
	buf_addc(&to->text, ')');
}

static void write_look(enum look look, struct writer *to)
{
	switch (look) {
	case LOOK_LINE_START:
		buf_addc(&to->text, '^');
		break;
	case LOOK_LINE_END:
		buf_addc(&to->text, '$');
		break;
	case LOOK_TEXT_START:
		buf_add(&to->text, STR("\\A"));
		break;
	case LOOK_TEXT_END:
		buf_add(&to->text, STR("\\z"));
		break;
	case LOOK_WORD:
		buf_add(&to->text, STR("\\b"));
		break;
	case LOOK_NOT_WORD:
		buf_add(&to->text, STR("\\B"));
		break;
	default:
		break;
	}
}

static void write_ast(const struct ast *t, struct writer *to)
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
		buf_addc(&to->text, '(');
		buf_add(&to->text, t->text);
		write_ast(t->child, to);
		buf_addc(&to->text, ')');
		break;
	case AST_BACKREF:
		buf_addf(&to->text, t->nocase ? "(?i:\\g{%u})" : "\\g{%u}", t->number);
		break;
	case AST_PROPERTY:
		buf_add(&to->text, t->text);
		break;
	}
}

int regex_unparse(const struct ast_pattern *p, bool counted, struct arena *a, struct str *ret,
		  struct err *e)
{
	struct writer to = { .text.max = 16 * LIMIT_REGEX_PATTERN, .counted = counted };

	write_ast(p->root, &to);
	if (!to.text.failed)
		*ret = arena_dup(a, buf_str(&to.text));

	const bool failed = to.text.failed || a->failed;

	buf_done(&to.text);
	return failed ? err_set(e, ERR_INVALID_REGEX, "The pattern is too large") : 0;
}
