/* SPDX-License-Identifier: MIT */
/* conf_edit: write a text again around one value. */

#include "setup/conf.h"

#include "base/jw.h"

/* How the text around a place looks. */
struct look {
	struct str eol, unit; /* a line's end; one step of indentation */
	struct str indent;    /* of the line in which the place is */
	bool lines;	      /* items stand on lines of their own */
	bool plain;	      /* values are written as they are given */
};

static struct str eol_of(struct str text)
{
	return str_find(text, STR("\r\n")) < 0 ? STR("\n") : STR("\r\n");
}

static struct str indent_at(struct str text, size_t at)
{
	const char *newline = at ? memrchr(text.p, '\n', at) : NULL;
	const size_t begin = newline ? (size_t)(newline + 1 - text.p) : 0;
	size_t n = 0;

	while (begin + n < text.n && (text.p[begin + n] == ' ' || text.p[begin + n] == '\t'))
		n++;
	return (struct str){ text.p + begin, n };
}

/* Take the step of indentation from the first line that has one. */
static struct look look_at(const struct conf *c, size_t at)
{
	const struct str text = c->text;
	struct look k = { .eol = eol_of(text),
			  .unit = STR("  "),
			  .indent = indent_at(text, at),
			  .plain = c->form == CONF_TOML };

	for (size_t i = 0; i + 1 < text.n; i++)
		if (text.p[i] == '\n' && (text.p[i + 1] == ' ' || text.p[i + 1] == '\t')) {
			k.unit = indent_at(text, i + 1);
			break;
		}
	return k;
}

static void add_line(struct buf *out, const struct look *k, size_t deeper)
{
	buf_add(out, k->eol);
	buf_add(out, k->indent);
	for (size_t i = 0; i < deeper; i++)
		buf_add(out, k->unit);
}

/* Write compact JSON as it would be written by hand: objects and lists of objects on lines. A value
 * that has lines already is kept as it is. */
static void add_pretty(struct buf *out, struct str value, const struct look *k)
{
	struct err e;
	struct conf r = conf_tokens(CONF_JSON, value, &e);
	size_t deep = 0, flat = 0; /* flat: brackets that are open from a list of plain values on */
	bool opened = false, comma = false;

	if (k->plain || memchr(value.p, '\n', value.n)) {
		buf_add(out, value);
		return;
	}
	for (struct str t; (t = conf_token(&r)).n;) {
		const char c = t.p[0];
		const bool opens = c == '{' || c == '[', closes = c == '}' || c == ']';

		deep -= closes && deep;
		if (k->lines && !flat && (closes ? !opened : opened || comma))
			add_line(out, k, deep);
		else if (comma)
			buf_addc(out, ' ');
		buf_add(out, t);
		if (c == ':')
			buf_addc(out, ' ');
		if (flat && closes)
			flat--;
		else if (opens &&
			 (flat || (c == '[' && !str_starts(str_from(value, r.pos), STR("{")))))
			flat++;
		deep += opens;
		opened = opens;
		comma = c == ',';
	}
}

/* Add the first item between empty brackets: in JSON on a line of its own, which an inline table
 * may not have. */
static void add_first(const struct conf *c, size_t open, size_t close, struct str head,
		      struct str value, struct buf *out)
{
	struct look k = look_at(c, open);
	const struct str outer = k.indent;
	struct str inside = str_from(str_upto(c->text, close), open + 1);
	AUTO_BUF inner = { .max = out->max };

	buf_add(&inner, outer);
	buf_add(&inner, k.unit);
	k.indent = buf_str(&inner);
	k.lines = true;
	buf_add(out, str_upto(c->text, open + 1));
	if (c->form == CONF_TOML) {
		buf_addf(out, " %.*s%.*s ", STR_FMT(head), STR_FMT(value));
		buf_add(out, str_from(c->text, close));
		return;
	}
	while (inside.n && strchr(" \t\r\n", inside.p[inside.n - 1]))
		inside.n--;
	buf_add(out, inside); /* comments */
	add_line(out, &k, 0);
	buf_add(out, head);
	add_pretty(out, value, &k);
	buf_add(out, k.eol);
	buf_add(out, outer);
	buf_add(out, str_from(c->text, close));
}

