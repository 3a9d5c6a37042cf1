/* SPDX-License-Identifier: MIT */
/* conf: one reader of values for both forms, and around it the lines and heads of TOML. */

#include "setup/conf.h"

#include "base/bytes.h"
#include "base/json.h"
#include "base/limits.h"

/* Instead of the number of a node: what is read does not become one. */
static const size_t no_node = SIZE_MAX;

static int fail(struct conf *c, const char *what)
{
	return err_set(c->e, ERR_INVALID_CONFIG, "line %zu: %s",
		       bytes_count(str_upto(c->text, c->pos), '\n') + 1, what);
}

static char peek(const struct conf *c)
{
	return c->pos < c->text.n ? c->text.p[c->pos] : 0;
}

static bool ahead(const struct conf *c, struct str what)
{
	return str_starts(str_from(c->text, c->pos), what);
}

static bool is_one_of(char byte, const char *set)
{
	return byte && strchr(set, byte);
}

static bool is_word(char c)
{
	return (str_lower(c) >= 'a' && str_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

size_t conf_start(struct str text)
{
	return str_starts(text, STR("\xef\xbb\xbf")) ? 3 : 0;
}

static bool at_comment(const struct conf *c)
{
	return c->form == CONF_TOML ? peek(c) == '#' : ahead(c, STR("//")) || ahead(c, STR("/*"));
}

static int skip_comment(struct conf *c)
{
	if (c->rules == CONF_STRICT)
		return fail(c, "there is a comment");
	const bool block = ahead(c, STR("/*"));
	const struct str end = block ? STR("*/") : STR("\n");
	const size_t begin = c->pos + (block ? 2 : 1);
	const ptrdiff_t length = str_find(str_from(c->text, begin), end);

	if (length < 0 && block)
		return fail(c, "a comment does not end");
	c->pos = length < 0 ? c->text.n : begin + (size_t)length + (block ? 2 : 0);
	return 0;
}

static void skip_blanks(struct conf *c)
{
	while (is_one_of(peek(c), " \t"))
		c->pos++;
}

/* Blanks, ends of lines and comments. */
static int skip_lines(struct conf *c)
{
	for (;;) {
		if (is_one_of(peek(c), " \t\r\n"))
			c->pos++;
		else if (!at_comment(c))
			return 0;
		else if (skip_comment(c) < 0)
			return -1;
	}
}

/* Between a name and its value, which in TOML are on one line. */
static int skip_in_pair(struct conf *c)
{
	if (c->form == CONF_JSON)
		return skip_lines(c);
	skip_blanks(c);
	return 0;
}

static bool at_string(const struct conf *c)
{
	return peek(c) == '"' || (c->form == CONF_TOML && peek(c) == '\'');
}

/* TOML: true, a number or a date, but not whether there is such a day. */
static bool is_toml_word(struct str w)
{
	static const char known[] = "0123456789abcdefABCDEFxo_.:+-TtZz ";

	if (str_is_listed("true false", w))
		return true;
	if (w.n && is_one_of(w.p[0], "+-"))
		w = str_from(w, 1);
	if (str_is_listed("inf nan", w))
		return true;
	for (size_t i = 0; i < w.n; i++)
		if (!is_one_of(w.p[i], known))
			return false;
	return w.n && w.p[0] >= '0' && w.p[0] <= '9';
}

/* Whether an agent reads the string or word from there on; one that allows commas after the last
 * item is not that strict. */
static int judge(struct conf *c, size_t begin)
{
	const struct str raw = str_from(str_upto(c->text, c->pos), begin);
	AUTO_ARENA memory = { .max = LIMIT_CLIENT_MEMORY };
	const struct json *v;
	struct err e;

	if (c->form == CONF_TOML)
		return is_toml_word(raw) ? 0 : fail(c, "a value is not one of TOML");
	if (c->rules == CONF_JSONC || json_parse(raw, &memory, &v, &e) == 0)
		return 0;
	return fail(c, raw.p[0] == '"' ? "a string has a control character, such as a tab, or an "
					 "escape that is not known"
				       : "a value is not one of JSON");
}

static int read_string(struct conf *c)
{
	const char quote = peek(c);
	const char three[] = { quote, quote, quote };
	const size_t begin = c->pos;
	const bool lines = c->form == CONF_TOML && ahead(c, (struct str){ three, 3 });
	const struct str end = { three, lines ? 3 : 1 };

	for (c->pos += end.n; !ahead(c, end); c->pos++) {
		if (c->pos >= c->text.n || (!lines && peek(c) == '\n'))
			return fail(c, "a string does not end");
		if (quote == '"' && peek(c) == '\\')
			c->pos++;
	}
	c->pos += end.n;
	for (int i = 0; lines && i < 2 && peek(c) == quote; i++)
		c->pos++; /* quotes just before the end belong to the string */
	return c->form == CONF_JSON ? judge(c, begin) : 0;
}

/* A number, a date, true, false or null. */
static int read_word(struct conf *c)
{
	const size_t begin = c->pos;

	if (c->form == CONF_JSON) {
		while (is_word(peek(c)) || is_one_of(peek(c), "+."))
			c->pos++;
	} else {
		while (peek(c) && !is_one_of(peek(c), ",]}#\r\n"))
			c->pos++;
		while (c->pos > begin && is_one_of(c->text.p[c->pos - 1], " \t"))
			c->pos--; /* a date and its time may have a blank between them */
	}
	return c->pos > begin ? judge(c, begin) : fail(c, "a value is missing");
}

static int read_name(struct conf *c, struct str *ret)
{
	const size_t begin = c->pos;
	const bool quoted = at_string(c), escapes = peek(c) == '"';
	const struct json *v;
	struct err e;

	if (c->form == CONF_JSON && !quoted)
		return fail(c, "a name in quotes is missing");
	if (quoted && read_string(c) < 0)
		return -1;
	while (!quoted && (is_word(peek(c)) || peek(c) == '_'))
		c->pos++;
	const struct str raw = { c->text.p + begin, c->pos - begin };
	if (!raw.n)
		return fail(c, "a name is missing");
	*ret = quoted ? str_from(str_upto(raw, raw.n - 1), 1) : raw;
	if (escapes && str_index(raw, '\\') >= 0) {
		if (json_parse(raw, &c->memory, &v, &e) < 0)
			return fail(c, "a name has an escape that is not known");
		*ret = v->string;
	}
	return str_index(*ret, 0) < 0 ? 0 : fail(c, "a name has a NUL byte");
}

/* The last node of that name in another one, or 0. */
static size_t named(const struct conf *c, size_t around, struct str name)
{
	for (size_t i = c->count; i-- > 1 && c->node[around].kind != CONF_TABLES;)
		if (c->node[i].around == around && str_eq(c->node[i].name, name))
			return i;
	return 0;
}

/* Add a node in another one. If there is no memory for it, conf_read notices that at the end. */
static size_t add(struct conf *c, size_t around, struct conf_node n)
{
	if (c->count == c->room && !arena_grow(&c->memory, &c->node, &c->room, sizeof *c->node))
		return no_node;
	const struct conf_node *outer = &c->node[around];
	n.around = around;
	n.depth = outer->depth + 1;
	n.on_way = outer->on_way && outer->depth < c->at->n &&
		   str_eq(n.name, c->at->key[outer->depth]);
	c->node[c->count] = n;
	return c->count++;
}

static const char twice[] = "a name is defined twice";

/* Names with dots between them. *around becomes the node that the last of them is in; without a
 * node to begin with, the names are only read. */
static int read_names(struct conf *c, size_t *around, struct str *last)
{
	for (;;) {
		if (read_name(c, last) < 0 || skip_in_pair(c) < 0)
			return -1;
		if (c->form == CONF_JSON || peek(c) != '.')
			return 0;
		c->pos++;
		skip_blanks(c);
		if (*around == no_node)
			continue;
		const size_t table = named(c, *around, *last);
		if (table && c->node[table].kind == CONF_VALUE)
			return fail(c, twice);
		*around = table ? table
				: add(c, *around,
				      (struct conf_node){ .kind = CONF_IMPLIED, .name = *last });
	}
}

static int read_bracket(struct conf *c, size_t node);

/* A value. What it has in brackets becomes nodes in that node. */
static int read_value(struct conf *c, size_t node)
{
	if (at_string(c))
		return read_string(c);
	if (is_one_of(peek(c), "{["))
		return read_bracket(c, node);
	return read_word(c);
}

/* A value, after its name if it has one, as a node in another one. */
static int read_pair(struct conf *c, size_t around, bool has_name, struct conf_node n, size_t *ret)
{
	n.begin = c->pos;
	if (has_name) {
		if (read_names(c, &around, &n.name) < 0)
			return -1;
		if (peek(c) != (c->form == CONF_JSON ? ':' : '='))
			return fail(c, c->form == CONF_JSON ? "a colon is missing"
							    : "an equals sign is missing");
		c->pos++;
		if (skip_in_pair(c) < 0)
			return -1;
		if (c->form == CONF_TOML && around != no_node && named(c, around, n.name))
			return fail(c, twice);
	}
	const size_t value = c->pos, me = around == no_node ? no_node : add(c, around, n);
	const bool follow = me != no_node && has_name && c->node[me].on_way;
	if (read_value(c, follow ? me : no_node) < 0)
		return -1;
	if (me != no_node) {
		c->node[me].value = (struct str){ c->text.p + value, c->pos - value };
		c->node[me].end = c->pos;
	}
	*ret = me;
	return 0;
}

/* The items of an array, or the members of an object. */
static int read_bracket(struct conf *c, size_t node)
{
	const bool has_names = peek(c) == '{';
	ptrdiff_t comma = CONF_NOWHERE;

	if (++c->deep > LIMIT_JSON_DEPTH)
		return fail(c, "too deep");
	c->pos++;
	for (bool first = true;; first = false) {
		size_t item;
		if (skip_lines(c) < 0)
			return -1;
		if (peek(c) == (has_names ? '}' : ']') &&
		    (c->rules == CONF_JSONC || comma == CONF_NOWHERE))
			break;
		if (c->pos >= c->text.n)
			return fail(c, "a bracket is not closed");
		if (!first && comma == CONF_NOWHERE)
			return fail(c, "a comma is missing");
		const struct conf_node n = { .inside = true,
					     .bracket = node,
					     .comma_before = comma };
		if (read_pair(c, node, has_names, n, &item) < 0 || skip_lines(c) < 0)
			return -1;
		comma = peek(c) == ',' ? (ptrdiff_t)c->pos++ : CONF_NOWHERE;
		if (item != no_node)
			c->node[item].comma_after = comma;
	}
	c->pos++;
	c->deep--;
	return 0;
}

/* TOML: the rest of a line after a value or a head: blanks and a comment. */
static int end_line(struct conf *c)
{
	skip_blanks(c);
	if (at_comment(c))
		(void)skip_comment(c);
	if (ahead(c, STR("\r\n")))
		c->pos++;
	if (c->pos < c->text.n && peek(c) != '\n')
		return fail(c, "there is something after the end of a value");
	c->pos += c->pos < c->text.n;
	return 0;
}

/* TOML: [a.b] or [[a.b]], in a line that begins at `begin`. */
static int read_head(struct conf *c, size_t begin)
{
	const struct str open = ahead(c, STR("[[")) ? STR("[[") : STR("[");
	const struct str close = open.n == 2 ? STR("]]") : STR("]");
	struct conf_node n = { .kind = open.n == 2 ? CONF_TABLES : CONF_TABLE };
	size_t around = 0;

	c->pos += open.n;
	skip_blanks(c);
	if (read_names(c, &around, &n.name) < 0)
		return -1;
	if (!ahead(c, close))
		return fail(c, "a bracket is not closed");
	c->pos += close.n;
	if (around == no_node)
		return fail(c, "the text is too large");
	size_t table = named(c, around, n.name);
	if (table && c->node[table].kind != CONF_IMPLIED &&
	    (n.kind != CONF_TABLES || c->node[table].kind != CONF_TABLES))
		return fail(c, twice);
	if (end_line(c) < 0)
		return -1;
	if (!table || n.kind == CONF_TABLES)
		table = add(c, around, n);
	if (table == no_node)
		return fail(c, "the text is too large");
	struct conf_node *t = &c->node[table];
	if (t->kind == CONF_IMPLIED)
		t->kind = CONF_TABLE;
	t->begin = begin;
	t->end = t->place = c->pos;
	t->section = c->section = table;
	return 0;
}

/* TOML: a name and its value on lines of their own, which begin at `begin`. */
static int read_line(struct conf *c, size_t begin)
{
	size_t table;

	if (read_pair(c, c->section, true, (struct conf_node){ .begin = 0 }, &table) < 0 ||
	    end_line(c) < 0)
		return -1;
	if (table == no_node)
		return fail(c, "the text is too large");
	c->node[table].begin = begin;
	c->node[table].end = c->pos;
	while (table != c->section) { /* those that dotted keys name, and the head's */
		table = c->node[table].around;
		struct conf_node *t = &c->node[table];
		if (t->kind == CONF_IMPLIED)
			t->kind = CONF_TABLE;
		t->place = c->pos;
		t->section = c->section;
	}
	return 0;
}

static int read_toml(struct conf *c)
{
	c->node[0].kind = CONF_TABLE;
	c->node[0].place = c->pos;
	while (c->pos < c->text.n) {
		const size_t begin = c->pos;
		int status;
		skip_blanks(c);
		if (c->pos >= c->text.n || is_one_of(peek(c), "#\r\n"))
			status = end_line(c);
		else
			status = peek(c) == '[' ? read_head(c, begin) : read_line(c, begin);
		if (status < 0)
			return -1;
	}
	return 0;
}

static int read_json(struct conf *c)
{
	if (skip_lines(c) < 0)
		return -1;
	if (c->pos == c->text.n)
		return 0;
	const size_t begin = c->pos;
	if (read_value(c, 0) < 0)
		return -1;
	c->node[0].value = (struct str){ c->text.p + begin, c->pos - begin };
	if (skip_lines(c) < 0)
		return -1;
	return c->pos == c->text.n ? 0 : fail(c, "there is something after the end");
}

void conf_done(struct conf *c)
{
	arena_done(&c->memory);
}

/* Read a text, by rules, from c's beginning. */
static int read_all(struct conf *c)
{
	if (!arena_grow(&c->memory, &c->node, &c->room, sizeof *c->node))
		return fail(c, "the text is too large");
	c->node[c->count++] = (struct conf_node){ .on_way = true };
	if ((c->form == CONF_TOML ? read_toml(c) : read_json(c)) < 0)
		return -1;
	return c->memory.failed ? fail(c, "the text is too large") : 0;
}

int conf_check(enum conf_form form, enum conf_rules rules, struct str text, struct err *e)
{
	static const struct key_path whole = { .n = 0 };
	AUTO_CONF c = { .form = form,
			.text = text,
			.at = &whole,
			.memory = { .max = LIMIT_CLIENT_MEMORY },
			.pos = conf_start(text),
			.rules = rules,
			.e = e };

	return read_all(&c);
}

int conf_read(struct conf *c, enum conf_form form, struct str text, const struct key_path *at,
	      struct err *e)
{
	*c = (struct conf){ .form = form,
			    .text = text,
			    .at = at,
			    .memory = { .max = LIMIT_CLIENT_MEMORY },
			    .pos = conf_start(text),
			    .e = e };
	return read_all(c);
}

size_t conf_follow(const struct conf *c)
{
	size_t node = 0, depth = 0;

	for (; depth < c->at->n; depth++) {
		const size_t next = named(c, node, c->at->key[depth]);
		if (!next)
			return node;
		node = next;
	}
	if (!c->at->item.p || !str_starts(c->node[node].value, STR("[")))
		return node;
	for (size_t i = c->count; i-- > 1;)
		if (c->node[i].around == node && conf_same(c->form, c->node[i].value, c->at->item))
			return i;
	return node;
}

bool conf_is_end(const struct conf *c, size_t node)
{
	return c->node[node].depth == c->at->n + (c->at->item.p ? 1 : 0);
}

struct conf conf_tokens(enum conf_form form, struct str text, struct err *e)
{
	return (struct conf){ .form = form, .text = text, .e = e };
}

struct str conf_token(struct conf *c)
{
	if (skip_lines(c) < 0 || c->pos >= c->text.n)
		return (struct str){ NULL, 0 };
	const size_t begin = c->pos;
	if (at_string(c) ? read_string(c) < 0 : is_one_of(peek(c), "{}[],:") || read_word(c) < 0)
		c->pos = begin + 1;
	return (struct str){ c->text.p + begin, c->pos - begin };
}

size_t conf_after_comment(const struct conf *c, size_t at)
{
	struct err e;
	struct conf r = conf_tokens(c->form, c->text, &e);

	r.pos = at;
	skip_blanks(&r);
	if (!at_comment(&r))
		return at;
	const bool block = ahead(&r, STR("/*"));
	if (skip_comment(&r) < 0 || memchr(c->text.p + at, '\n', r.pos - at))
		return at;
	if (!block && c->text.p[r.pos - 1] == '\r')
		r.pos--;
	return r.pos;
}

/* The value of a node; p is NULL if it has none. */
static struct str value_of(const struct conf *c, size_t node)
{
	const struct conf_node *n = &c->node[node];

	if (n->kind == CONF_VALUE)
		return n->value;
	return (struct str){ n->kind == CONF_TABLE ? c->text.p : NULL, 0 };
}

int conf_find(enum conf_form form, struct str text, const struct key_path *at, struct str *ret,
	      struct err *e)
{
	AUTO_CONF c;

	if (conf_read(&c, form, text, at, e) < 0)
		return -1;
	const size_t node = conf_follow(&c);
	*ret = conf_is_end(&c, node) ? value_of(&c, node) : (struct str){ NULL, 0 };
	return 0;
}

bool conf_child(enum conf_form form, struct str text, const struct key_path *at, size_t i,
		struct arena *memory, struct str *name, struct str *value)
{
	struct err e;
	AUTO_CONF c;

	if (conf_read(&c, form, text, at, &e) < 0)
		return false;
	const size_t node = conf_follow(&c);
	for (size_t k = 1; k < c.count && conf_is_end(&c, node); k++) {
		if (c.node[k].around != node || c.node[k].kind == CONF_TABLES || i-- > 0)
			continue;
		*name = arena_dup(memory, c.node[k].name);
		*value = value_of(&c, k);
		return name->p != NULL;
	}
	return false;
}

bool conf_same(enum conf_form form, struct str one, struct str other)
{
	struct err e;
	struct conf a = conf_tokens(form, one, &e), b = conf_tokens(form, other, &e);

	for (;;) {
		const struct str left = conf_token(&a), right = conf_token(&b);
		if (!str_eq(left, right))
			return false;
		if (!left.n)
			return true;
	}
}
