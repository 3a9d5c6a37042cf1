/* SPDX-License-Identifier: MIT */
/* ast: build a tree, and trim its ends. */

#include "regex/ast.h"

enum tree_end { END_LEFT, END_RIGHT };

void ast_append(struct ast *parent, struct ast *node)
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

static bool is_empty(const struct ast *t)
{
	return t->kind == AST_EMPTY || (t->kind == AST_GROUP && is_empty(t->child));
}

static struct ast *inward(const struct ast *t, enum tree_end end)
{
	return end == END_LEFT ? t->next : t->prev;
}

/* ^ at the left, $ at the right. */
static bool is_anchor(const struct ast *t, enum tree_end end)
{
	if (end == END_LEFT)
		return t->kind == AST_LOOK && t->look == LOOK_LINE_START;
	return t->kind == AST_CAT && t->child->kind == AST_REPEAT && t->child->next == t->last &&
	       t->last->kind == AST_LOOK && t->last->look == LOOK_LINE_END;
}

/* .* and .*? */
static bool is_anything(const struct ast *t)
{
	return t && t->kind == AST_REPEAT && t->min == 0 && t->max == AST_MANY &&
	       t->child->kind == AST_CHARS && charset_covers(&t->child->chars, 0, '\n' - 1) &&
	       charset_covers(&t->child->chars, '\n' + 1, CHARSET_ILL);
}

/* A line that contains x{m,n}R contains x{m}R as well: that match begins later. The same applies at
 * the right end. The automaton gets fewer states from it, and the text that a match needs comes
 * closer to its start. */
static void trim(struct ast *t, enum tree_end end)
{
	switch (t->kind) {
	case AST_GROUP:
		trim(t->child, end);
		break;
	case AST_ALT:
		for (struct ast *k = t->child; k; k = k->next)
			trim(k, end);
		break;
	case AST_REPEAT:
		t->max = t->min;
		if (t->min == 0)
			t->kind = AST_EMPTY;
		else if (t->min == 1)
			trim(t->child, end);
		break;
	case AST_CAT:
		for (struct ast *k = end == END_LEFT ? t->child : t->last; k; k = inward(k, end)) {
			/* A line that matches x matches ^.*x, too. */
			if (is_anchor(k, end) && is_anything(inward(k, end)))
				k->kind = AST_EMPTY;
			else
				trim(k, end);
			if (!is_empty(k))
				break;
		}
		break;
	default:
		break;
	}
}

void ast_trim(struct ast_pattern *p)
{
	trim(p->root, END_LEFT);
	trim(p->root, END_RIGHT);
}
