/* SPDX-License-Identifier: MIT */
/* parse: the tree of a pattern, from its structure: alternatives, sequences, groups, repeats; and
 * how its ends are trimmed. */

#include "regex/ast.h"

#include "base/utf8.h"
#include "regex/atom.h"
#include "regex/limits.h"

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

/* The number `ahead` bytes after the cursor; returns how many digits it has. */
static size_t digits(const struct regex_parser *p, size_t ahead, uint32_t *ret)
{
	size_t n = 0;
	uint32_t value = 0;

	for (int c; (c = parser_peek(p, ahead + n)) >= '0' && c <= '9'; n++)
		value = value > LIMIT_REGEX_REPEAT ? value : value * 10 + (uint32_t)(c - '0');
	*ret = value;
	return n;
}

/* The length of {n}, {n,} or {n,m} at the cursor, or 0: any other brace stands for itself. */
static size_t braces(const struct regex_parser *p, uint32_t *min, uint32_t *max)
{
	size_t at = 1, n;

	if (parser_peek(p, 0) != '{' || (n = digits(p, at, min)) == 0)
		return 0;
	at += n;
	*max = *min;
	if (parser_peek(p, at) == ',') {
		at++;
		n = digits(p, at, max);
		if (n == 0)
			*max = AST_MANY;
		at += n;
	}
	return parser_peek(p, at) == '}' ? at + 1 : 0;
}

/* The length of the quantifier at the cursor, which is not passed; 0 when there is no quantifier.
 */
static size_t quantifier(const struct regex_parser *p, uint32_t *min, uint32_t *max)
{
	*max = AST_MANY;
	switch (parser_peek(p, 0)) {
	case '*':
		*min = 0;
		return 1;
	case '+':
		*min = 1;
		return 1;
	case '?':
		*min = 0;
		*max = 1;
		return 1;
	default:
		return braces(p, min, max);
	}
}

/* White space and comments, as the flag x ignores them. */
static void skip_blank(struct regex_parser *p)
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

/* The node with the quantifiers that follow it. */
static struct ast *parse_repeats(struct regex_parser *p, struct ast *node)
{
	uint32_t min, max;

	for (;;) {
		if (p->flags.extended)
			skip_blank(p);

		const size_t at = p->at, n = quantifier(p, &min, &max);

		if (n == 0)
			return node;
		if (node->height > LIMIT_REGEX_HEIGHT)
			return parser_fail(p, at, "there are too many repeats of repeats"), NULL;
		if (min > LIMIT_REGEX_REPEAT || (max != AST_MANY && max > LIMIT_REGEX_REPEAT))
			return parser_fail(p, at, "a repeat is limited to %d", LIMIT_REGEX_REPEAT),
			       NULL;
		if (min > max)
			return parser_fail(p, at, "the numbers of the repeat are out of order"),
			       NULL;
		p->at += n;

		struct ast *repeat = atom_node(p, AST_REPEAT);

		if (!repeat)
			return NULL;
		repeat->min = min;
		repeat->max = max;
		repeat->lazy = parser_take(p, "?");
		repeat->possessive = !repeat->lazy && parser_take(p, "+");
		p->pcre |= repeat->possessive;
		ast_append(repeat, node);
		node = repeat;
	}
}

static struct ast *parse_alternatives(struct regex_parser *p);

static int set_flags(struct regex_parser *p, struct regex_flags *f)
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
		case 'm': /* ^ and $ match at lines anyway */
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

static int name_group(struct regex_parser *p, char close, uint32_t number)
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

static struct ast *close_group(struct regex_parser *p, struct ast *outer, size_t open)
{
	struct ast *inner = parse_alternatives(p);

	if (!inner)
		return NULL;
	if (!parser_take(p, ")"))
		return parser_fail(p, open, "the group is not closed; write \\( for a parenthesis"),
		       NULL;
	if (!outer)
		return inner;
	ast_append(outer, inner);
	return outer;
}

/* (?=…) and its like; NULL when something else comes. Its text is left in the node. */
static struct ast *around(struct regex_parser *p)
{
	static const char *const kinds[] = { "?=", "?!", "?<=", "?<!", "?>" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!parser_take(p, kinds[i]))
			continue;

		struct ast *node = atom_node(p, AST_AROUND);

		if (node)
			node->text = str_of(kinds[i]);
		p->pcre = true;
		return node;
	}
	return NULL;
}

static struct ast *numbered_group(struct regex_parser *p, size_t open, char close_name)
{
	struct ast *group = atom_node(p, AST_GROUP);

	if (!group)
		return NULL;
	group->number = ++p->groups;
	if (close_name && name_group(p, close_name, group->number) < 0)
		return NULL;
	return close_group(p, group, open);
}

static struct ast *named_reference(struct regex_parser *p)
{
	struct ast *ref = atom_node(p, AST_BACKREF);

	if (!ref)
		return NULL;
	ref->number = parser_group_named(p, ')');
	ref->nocase = p->flags.nocase;
	return ref->number ? ref : NULL;
}

/* After "(?": a group that only sets flags, for what follows or for itself. */
static struct ast *flag_group(struct regex_parser *p, size_t open, struct regex_flags *outer)
{
	struct regex_flags f = p->flags;

	if (set_flags(p, &f) < 0)
		return NULL;
	p->flags = f;
	if (parser_take(p, ":"))
		return close_group(p, NULL, open);
	p->at++;
	*outer = f;
	return atom_node(p, AST_EMPTY);
}

static struct ast *skip_comment(struct regex_parser *p, size_t open)
{
	const ptrdiff_t close = str_index(str_from(p->in, p->at), ')');

