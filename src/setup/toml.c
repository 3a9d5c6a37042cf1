/* SPDX-License-Identifier: MIT */
/* toml: read the text into a list of what it defines and where, then write it again around one. */

#include "setup/toml.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/limits.h"

/* Between the names of a way, which are joined to be compared; no name has it. */
enum { BETWEEN = 0x1f };

enum kind { TOML_VALUE, TOML_TABLE, TOML_IN_ARRAY };

/* Something that the text defines. */
struct defined {
	enum kind kind;
	struct str way;	  /* its names from the outside in, joined */
	struct str value; /* of TOML_VALUE */
	size_t begin,
		end;	 /* its lines; in an inline table, from its name to the end of its value */
	size_t table;	 /* the number of the table's head it stands under; 0: at the top */
	struct str head; /* the way of that head; empty at the top */
	bool inside;	 /* in an inline table */
};

struct reading {
	struct str text;
	size_t at;
	unsigned depth;
	struct arena memory;
	struct defined *list;
	size_t count, room;
	struct str table; /* the way of the current table */
	size_t head;	  /* its number, counted from 1 */
	struct buf way;	  /* of what is looked for */
	struct err *e;
};

static int fail(struct reading *r, const char *what)
{
	return err_set(r->e, ERR_INVALID_CONFIG, "line %zu: %s",
		       bytes_count(str_upto(r->text, r->at), '\n') + 1, what);
}

static char peek(const struct reading *r)
{
	return r->at < r->text.n ? r->text.p[r->at] : 0;
}

static bool ahead(const struct reading *r, struct str what)
{
	return str_starts(str_from(r->text, r->at), what);
}

/* After a byte order mark. */
static size_t start_of(struct str text)
{
	return str_starts(text, STR("\xef\xbb\xbf")) ? 3 : 0;
}

static void skip_blanks(struct reading *r)
{
	while (peek(r) == ' ' || peek(r) == '\t')
		r->at++;
}

static void skip_comment(struct reading *r)
{
	while (r->at < r->text.n && peek(r) != '\n')
		r->at++;
}

/* Blanks, line ends and comments, as arrays may have them. */
static void skip_lines(struct reading *r)
{
	while (r->at < r->text.n) {
		if (peek(r) == '#')
			skip_comment(r);
		else if (peek(r) && strchr(" \t\r\n", peek(r)))
			r->at++;
		else
			return;
	}
}

/* The rest of a line after a value or a head: blanks and a comment. */
static int end_line(struct reading *r)
{
	skip_blanks(r);
	if (peek(r) == '#')
		skip_comment(r);
	if (ahead(r, STR("\r\n")))
		r->at++;
	if (r->at < r->text.n && peek(r) != '\n')
		return fail(r, "there is something after the end of a value");
	r->at += r->at < r->text.n;
	return 0;
}

static int read_string(struct reading *r)
{
	const char quote = peek(r);
	const char three[] = { quote, quote, quote };
	const bool lines = ahead(r, (struct str){ three, 3 });
	const struct str end = { three, lines ? 3 : 1 };

	for (r->at += end.n; !ahead(r, end); r->at++) {
		if (r->at >= r->text.n || (!lines && peek(r) == '\n'))
			return fail(r, "a string does not end");
		if (quote == '"' && peek(r) == '\\')
			r->at++;
	}
	r->at += end.n;
	for (int i = 0; lines && i < 2 && peek(r) == quote; i++)
		r->at++; /* quotes just before the end belong to the string */
	return 0;
}