/* Add an item after others. In an inline table only strings have lines. */
static void add_last(const struct conf *c, size_t open, const struct conf_node *last,
		     struct str head, struct str value, struct buf *out)
{
	const bool comma = last->comma_after != CONF_NOWHERE;
	const size_t end = comma ? (size_t)last->comma_after + 1 : last->end;
	const bool lines =
		c->form == CONF_JSON && memchr(c->text.p + open, '\n', last->begin - open);
	const size_t place = lines ? conf_after_comment(c, end) : end;
	struct look k = look_at(c, last->begin);

	k.lines = lines;
	buf_add(out, str_upto(c->text, end));
	if (!comma)
		buf_addc(out, ',');
	buf_add(out, str_from(str_upto(c->text, place), end));
	if (k.lines)
		add_line(out, &k, 0);
	else
		buf_addc(out, ' ');
	buf_add(out, head);
	add_pretty(out, value, &k);
	if (comma)
		buf_addc(out, ',');
	buf_add(out, str_from(c->text, place));
}

/* How many items are in the brackets of a node, and the last of them. */
static size_t count_inside(const struct conf *c, size_t node, const struct conf_node **last)
{
	size_t count = 0;

	for (size_t i = 1; i < c->count; i++)
		if (c->node[i].inside && c->node[i].bracket == node) {
			*last = &c->node[i];
			count++;
		}
	return count;
}

/* Add an item to an object, an array or an inline table. `head` is its name and what is between
 * that and its value. */
static void add_inside(const struct conf *c, size_t node, struct str head, struct str value,
		       struct buf *out)
{
	const struct str all = c->node[node].value;
	const size_t open = (size_t)(all.p - c->text.p);
	const struct conf_node *last;

	if (count_inside(c, node, &last))
		add_last(c, open, last, head, value, out);
	else
		add_first(c, open, open + all.n - 1, head, value, out);
}

/* JSON: add the keys from that one on as objects around the value, or around an array with it. */
static void wrap(struct buf *out, const struct key_path *at, size_t from, struct str value)
{
	for (size_t k = from; k < at->n; k++)
		buf_addf(out, "{\"%.*s\":", STR_FMT(at->key[k]));
	buf_add(out, at->item.p ? STR("[") : STR(""));
	buf_add(out, value);
	buf_add(out, at->item.p ? STR("]") : STR(""));
	for (size_t k = from; k < at->n; k++)
		buf_addc(out, '}');
}

static void add_json(const struct conf *c, size_t node, struct str value, struct buf *out)
{
	const size_t depth = c->node[node].depth;
	AUTO_BUF wrapped = { .max = out->max };
	AUTO_BUF head = { .max = out->max };

	if (depth == c->at->n) {
		add_inside(c, node, STR(""), value, out);
		return;
	}
	if (c->node[node].value.p) {
		buf_addf(&head, "\"%.*s\": ", STR_FMT(c->at->key[depth]));
		wrap(&wrapped, c->at, depth + 1, value);
		add_inside(c, node, buf_str(&head), buf_str(&wrapped), out);
		return;
	}
	struct look k = look_at(c, 0); /* nothing but blanks and comments */
	k.lines = true;
	k.indent = (struct str){ NULL, 0 };
	wrap(&wrapped, c->at, 0, value);
	buf_add(out, c->text);
	if (c->text.n > conf_start(c->text) && c->text.p[c->text.n - 1] != '\n')
		buf_add(out, k.eol);
	add_pretty(out, buf_str(&wrapped), &k);
	buf_add(out, k.eol);
}

/* TOML: keys with dots between them. */
static void add_names(struct buf *out, const struct key_path *at, size_t from, size_t to)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyz0123456789_-"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (size_t k = from; k < to; k++) {
		const struct str name = at->key[k];
		bool quoted = !name.n;
		for (size_t i = 0; i < name.n; i++)
			quoted = quoted || !memchr(bare, name.p[i], sizeof bare - 1);
		buf_add(out, k > from ? STR(".") : STR(""));
		if (!quoted) {
			buf_add(out, name);
			continue;
		}
		buf_addc(out, '"');
		jw_escape(out, name);
		buf_addc(out, '"');
	}
}