	if (close < 0)
		return parser_fail(p, open, "the comment is not closed"), NULL;
	p->at += (size_t)close + 1;
	return atom_node(p, AST_EMPTY);
}

/* The cursor is after the opening parenthesis. */
static struct ast *parse_group(struct regex_parser *p)
{
	const size_t open = p->at - 1;
	struct regex_flags outer = p->flags;
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

static struct ast *parse_any(struct regex_parser *p)
{
	struct charset set = { 0 };

	charset_negate(&set, p->arena);
	if (!p->flags.dotall)
		charset_remove(&set, '\n', p->arena);
	return atom_chars(p, set);
}

/* $: at the end of the line, also before "\r\n". */
static struct ast *parse_line_end(struct regex_parser *p)
{
	struct charset cr = { 0 };
	struct ast *cat = atom_node(p, AST_CAT), *maybe = atom_node(p, AST_REPEAT);
	struct ast *end = atom_look(p, LOOK_LINE_END), *ch;

	charset_add(&cr, '\r', '\r', p->arena);
	ch = atom_chars(p, cr);
	if (!cat || !maybe || !end || !ch)
		return NULL;
	maybe->max = 1;
	maybe->lazy = true;
	ast_append(maybe, ch);
	ast_append(cat, maybe);
	ast_append(cat, end);
	return cat;
}

static struct ast *parse_atom(struct regex_parser *p)
{
	const size_t at = p->at;
	uint32_t min, max;

	switch (p->in.p[at]) {
	case '(':
		p->at++;
		return parse_group(p);
	case '[':
		p->at++;
		return atom_class(p);
	case '\\':
		p->at++;
		return atom_escape(p);
	case '.':
		p->at++;
		return parse_any(p);
	case '^':
		p->at++;
		return atom_look(p, LOOK_LINE_START);
	case '$':
		p->at++;
		return parse_line_end(p);
	case '{': /* nothing comes before it: it is a brace */
		break;
	default:
		if (quantifier(p, &min, &max))
			return parser_fail(p, at, "there is nothing to repeat"), NULL;
	}
	return atom_char(p, parser_code_point(p), at);
}

/* An atom with its quantifiers; between \Q and \E a character, and quantifiers only after \E. */
static struct ast *parse_quoted_or_atom(struct regex_parser *p)
{
	const size_t at = p->at;
	struct ast *node = p->quoting ? atom_char(p, parser_code_point(p), at) : parse_atom(p);

	if (p->quoting && parser_take(p, "\\E"))
		p->quoting = false;
	return node && !p->quoting ? parse_repeats(p, node) : node;
}

static struct ast *parse_cat(struct regex_parser *p)
{
	struct ast *cat = atom_node(p, AST_CAT);

	if (!cat)
		return NULL;
	for (;;) {
		if (p->flags.extended && !p->quoting)
			skip_blank(p);
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
		ast_append(cat, node);
	}
	if (!cat->child)
		cat->kind = AST_EMPTY;
	return cat->child && cat->child == cat->last ? cat->child : cat;
}

/* Everything up to the end of the group or of the pattern. */
static struct ast *parse_alternatives(struct regex_parser *p)
{
	struct ast *first = parse_cat(p);

	if (!first || parser_peek(p, 0) != '|')
		return first;

	struct ast *alt = atom_node(p, AST_ALT);

	if (!alt)
		return NULL;
	ast_append(alt, first);
	while (parser_take(p, "|")) {
		struct ast *node = parse_cat(p);

		if (!node)
			return NULL;
		ast_append(alt, node);
	}
	return alt;
}

static int check_input(struct str text, struct err *e)
{
	if (text.n > LIMIT_REGEX_PATTERN) {
		(void)err_set(e, ERR_INVALID_REGEX,
			      "The pattern has %zu bytes; at most %d are allowed.", text.n,
			      LIMIT_REGEX_PATTERN);
		return err_advise(e, "Search for a shorter part of it");
	}
	if (!utf8_valid(text))
		return err_set(e, ERR_INVALID_REGEX, "The pattern is not valid UTF-8");
	return 0;
}

/* Each character stands for itself. */
static struct ast *parse_literal(struct regex_parser *p)
{
	struct ast *cat = atom_node(p, AST_CAT);

	while (cat && p->at < p->in.n) {
		const size_t at = p->at;
		struct ast *node = atom_char(p, parser_code_point(p), at);

		if (!node)
			return NULL;
		ast_append(cat, node);
	}
	if (cat && !cat->child)
		cat->kind = AST_EMPTY;
	return cat;
}

int regex_parse(struct str pattern, const struct regex_options *o, struct arena *a,
		struct ast_pattern *ret, struct err *e)
{
	struct regex_parser p = { .in = pattern, .o = o, .arena = a, .e = e };

	if (check_input(pattern, e) < 0)
		return -1;
	p.flags.nocase = o->ignore_case;

	struct ast *root = o->literal ? parse_literal(&p) : parse_alternatives(&p);

	if (!root)
		return -1;
	if (p.at < pattern.n)
		return parser_fail(&p, p.at, "this ) closes no group; write \\) for a parenthesis");
	if (p.last_ref > p.groups)
		return parser_fail(&p, p.last_ref_at, "there is no group %u to refer to",
				   p.last_ref);
	if (a->failed)
		return err_set(e, ERR_INVALID_REGEX, "The pattern is too large");
	*ret = (struct ast_pattern){ .root = root, .pcre = p.pcre };
	return 0;
}