static bool is_bare(char c)
{
	return (str_lower(c) >= 'a' && str_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-';
}

/* One name, added to the way. */
static int read_name(struct reading *r, struct buf *way)
{
	const size_t begin = r->at;
	const char quote = peek(r);

	if (quote == '"' || quote == '\'') {
		const struct json *v;
		struct err e;
		if (read_string(r) < 0)
			return -1;
		const struct str raw = { r->text.p + begin, r->at - begin };
		if (quote == '"' && json_parse(raw, &r->memory, &v, &e) == 0)
			buf_add(way, v->string);
		else
			buf_add(way, str_from(str_upto(raw, raw.n - 1), 1));
		return 0;
	}
	while (is_bare(peek(r)))
		r->at++;
	buf_add(way, (struct str){ r->text.p + begin, r->at - begin });
	return r->at > begin ? 0 : fail(r, "a name is missing");
}

/* Names with dots between them, added to the way, which may have names already. */
static int read_names(struct reading *r, struct buf *way)
{
	for (;;) {
		if (way->n)
			buf_addc(way, BETWEEN);
		if (read_name(r, way) < 0)
			return -1;
		skip_blanks(r);
		if (peek(r) != '.')
			return way->failed ? fail(r, "a name is too long") : 0;
		r->at++;
		skip_blanks(r);
	}
}

static struct defined *define(struct reading *r, struct defined d)
{
	if (r->count == r->room && !arena_grow(&r->memory, &r->list, &r->room, sizeof *r->list))
		return NULL;
	d.table = r->head;
	d.head = r->table;
	r->list[r->count] = d;
	return &r->list[r->count++];
}

static int read_pair(struct reading *r, struct str around, bool inside);

/* `close` is the bracket that ends it. What is in an inline table is defined below the way. */
static int read_bracket(struct reading *r, char close, struct str way)
{
	r->at++;
	if (++r->depth > LIMIT_JSON_DEPTH)
		return fail(r, "too deep");
	for (;;) {
		struct str ignored = { "#", 1 };
		skip_lines(r);
		if (peek(r) == close)
			break;
		if (close == '}' ? read_pair(r, way, true) < 0 : read_pair(r, ignored, false) < 0)
			return -1;
		skip_lines(r);
		if (peek(r) == ',')
			r->at++;
		else if (peek(r) != close)
			return fail(r, "a bracket is not closed");
	}
	r->at++;
	r->depth--;
	return 0;
}

static int read_value(struct reading *r, struct str way)
{
	const size_t begin = r->at;
	const char c = peek(r);

	if (c == '"' || c == '\'')
		return read_string(r);
	if (c == '[' || c == '{')
		return read_bracket(r, c == '[' ? ']' : '}', way);
	while (r->at < r->text.n && !strchr(",]}#\r\n", peek(r)))
		r->at++;
	while (r->at > begin && strchr(" \t", r->text.p[r->at - 1]))
		r->at--; /* a date and its time may have a blank between them */
	return r->at > begin ? 0 : fail(r, "a value is missing");
}

/* A name and its value below a way; or with the way "#" the value of an array. */
static int read_pair(struct reading *r, struct str around, bool inside)
{
	AUTO_BUF way = { .max = LIMIT_CONFIG_FILE };
	const size_t begin = r->at, first = r->count;

	if (str_eq(around, STR("#")))
		return read_value(r, around);
	buf_add(&way, around);
	if (read_names(r, &way) < 0)
		return -1;
	if (peek(r) != '=')
		return fail(r, "an equals sign is missing");
	r->at++;
	skip_blanks(r);
	struct defined d = { .way = arena_dup(&r->memory, buf_str(&way)), .begin = begin };
	const size_t value = r->at;
	if (!d.way.p || !define(r, d))
		return fail(r, "the text is too large");
	if (read_value(r, d.way) < 0)
		return -1;
	r->list[first].value = (struct str){ r->text.p + value, r->at - value };
	r->list[first].end = r->at;
	r->list[first].inside = inside;
	return 0;
}

static bool is_below(struct str way, struct str top)
{
	return !top.n || (way.n > top.n && str_starts(way, top) && way.p[top.n] == BETWEEN);
}

/* [a.b] or [[a.b]]. Tables in arrays, and tables below them, get a way that nothing else has. */
static int read_head(struct reading *r)
{
	const bool array = ahead(r, STR("[["));
	AUTO_BUF way = { .max = LIMIT_CONFIG_FILE };
	struct defined d = { .kind = array ? TOML_IN_ARRAY : TOML_TABLE, .begin = r->at };

	r->at += array ? 2 : 1;
	skip_blanks(r);
	if (read_names(r, &way) < 0)
		return -1;
	if (!ahead(r, array ? STR("]]") : STR("]")))
		return fail(r, "a bracket is not closed");
	r->at += array ? 2 : 1;
	d.way = arena_dup(&r->memory, buf_str(&way));
	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].kind == TOML_IN_ARRAY && is_below(d.way, r->list[i].way))
			d.kind = TOML_IN_ARRAY;
	if (end_line(r) < 0)
		return -1;
	d.end = r->at;
	r->head++;
	r->table = d.kind == TOML_IN_ARRAY ? STR("\x1f") : d.way;
	return d.way.p && define(r, d) ? 0 : fail(r, "the text is too large");
}

