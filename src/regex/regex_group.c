/* SPDX-License-Identifier: MIT */
/* regex_group: what a parenthesis begins: groups, names, flags, look-around, comments. */

#include "base/limits.h"
#include "regex/regex_parser.h"

static int set_flags(struct parser *p, struct flags *f)
{
	bool on = true;

	for (;; p->at++) {
		switch (parser_peek(p, 0)) {
		case 'i':
			f->nocase = on;
			break;
		case 's':
			f->dotall = on;
			break;
		case 'x':
			f->extended = on;
			break;
		case 'm': /* ^ and $ stand at lines anyway */
		case 'u': /* characters are code points anyway */
			break;
		case '-':
			on = false;
			break;
		case ':':
		case ')':
			return 0;
		default:
			return parser_fail(p, p->at, "unknown flag or kind of group");
		}
	}
}

static int name_group(struct parser *p, char close, uint32_t number)
{
	struct group_name *g = arena_array(p->arena, 1, sizeof(*g));
	const size_t at = p->at;

	if (!g)
		return err_set(p->e, ERR_INVALID_REGEX, "The pattern is too large");
	if (parser_name(p, close, &g->name) < 0)
		return -1;
	for (const struct group_name *o = p->names; o; o = o->older)
		if (str_eq(o->name, g->name))
			return parser_fail(p, at, "the name of this group is already taken");
	g->number = number;
	g->older = p->names;
	p->names = g;
	return 0;
}

static struct ast *close_group(struct parser *p, struct ast *outer, size_t open)
{
	struct ast *inner = parser_alternatives(p);

	if (!inner)
		return NULL;
	if (!parser_take(p, ")"))
		return parser_fail(p, open, "the group is not closed; write \\( for a parenthesis"),
		       NULL;
	if (!outer)
		return inner;
	parser_append(outer, inner);
	return outer;
}

/* (?=…) and its like, when one stands here; its text is left in the node. */
static struct ast *around(struct parser *p)
{
	static const char *const kinds[] = { "?=", "?!", "?<=", "?<!", "?>" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!parser_take(p, kinds[i]))
			continue;

		struct ast *node = parser_node(p, AST_AROUND);

		if (node)
			node->text = str_of(kinds[i]);
		p->pcre = true;
		return node;
	}
	return NULL;
}

static struct ast *numbered_group(struct parser *p, size_t open, char close_name)
{
	struct ast *group = parser_node(p, AST_GROUP);

	if (!group)
		return NULL;
	group->number = ++p->groups;
	if (close_name && name_group(p, close_name, group->number) < 0)
		return NULL;
	return close_group(p, group, open);
}

static struct ast *named_reference(struct parser *p)
{
	struct ast *ref = parser_node(p, AST_BACKREF);

	if (!ref)
		return NULL;
	ref->number = parser_group_named(p, ')');
	ref->nocase = p->flags.nocase;
	return ref->number ? ref : NULL;
}

/* Behind "(?" of a group that only sets flags, for what follows or for itself. */
static struct ast *flag_group(struct parser *p, size_t open, struct flags *outer)
{
	struct flags f = p->flags;

	if (set_flags(p, &f) < 0)
		return NULL;
	p->flags = f;
	if (parser_take(p, ":"))
		return close_group(p, NULL, open);
	p->at++;
	*outer = f;
	return parser_node(p, AST_EMPTY);
}

static struct ast *skip_comment(struct parser *p, size_t open)
{
	const ptrdiff_t close = str_index(str_from(p->in, p->at), ')');

	if (close < 0)
		return parser_fail(p, open, "the comment is not closed"), NULL;
	p->at += (size_t)close + 1;
	return parser_node(p, AST_EMPTY);
}

struct ast *parser_group(struct parser *p)
{
	const size_t open = p->at - 1;
	struct flags outer = p->flags;
	struct ast *node;

	if (++p->depth > LIMIT_REGEX_DEPTH)
		return parser_fail(p, open, "groups are nested too deeply"), NULL;
	if (parser_peek(p, 0) == '*')
		return parser_fail(p, p->at, "there is nothing to repeat"), NULL;
	if (parser_peek(p, 0) != '?')
		node = numbered_group(p, open, 0);
	else if (parser_take(p, "?:"))
		node = close_group(p, NULL, open);
	else if (parser_take(p, "?#"))
		node = skip_comment(p, open);
	else if ((node = around(p)))
		node = close_group(p, node, open);
	else if (parser_take(p, "?P="))
		node = named_reference(p);
	else if (parser_take(p, "?P<") || parser_take(p, "?<"))
		node = numbered_group(p, open, '>');
	else if (parser_take(p, "?'"))
		node = numbered_group(p, open, '\'');
	else {
		p->at++;
		node = flag_group(p, open, &outer);
	}
	p->flags = outer;
	p->depth--;
	return node;
}
