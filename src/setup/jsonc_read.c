/* SPDX-License-Identifier: MIT */
/* jsonc_read: read the whole text, check it, and remember where one item is. */

#include "setup/jsonc_read.h"

#include "base/arena.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/limits.h"

static int fail(struct jsonc_reader *r, const char *what)
{
	const size_t line = bytes_count(str_upto(r->text, r->at), '\n') + 1;

	return err_set(r->e, ERR_INVALID_CONFIG, "line %zu: %s", line, what);
}

char jsonc_peek(const struct jsonc_reader *r)
{
	return r->at < r->text.n ? r->text.p[r->at] : 0;
}

static bool ahead(const struct jsonc_reader *r, struct str what)
{
	return str_starts(str_from(r->text, r->at), what);
}

static int skip_comment(struct jsonc_reader *r)
{
	const bool block = ahead(r, STR("/*"));
	const struct str end = block ? STR("*/") : STR("\n");
	const ptrdiff_t length = str_find(str_from(r->text, r->at + 2), end);

	if (length < 0 && block)
		return fail(r, "a comment does not end");
	r->at = length < 0 ? r->text.n : r->at + 2 + (size_t)length + (block ? 2 : 0);
	return 0;
}

static int skip_blanks(struct jsonc_reader *r)
{
	while (r->at < r->text.n) {
		if (strchr(" \t\r\n", r->text.p[r->at]) && r->text.p[r->at])
			r->at++;
		else if (!ahead(r, STR("//")) && !ahead(r, STR("/*")))
			return 0;
		else if (skip_comment(r) < 0)
			return -1;
	}
	return 0;
}

static int read_string(struct jsonc_reader *r, struct str *ret)
{
	const size_t begin = r->at++;

	while (jsonc_peek(r) != '"') {
		if (r->at >= r->text.n || jsonc_peek(r) == '\n')
			return fail(r, "a string does not end");
		r->at += jsonc_peek(r) == '\\' && r->at + 1 < r->text.n ? 2 : 1;
	}
	r->at++;
	*ret = (struct str){ r->text.p + begin, r->at - begin };
	return 0;
}

static int read_container(struct jsonc_reader *r, const struct jsonc_wanted *w,
			  struct jsonc_container *ret);

/* A number, true, false or null; which of them is for the agent to judge. */
static int read_word(struct jsonc_reader *r)
{
	const size_t begin = r->at;

	while (r->at < r->text.n &&
	       (memchr("+-.", jsonc_peek(r), 3) ||
		(str_lower(jsonc_peek(r)) >= 'a' && str_lower(jsonc_peek(r)) <= 'z') ||
		(jsonc_peek(r) >= '0' && jsonc_peek(r) <= '9')))
		r->at++;
	return r->at > begin ? 0 : fail(r, "a value is missing");
}

static int read_value(struct jsonc_reader *r, struct str *ret)
{
	const size_t begin = r->at;
	struct jsonc_container ignored;
	int status;

	if (jsonc_peek(r) == '"') {
		status = read_string(r, ret);
	} else if (jsonc_peek(r) == '{' || jsonc_peek(r) == '[') {
		if (++r->depth > LIMIT_JSON_DEPTH)
			return fail(r, "too deep");
		status = read_container(r, &(struct jsonc_wanted){ .number = JSONC_NOWHERE },
					&ignored);
		r->depth--;
	} else {
		status = read_word(r);
	}
	*ret = (struct str){ r->text.p + begin, r->at - begin };
	return status;
}

/* Whether the text of a string, in quotes, stands for these bytes. */
static bool names(struct str quoted, struct str name)
{
	AUTO_ARENA memory = { .max = LIMIT_CONFIG_FILE };
	const struct json *v;
	struct err e;

	if (!quoted.n)
		return false;
	if (!memchr(quoted.p, '\\', quoted.n))
		return str_eq(str_from(str_upto(quoted, quoted.n - 1), 1), name);
	return json_parse(quoted, &memory, &v, &e) == 0 && str_eq(v->string, name);
}

static bool is_wanted(const struct jsonc_wanted *w, const struct jsonc_item *item, size_t number)
{
	if (w->name)
		return names(item->name, *w->name);
	if (w->value)
		return jsonc_same(item->value, *w->value);
	return w->number == (ptrdiff_t)number;
}

static int read_item(struct jsonc_reader *r, bool member, struct jsonc_item *ret)
{
	ret->begin = r->at;
	ret->name = (struct str){ NULL, 0 };
	if (member) {
		if (jsonc_peek(r) != '"')
			return fail(r, "a name in quotes is missing");
		if (read_string(r, &ret->name) < 0 || skip_blanks(r) < 0)
			return -1;
		if (jsonc_peek(r) != ':')
			return fail(r, "a colon is missing");
		r->at++;
		if (skip_blanks(r) < 0)
			return -1;
	}
	return read_value(r, &ret->value);
}