static int read_all(struct reading *r)
{
	r->at = start_of(r->text);
	while (r->at < r->text.n) {
		const size_t begin = r->at, first = r->count;
		skip_blanks(r);
		if (r->at >= r->text.n || strchr("#\r\n", peek(r))) {
			if (end_line(r) < 0)
				return -1;
		} else if (peek(r) == '[') {
			if (read_head(r) < 0)
				return -1;
			r->list[first].begin = begin;
		} else {
			if (read_pair(r, r->table, false) < 0 || end_line(r) < 0)
				return -1;
			r->list[first].begin = begin;
			r->list[first].end = r->at;
		}
	}
	return r->memory.failed ? fail(r, "the text is too large") : 0;
}

static void join(const struct key_path *at, struct buf *out)
{
	for (size_t i = 0; i < at->n; i++) {
		if (i)
			buf_addc(out, BETWEEN);
		buf_add(out, at->key[i]);
	}
}

/* The last definition of that kind and way, or NULL. */
static const struct defined *find(const struct reading *r, enum kind kind, struct str way)
{
	for (size_t i = r->count; i-- > 0;)
		if (r->list[i].kind == kind && str_eq(r->list[i].way, way))
			return &r->list[i];
	return NULL;
}

static void reading_done(struct reading *r)
{
	arena_done(&r->memory);
	buf_done(&r->way);
}

#define AUTO_READING CLEANUP(reading_done) struct reading

/* Read the text, and join the names of what is looked for. */
static int begin(struct reading *r, struct str text, const struct key_path *at, struct err *e)
{
	*r = (struct reading){ .text = text,
			       .memory = { .max = LIMIT_CLIENT_MEMORY },
			       .way = { .max = LIMIT_CONFIG_FILE },
			       .e = e };
	join(at, &r->way);
	return read_all(r);
}

int toml_find(struct str text, const struct key_path *at, struct str *ret, struct err *e)
{
	AUTO_READING r;

	if (begin(&r, text, at, e) < 0)
		return -1;
	const struct defined *d = find(&r, TOML_VALUE, buf_str(&r.way));
	const struct defined *table = find(&r, TOML_TABLE, buf_str(&r.way));
	*ret = d ? d->value : (struct str){ table ? text.p + table->begin : NULL, 0 };
	return 0;
}

bool toml_name(struct str text, const struct key_path *at, size_t i, struct arena *memory,
	       struct str *name)
{
	struct err e;
	struct str seen[64];
	size_t count = 0;
	AUTO_READING r;

	if (begin(&r, text, at, &e) < 0)
		return false;
	for (size_t k = 0; k < r.count && count < ARRAY_LEN(seen); k++) {
		struct str rest, key, more;
		if (r.list[k].kind == TOML_IN_ARRAY || !is_below(r.list[k].way, buf_str(&r.way)))
			continue;
		rest = str_from(r.list[k].way, r.way.n + (r.way.n > 0));
		(void)str_cut(rest, BETWEEN, &key, &more);
		size_t known = 0;
		while (known < count && !str_eq(seen[known], key))
			known++;
		if (known < count)
			continue;
		if (count == i) {
			*name = arena_dup(memory, key);
			return name->p != NULL;
		}
		seen[count++] = key;
	}
	return false;
}