/* TOML: the value on a line of its own in its table; or if that has none, in a new one at the end.
 */
static void add_toml(const struct conf *c, const struct conf_node *n, struct str value,
		     struct buf *out)
{
	const bool has_table = n->depth == c->at->n - 1 && n->kind == CONF_TABLE;
	const size_t place = has_table ? n->place : c->text.n, start = conf_start(c->text);
	const struct str eol = eol_of(c->text);

	buf_add(out, str_upto(c->text, place));
	if (place > start && c->text.p[place - 1] != '\n')
		buf_add(out, eol);
	if (!has_table) {
		if (place > start)
			buf_add(out, eol);
		buf_addc(out, '[');
		add_names(out, c->at, 0, c->at->n - 1);
		buf_addc(out, ']');
		buf_add(out, eol);
	}
	add_names(out, c->at, has_table ? c->node[n->section].depth : c->at->n - 1, c->at->n);
	buf_add(out, STR(" = "));
	buf_add(out, value);
	buf_add(out, eol);
	if (place == start && place < c->text.n)
		buf_add(out, eol); /* the first line of all, before a table */
	buf_add(out, str_from(c->text, place));
}

static void replace_value(const struct conf *c, struct str old, struct str value, struct buf *out)
{
	const size_t at = (size_t)(old.p - c->text.p);
	struct look k = look_at(c, at);

	k.lines = memchr(c->text.p, '\n', c->text.n) || old.p[0] == '"';
	buf_add(out, str_upto(c->text, at));
	if (conf_same(c->form, old, value))
		buf_add(out, old);
	else
		add_pretty(out, value, &k);
	buf_add(out, str_from(c->text, at + old.n));
}

/* Read the new text again, and what is there now; `want` is NULL where anything may be there. */
static int checked(const struct conf *c, const struct str *want, const struct buf *out,
		   struct err *e)
{
	struct err why = { 0 };
	struct str now;

	if (out->failed)
		return err_set(e, ERR_FILE_TOO_LARGE, "the configuration is too large");
	if (conf_find(c->form, buf_str(out), c->at, &now, &why) == 0 &&
	    (!want || conf_same(c->form, now, *want)))
		return 0;
	return err_set(e, ERR_INVALID_CONFIG,
		       "%.*s cannot be changed without breaking the file%s%s; change it by hand",
		       STR_FMT(c->at->key[c->at->n - 1]), why.code ? ": " : "", why.msg);
}

/* What the node that was reached is not, so that the value cannot be given; NULL: it can. */
static const char *in_the_way(const struct conf *c, size_t node)
{
	const struct conf_node *n = &c->node[node];
	const struct str v = n->value;

	if (conf_is_end(c, node))
		return n->kind == CONF_VALUE ? NULL : "a value";
	/* Between the comments of an inline table, the value could get into one. */
	if (c->form == CONF_TOML &&
	    (n->kind == CONF_TABLES || (str_index(v, '#') >= 0 && str_index(v, '\n') >= 0) ||
	     (n->kind == CONF_VALUE && v.p[0] != '{')))
		return "a plain table";
	if (c->form == CONF_TOML || !v.p)
		return NULL;
	if (n->depth == c->at->n)
		return v.p[0] == '[' ? NULL : "a list";
	return v.p[0] == '{' ? NULL : "an object";
}

int conf_set(enum conf_form form, struct str text, const struct key_path *at, struct str value,
	     struct buf *out, struct err *e)
{
	AUTO_CONF c;

