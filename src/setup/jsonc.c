/* SPDX-License-Identifier: MIT */
/* jsonc: write the text again around one value. */

#include "setup/jsonc.h"

#include "setup/jsonc_read.h"

int jsonc_find(struct str text, const struct key_path *at, struct str *ret, struct err *e)
{
	struct jsonc_container around;
	struct str value;
	const int found = jsonc_follow(text, at, &value, &around, e);

	if (found < 0)
		return -1;
	*ret = found == (int)at->n ? value : (struct str){ NULL, 0 };
	return 0;
}

bool jsonc_at(struct str container, size_t i, struct str *name, struct str *value)
{
	struct jsonc_container c;

	if (!container.n || (container.p[0] != '{' && container.p[0] != '['))
		return false;
	jsonc_open(container, container, &(struct jsonc_wanted){ .number = (ptrdiff_t)i }, &c);
	*name = c.found.name;
	*value = c.found.value;
	return c.has_found;
}

bool jsonc_has_item(struct str array, struct str item)
{
	struct jsonc_container c;

	if (!array.n || array.p[0] != '[')
		return false;
	jsonc_open(array, array, &(struct jsonc_wanted){ .value = &item }, &c);
	return c.has_found;
}

/* How the text around a place looks. */
struct look {
	struct str eol, unit; /* a line's end; one step of indentation */
	struct str indent;    /* of the line in which the place is */
	bool lines;	      /* items stand on lines of their own */
};

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
static struct look look_at(struct str text, size_t at)
{
	struct look k = { .eol = str_find(text, STR("\r\n")) < 0 ? STR("\n") : STR("\r\n"),
			  .unit = STR("  "),
			  .indent = indent_at(text, at) };

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
	struct jsonc_reader r = { .text = value, .e = &e };
	size_t deep = 0, flat = 0; /* flat: brackets that are open from a list of plain values on */
	bool opened = false, comma = false;

	if (memchr(value.p, '\n', value.n)) {
		buf_add(out, value);
		return;
	}
	for (struct str t; (t = jsonc_token(&r)).n;) {
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
		else if (opens && (flat || (c == '[' && jsonc_peek(&r) != '{')))
			flat++;
		deep += opens;
		opened = opens;
		comma = c == ',';
	}
}

static int checked(const struct buf *out, struct err *e)
{
	return out->failed ? err_set(e, ERR_FILE_TOO_LARGE, "the configuration is too large") : 0;
}

static void add_named(struct buf *out, struct str name, struct str value, const struct look *k)
{
	if (name.n) {
		buf_add(out, name);
		buf_add(out, STR(": "));
	}
	add_pretty(out, value, k);
}

/* Add the first item of an empty container, on a line of its own. */
static void add_first(struct str text, const struct jsonc_container *c, struct str name,
		      struct str value, struct buf *out)
{
	struct look k = look_at(text, c->open);
	const struct str outer = k.indent;
	const struct str inside = str_from(str_upto(text, c->close), c->open + 1);
	AUTO_BUF inner = { .max = out->max };

	buf_add(&inner, outer);
	buf_add(&inner, k.unit);
	k.indent = buf_str(&inner);
	k.lines = true;
	buf_add(out, str_upto(text, c->open + 1));
	if (str_trim(inside).n) { /* comments */
		size_t n = inside.n;
		while (strchr(" \t\r\n", inside.p[n - 1]))
			n--;
		buf_add(out, str_upto(inside, n));
	}
	add_line(out, &k, 0);
	add_named(out, name, value, &k);
	buf_add(out, k.eol);
	buf_add(out, outer);
	buf_add(out, str_from(text, c->close));
}

/* Add an item at the end of a container that has others. */
static void add_last(struct str text, const struct jsonc_container *c, struct str name,
		     struct str value, struct buf *out)
{
	const bool comma = c->last.comma_after != JSONC_NOWHERE;
	const size_t end = comma ? (size_t)c->last.comma_after + 1
				 : (size_t)(c->last.value.p + c->last.value.n - text.p);
	const bool lines = memchr(text.p + c->open, '\n', c->last.begin - c->open);
	const size_t place = lines ? jsonc_after_comment(text, end) : end;
	struct look k = look_at(text, c->last.begin);

	k.lines = lines;
	buf_add(out, str_upto(text, end));
	if (!comma)
		buf_addc(out, ',');
	buf_add(out, str_from(str_upto(text, place), end));
	if (k.lines)
		add_line(out, &k, 0);
	else
		buf_addc(out, ' ');
	add_named(out, name, value, &k);
	if (comma)
		buf_addc(out, ',');
	buf_add(out, str_from(text, place));
}

/* Add an item; `name` is empty in an array. */
static void add_item(struct str text, const struct jsonc_container *c, struct str name,
		     struct str value, struct buf *out)
{
	if (c->count)
		add_last(text, c, name, value, out);
	else
		add_first(text, c, name, value, out);
}

/* Add keys from the i-th on as objects around the value: "b":{"c":value} without the first name. */
static void wrap(struct buf *to, const struct key_path *at, size_t i, struct str value)
{
	for (size_t k = i; k < at->n; k++)
		buf_addf(to, "{\"%.*s\":", STR_FMT(at->key[k]));
	buf_add(to, value);
	for (size_t k = i; k < at->n; k++)
		buf_addc(to, '}');
}