static void add_name(struct buf *out, struct str name)
{
	bool bare = name.n > 0;

	for (size_t i = 0; i < name.n; i++)
		bare = bare && is_bare(name.p[i]);
	if (bare) {
		buf_add(out, name);
		return;
	}
	buf_addc(out, '"');
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '"' || name.p[i] == '\\')
			buf_addc(out, '\\');
		buf_addc(out, name.p[i]);
	}
	buf_addc(out, '"');
}

/* Names from the i-th on, with dots between them. */
static void add_names(struct buf *out, const struct key_path *at, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (i > from)
			buf_addc(out, '.');
		add_name(out, at->key[i]);
	}
}

static struct str eol_of(struct str text)
{
	return str_find(text, STR("\r\n")) < 0 ? STR("\n") : STR("\r\n");
}

/* Write "name = value" as a line of its own after offset `after`. */
static void add_line(struct str text, size_t after, const struct key_path *at, size_t from,
		     struct str value, struct buf *out)
{
	const struct str eol = eol_of(text);

	buf_add(out, str_upto(text, after));
	if (after > start_of(text) && text.p[after - 1] != '\n')
		buf_add(out, eol);
	add_names(out, at, from, at->n);
	buf_add(out, STR(" = "));
	buf_add(out, value);
	buf_add(out, eol);
	if (after == start_of(text) && after < text.n)
		buf_add(out, eol); /* the first line of all, before a table */
	buf_add(out, str_from(text, after));
}

static void add_inline(struct str text, const struct defined *d, const struct key_path *at,
		       size_t from, struct str value, struct buf *out)
{
	const size_t close = (size_t)(d->value.p + d->value.n - 1 - text.p);
	const struct str inside = str_trim(str_from(str_upto(d->value, d->value.n - 1), 1));
	size_t end = close;

	while (inside.n && strchr(" \t\r\n", text.p[end - 1]))
		end--;
	buf_add(out, str_upto(text, end));
	buf_add(out, !inside.n || str_ends(inside, STR(",")) ? STR(" ") : STR(", "));
	add_names(out, at, from, at->n);
	buf_add(out, STR(" = "));
	buf_add(out, value);
	if (!inside.n || end == close)
		buf_addc(out, ' ');
	buf_add(out, str_from(text, end));
}

/* Where a line may be added to the table with that number: after its last value. */
static size_t end_of_table(const struct reading *r, size_t table, size_t otherwise)
{
	size_t end = otherwise;

	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].table == table && !r->list[i].inside)
			end = r->list[i].end;
	return end;
}

/* A new table at the end. */
static void add_table(struct str text, const struct key_path *at, struct str value, struct buf *out)
{
	const struct str eol = eol_of(text);

	buf_add(out, text);
	if (text.n > start_of(text) && text.p[text.n - 1] != '\n')
		buf_add(out, eol);
	if (text.n > start_of(text))
		buf_add(out, eol);
	buf_addc(out, '[');
	add_names(out, at, 0, at->n - 1);
	buf_addc(out, ']');
	buf_add(out, eol);
	add_names(out, at, at->n - 1, at->n);
	buf_add(out, STR(" = "));
	buf_add(out, value);
	buf_add(out, eol);
}

/* Add a value that is not there yet. `way` is its joined way. */
static int add_value(const struct reading *r, const struct key_path *at, struct str way,
		     struct str value, struct buf *out)
{
	const struct defined *near = NULL;
	struct str top = way;