	if (conf_read(&c, form, text, at, e) < 0)
		return -1;
	const size_t node = conf_follow(&c);
	const struct conf_node *n = &c.node[node];
	const char *wanted = in_the_way(&c, node);
	if (wanted)
		return err_set(e, ERR_INVALID_CONFIG, "%.*s is not %s",
			       STR_FMT(n->depth ? n->name : STR("it")), wanted);
	size_t outer = node; /* an inline table may have named it by a dotted key */
	while (c.node[outer].kind == CONF_IMPLIED)
		outer = c.node[outer].around;
	if (conf_is_end(&c, node)) {
		replace_value(&c, n->value, value, out);
	} else if (form == CONF_JSON) {
		add_json(&c, node, value, out);
	} else if (c.node[outer].kind == CONF_VALUE) {
		AUTO_BUF head = { .max = out->max };
		add_names(&head, at, c.node[outer].depth, at->n);
		buf_add(&head, STR(" = "));
		add_inside(&c, outer, buf_str(&head), value, out);
	} else {
		add_toml(&c, n, value, out);
	}
	return checked(&c, &value, out, e);
}

/* Remove an item with its comma, and its line if nothing else stands there. */
static void cut_item(const struct conf *c, const struct conf_node *item, struct buf *out)
{
	const struct str text = c->text, all = c->node[item->bracket].value;
	const size_t inside = (size_t)(all.p - text.p) + 1, close = inside + all.n - 2;
	const bool is_last = item->comma_after == CONF_NOWHERE;
	const size_t end = is_last ? item->end : (size_t)item->comma_after + 1;
	const struct conf_node *last;
	size_t begin = item->begin;

	while (begin > inside && (text.p[begin - 1] == ' ' || text.p[begin - 1] == '\t'))
		begin--;
	/* What follows on the line must not get into a comment on the line before. */
	const size_t previous =
		item->comma_before == CONF_NOWHERE ? inside : (size_t)item->comma_before + 1;
	const bool comment = str_find(str_from(str_upto(text, begin), previous),
				      c->form == CONF_TOML ? STR("#") : STR("//")) >= 0;
	const struct str rest = str_from(text, end);
	const bool alone = str_starts(rest, STR("\n")) || str_starts(rest, STR("\r\n"));
	if ((alone || !comment) && begin > inside && text.p[begin - 1] == '\n')
		begin -= begin > inside + 1 && text.p[begin - 2] == '\r' ? 2 : 1;
	const struct str before = str_from(str_upto(text, begin), inside);
	const struct str after = str_from(str_upto(text, close), end);
	if (count_inside(c, item->bracket, &last) == 1) {
		buf_add(out, str_upto(text, inside));
		if (str_trim(before).n || str_trim(after).n) { /* comments */
			buf_add(out, before);
			buf_add(out, after);
		}
		buf_add(out, str_from(text, close));
		return;
	}
	if (is_last && item->comma_before != CONF_NOWHERE) {
		const size_t comma = (size_t)item->comma_before;
		buf_add(out, str_upto(text, comma));
		buf_add(out, str_from(str_upto(text, begin), comma + 1));
	} else {
		buf_add(out, str_upto(text, begin));
	}
	buf_add(out, str_from(text, end));
}

/* TOML: remove the lines of a value, or of a head; and the blank line that add_toml puts between the
 * first line or the head and what is beside it. */
static void cut_lines(const struct conf *c, const struct conf_node *n, struct buf *out)
{
	const struct str eol = eol_of(c->text), after = str_from(c->text, n->end);
	struct str before = str_upto(c->text, n->begin);

	if (n->kind == CONF_TABLE && str_ends(before, STR("\n")) &&
	    str_ends(str_upto(before, before.n - eol.n), STR("\n")))
		before.n -= eol.n;
	buf_add(out, before);
	buf_add(out,
		str_from(after,
			 before.n == conf_start(c->text) && str_starts(after, eol) ? eol.n : 0));
}

int conf_remove(enum conf_form form, struct str text, const struct key_path *at, struct buf *out,
		struct err *e)
{
	AUTO_CONF c;

	if (conf_read(&c, form, text, at, e) < 0)
		return -1;
	const size_t node = conf_follow(&c);
	const struct conf_node *n = &c.node[node];
	if (!conf_is_end(&c, node) || (n->kind != CONF_VALUE && (!n->end || n->place > n->end)))
		buf_add(out, text);
	else if (n->inside)
		cut_item(&c, n, out);
	else
		cut_lines(&c, n, out);
	return checked(&c, NULL, out, e);
}