static int read_container(struct jsonc_reader *r, const struct jsonc_wanted *w,
			  struct jsonc_container *ret)
{
	const bool object = jsonc_peek(r) == '{';
	struct jsonc_container c = { .open = r->at++ };
	struct jsonc_item item = { .comma_after = JSONC_NOWHERE };

	for (;;) {
		if (skip_blanks(r) < 0)
			return -1;
		if (jsonc_peek(r) == (object ? '}' : ']'))
			break;
		if (r->at >= r->text.n)
			return fail(r, "a bracket is not closed");
		if (c.count && item.comma_after == JSONC_NOWHERE)
			return fail(r, "a comma is missing");
		item.comma_before = item.comma_after;
		if (read_item(r, object, &item) < 0 || skip_blanks(r) < 0)
			return -1;
		item.comma_after = jsonc_peek(r) == ',' ? (ptrdiff_t)r->at++ : JSONC_NOWHERE;
		c.last = item;
		if (is_wanted(w, &item, c.count++)) {
			c.found = item;
			c.has_found = true;
		}
	}
	c.close = r->at++;
	*ret = c;
	return 0;
}

/* Read the whole text. Sets *top to its value, or to NULL and its end if it has none. */
static int read_all(struct jsonc_reader *r, struct str *top)
{
	if (ahead(r, STR("\xef\xbb\xbf")))
		r->at = 3;
	if (skip_blanks(r) < 0)
		return -1;
	if (r->at == r->text.n) {
		*top = (struct str){ NULL, 0 };
		return 0;
	}
	if (read_value(r, top) < 0 || skip_blanks(r) < 0)
		return -1;
	return r->at == r->text.n ? 0 : fail(r, "there is something after the end");
}

/* The container that is the value, which has been read before. */
void jsonc_open(struct str text, struct str value, const struct jsonc_wanted *w,
		struct jsonc_container *ret)
{
	struct err e;
	struct jsonc_reader r = { .text = text, .at = (size_t)(value.p - text.p), .e = &e };

	*ret = (struct jsonc_container){ .count = 0 };
	(void)read_container(&r, w, ret);
}

/* Follow the keys as far as they exist. Returns how many do, with the value of the last of them and
 * what contains it. */
int jsonc_follow(struct str text, const struct key_path *at, struct str *value,
		 struct jsonc_container *around, struct err *e)
{
	struct jsonc_reader r = { .text = text, .e = e };
	size_t i = 0;

	if (read_all(&r, value) < 0)
		return -1;
	for (; value->p && i < at->n; i++) {
		struct jsonc_container c;
		if (value->p[0] != '{')
			break;
		jsonc_open(text, *value, &(struct jsonc_wanted){ .name = &at->key[i] }, &c);
		*around = c;
		if (!c.has_found)
			break;
		*value = c.found.value;
	}
	return (int)i;
}

/* The next token of a value: a bracket, comma, colon, string or word. Empty at the end. */
struct str jsonc_token(struct jsonc_reader *r)
{
	struct str token = { NULL, 0 };

	if (skip_blanks(r) < 0 || r->at >= r->text.n)
		return token;
	const size_t begin = r->at;
	if (jsonc_peek(r) == '"' ? read_string(r, &token) < 0
				 : (memchr("{}[],:", jsonc_peek(r), 6) || read_word(r) < 0))
		r->at = begin + 1;
	return (struct str){ r->text.p + begin, r->at - begin };
}

bool jsonc_same(struct str one, struct str other)
{
	struct err e;
	struct jsonc_reader a = { .text = one, .e = &e }, b = { .text = other, .e = &e };

	for (;;) {
		const struct str left = jsonc_token(&a), right = jsonc_token(&b);
		if (!str_eq(left, right))
			return false;
		if (!left.n)
			return true;
	}
}

size_t jsonc_after_comment(struct str text, size_t at)
{
	struct err e;
	struct jsonc_reader r = { .text = text, .at = at, .e = &e };

	while (jsonc_peek(&r) == ' ' || jsonc_peek(&r) == '\t')
		r.at++;
	if (!ahead(&r, STR("//")) && !ahead(&r, STR("/*")))
		return at;
	const bool block = ahead(&r, STR("/*"));
	if (skip_comment(&r) < 0 || memchr(text.p + at, '\n', r.at - at))
		return at;
	if (!block && r.at > at && text.p[r.at - 1] == '\r')
		r.at--;
	return r.at;
}