	for (size_t n = at->n - 1; n > 0; n--) { /* the table nearest to it */
		top = str_upto(top, top.n - at->key[n].n - 1);
		const struct defined *d = find(r, TOML_VALUE, top);
		/* Between the comments of an inline table, the value could get into one. */
		if (d ? d->value.p[0] != '{' || (str_index(d->value, '#') >= 0 &&
						 str_index(d->value, '\n') >= 0)
		      : find(r, TOML_IN_ARRAY, top) != NULL)
			return err_set(r->e, ERR_INVALID_CONFIG, "%.*s is not a plain table",
				       STR_FMT(at->key[n - 1]));
		if (d) {
			add_inline(r->text, d, at, n, value, out);
			return 0;
		}
		d = find(r, TOML_TABLE, top);
		if (d && n == at->n - 1) {
			add_line(r->text, end_of_table(r, d->table, d->end), at, n, value, out);
			return 0;
		}
		for (size_t i = 0; i < r->count && n == at->n - 1; i++)
			if (r->list[i].kind == TOML_VALUE && !r->list[i].inside &&
			    is_below(r->list[i].way, top) && !is_below(r->list[i].head, top))
				near = &r->list[i]; /* defined by dotted keys */
	}
	if (at->n == 1)
		add_line(r->text, end_of_table(r, 0, start_of(r->text)), at, 0, value, out);
	else if (near)
		add_line(r->text, near->end, at,
			 near->head.n ? bytes_count(near->head, BETWEEN) + 1 : 0, value, out);
	else
		add_table(r->text, at, value, out);
	return 0;
}

/* Whether it is a table: by a head, or because something is defined below it. */
static bool is_table(const struct reading *r, struct str way)
{
	bool below = find(r, TOML_TABLE, way) || find(r, TOML_IN_ARRAY, way);

	for (size_t i = 0; i < r->count && !below; i++)
		below = is_below(r->list[i].way, way);
	return below;
}

static int checked(const struct buf *out, struct err *e)
{
	return out->failed ? err_set(e, ERR_FILE_TOO_LARGE, "the configuration is too large") : 0;
}

int toml_set(struct str text, const struct key_path *at, struct str value, struct buf *out,
	     struct err *e)
{
	AUTO_READING r;

	if (begin(&r, text, at, e) < 0)
		return -1;
	const struct defined *d = find(&r, TOML_VALUE, buf_str(&r.way));
	if (!d && is_table(&r, buf_str(&r.way)))
		return err_set(e, ERR_INVALID_CONFIG, "%.*s is a table, not a value",
			       STR_FMT(at->key[at->n - 1]));
	if (!d)
		return add_value(&r, at, buf_str(&r.way), value, out) < 0 ? -1 : checked(out, e);
	const size_t begin = (size_t)(d->value.p - text.p);
	buf_add(out, str_upto(text, begin));
	buf_add(out, value);
	buf_add(out, str_from(text, begin + d->value.n));
	return checked(out, e);
}

/* Whether anything stands under the head, or in tables below it. */
static bool is_empty(const struct reading *r, const struct defined *table)
{
	for (size_t i = 0; i < r->count; i++)
		if (&r->list[i] != table && r->list[i].table == table->table)
			return false;
	return true;
}

int toml_remove(struct str text, const struct key_path *at, struct buf *out, struct err *e)
{
	AUTO_READING r;

	if (begin(&r, text, at, e) < 0)
		return -1;
	const struct defined *d = find(&r, TOML_VALUE, buf_str(&r.way));
	const struct defined *table = d ? NULL : find(&r, TOML_TABLE, buf_str(&r.way));
	if (table && is_empty(&r, table))
		d = table;
	if (!d) {
		buf_add(out, text);
		return checked(out, e);
	}
	size_t begin = d->begin, end = d->end;
	if (d->inside) { /* with one comma */
		while (end < text.n && strchr(" \t", text.p[end]))
			end++;
		if (text.p[end] == ',')
			end++;
		else
			end = d->end;
		while (begin && strchr(" \t\r\n", text.p[begin - 1]))
			begin--;
		if (end == d->end && text.p[begin - 1] == ',')
			begin--;
	} else if (table) { /* and the blank line before it */
		if (begin > 1 && text.p[begin - 1] == '\n' && text.p[begin - 2] == '\n')
			begin--;
		else if (begin > 3 && str_ends(str_upto(text, begin), STR("\r\n\r\n")))
			begin -= 2;
	}
	buf_add(out, str_upto(text, begin));
	buf_add(out, str_from(text, end));
	return checked(out, e);
}