static int replace_value(struct str text, struct str old, struct str value, struct buf *out,
			 struct err *e)
{
	const size_t at = (size_t)(old.p - text.p);
	struct look k = look_at(text, at);

	k.lines = memchr(old.p, '\n', old.n) || old.p[0] == '"' || memchr(text.p, '\n', text.n);
	buf_add(out, str_upto(text, at));
	add_pretty(out, value, &k);
	buf_add(out, str_from(text, at + old.n));
	return checked(out, e);
}

int jsonc_set(struct str text, const struct key_path *at, struct str value, struct buf *out,
	      struct err *e)
{
	struct jsonc_container around;
	struct str old;
	AUTO_BUF wrapped = { .max = out->max };
	const int found = jsonc_follow(text, at, &old, &around, e);

	if (found < 0)
		return -1;
	if (!old.p) { /* nothing but blanks and comments */
		struct look k = look_at(text, 0);
		k.lines = true;
		k.indent = (struct str){ NULL, 0 };
		wrap(&wrapped, at, 0, value);
		buf_add(out, text);
		if (text.n && text.p[text.n - 1] != '\n' && !str_eq(text, STR("\xef\xbb\xbf")))
			buf_add(out, k.eol);
		add_pretty(out, buf_str(&wrapped), &k);
		buf_add(out, k.eol);
		return checked(out, e);
	}
	if (found == (int)at->n && jsonc_same(old, value)) {
		buf_add(out, text);
		return checked(out, e);
	}
	if (found < (int)at->n && old.p[0] != '{')
		return err_set(e, ERR_INVALID_CONFIG, "%.*s is not an object",
			       STR_FMT(found ? at->key[found - 1] : STR("it")));
	if (found == (int)at->n)
		return replace_value(text, old, value, out, e);
	AUTO_BUF name = { .max = out->max };
	buf_addf(&name, "\"%.*s\"", STR_FMT(at->key[found]));
	wrap(&wrapped, at, (size_t)found + 1, value);
	add_item(text, &around, buf_str(&name), buf_str(&wrapped), out);
	return checked(out, e);
}

/* Remove an item with its comma, and its line if nothing else stands there. */
static void cut_item(struct str text, const struct jsonc_container *c, struct buf *out)
{
	const struct jsonc_item *item = &c->found;
	const bool last = item->comma_after == JSONC_NOWHERE;
	const size_t end = last ? (size_t)(item->value.p + item->value.n - text.p)
				: (size_t)item->comma_after + 1;
	size_t begin = item->begin;

	while (begin > c->open + 1 && (text.p[begin - 1] == ' ' || text.p[begin - 1] == '\t'))
		begin--;
	if (begin > c->open + 1 && text.p[begin - 1] == '\n')
		begin -= begin > c->open + 2 && text.p[begin - 2] == '\r' ? 2 : 1;
	if (c->count == 1) {
		const struct str head = str_from(str_upto(text, begin), c->open + 1);
		const struct str tail = str_from(str_upto(text, c->close), end);
		buf_add(out, str_upto(text, c->open + 1));
		if (str_trim(head).n || str_trim(tail).n) { /* comments */
			buf_add(out, head);
			buf_add(out, tail);
		}
		buf_add(out, str_from(text, c->close));
		return;
	}
	if (last && item->comma_before != JSONC_NOWHERE) {
		const size_t comma = (size_t)item->comma_before;
		buf_add(out, str_upto(text, comma));
		buf_add(out, str_from(str_upto(text, begin), comma + 1));
	} else {
		buf_add(out, str_upto(text, begin));
	}
	buf_add(out, str_from(text, end));
}

int jsonc_remove(struct str text, const struct key_path *at, struct buf *out, struct err *e)
{
	struct jsonc_container around;
	struct str value;
	const int found = jsonc_follow(text, at, &value, &around, e);

	if (found < 0)
		return -1;
	if (!value.p || found < (int)at->n)
		buf_add(out, text);
	else
		cut_item(text, &around, out);
	return checked(out, e);
}

int jsonc_add_item(struct str text, const struct key_path *at, struct str item, struct buf *out,
		   struct err *e)
{
	struct jsonc_container c;
	struct str array;

	if (jsonc_find(text, at, &array, e) < 0)
		return -1;
	if (!array.p) {
		AUTO_BUF list = { .max = out->max };
		buf_addf(&list, "[%.*s]", STR_FMT(item));
		return jsonc_set(text, at, buf_str(&list), out, e);
	}
	if (array.p[0] != '[')
		return err_set(e, ERR_INVALID_CONFIG, "%.*s is not a list",
			       STR_FMT(at->key[at->n - 1]));
	jsonc_open(text, array, &(struct jsonc_wanted){ .value = &item }, &c);
	if (c.has_found)
		buf_add(out, text);
	else
		add_item(text, &c, (struct str){ NULL, 0 }, item, out);
	return checked(out, e);
}

int jsonc_remove_item(struct str text, const struct key_path *at, struct str item, struct buf *out,
		      struct err *e)
{
	struct jsonc_container c;
	struct str array;

	if (jsonc_find(text, at, &array, e) < 0)
		return -1;
	if (!array.p || !jsonc_has_item(array, item)) {
		buf_add(out, text);
		return checked(out, e);
	}
	jsonc_open(text, array, &(struct jsonc_wanted){ .value = &item }, &c);
	cut_item(text, &c, out);
	return checked(out, e);
}
