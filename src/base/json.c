/* SPDX-License-Identifier: MIT */
/* json: a strict recursive-descent reader. */

#include "base/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/utf8.h"

struct json_reader {
	struct str text;
	char *over; /* the text, if strings are decoded in place; or NULL */
	size_t at;
	int depth;
	int values;
	struct arena *arena;
	struct err *e;
};

static int value(struct json_reader *r, struct json *ret);

static int fail(struct json_reader *r, const char *what)
{
	return err_set(r->e, ERR_INVALID_ARGUMENTS, "Invalid JSON at byte %zu: %s", r->at, what);
}

static int no_memory(struct json_reader *r)
{
	return err_set(r->e, ERR_INVALID_ARGUMENTS,
		       "The JSON value needs more memory than one request may use");
}

/* The current byte; NUL at the end, which no rule of the grammar accepts. */
static char peek(const struct json_reader *r)
{
	return r->at < r->text.n ? r->text.p[r->at] : '\0';
}

static void skip_blanks(struct json_reader *r)
{
	while (r->at < r->text.n) {
		const char c = r->text.p[r->at];
		if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
			return;
		r->at++;
	}
}

static bool accept(struct json_reader *r, char c)
{
	if (peek(r) != c || r->at >= r->text.n)
		return false;
	r->at++;
	return true;
}

static int word(struct json_reader *r, struct str w)
{
	if (!str_starts(str_from(r->text, r->at), w))
		return fail(r, "expected a value");
	r->at += w.n;
	return 0;
}

static size_t digits(struct json_reader *r)
{
	const size_t from = r->at;

	while (peek(r) >= '0' && peek(r) <= '9')
		r->at++;
	return r->at - from;
}

static int number(struct json_reader *r, struct json *ret)
{
	const size_t from = r->at;
	bool whole = true;

	(void)accept(r, '-');
	if (!accept(r, '0') && digits(r) == 0)
		return fail(r, "expected a digit");
	if (accept(r, '.')) {
		whole = false;
		if (digits(r) == 0)
			return fail(r, "expected a digit after the decimal point");
	}
	if (accept(r, 'e') || accept(r, 'E')) {
		whole = false;
		if (!accept(r, '+'))
			(void)accept(r, '-');
		if (digits(r) == 0)
			return fail(r, "expected a digit in the exponent");
	}
	const struct str text = { r->text.p + from, r->at - from };
	ret->type = JSON_NUMBER;
	if (whole && str_int(text, &ret->integer)) {
		ret->whole = true;
		ret->number = (double)ret->integer;
		return 0;
	}
	/* strtod needs a NUL. The program never sets a locale, so the point is '.'. */
	const struct str copy = arena_dup(r->arena, text);
	if (!copy.p)
		return no_memory(r);
	ret->number = strtod(copy.p, NULL);
	/* 1.0 and 1e3 are integers as well: JSON has only numbers. */
	if (fabs(ret->number) < 9007199254740992.0 && ret->number == trunc(ret->number)) {
		ret->whole = true;
		ret->integer = (int64_t)ret->number;
	}
	return 0;
}

static int hex4(struct json_reader *r, uint32_t *ret)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++, r->at++) {
		const int digit = str_hex(peek(r));
		if (digit < 0)
			return fail(r, "expected four hexadecimal digits");
		v = v << 4 | (uint32_t)digit;
	}
	*ret = v;
	return 0;
}

/* After "\u": one code point, from one or two escapes. */
static int unicode(struct json_reader *r, uint32_t *ret)
{
	uint32_t high, low;

	if (hex4(r, &high) < 0)
		return -1;
	*ret = high;
	if (high < 0xd800 || high > 0xdbff || !str_starts(str_from(r->text, r->at), STR("\\u")))
		return 0;
	const size_t back = r->at;
	r->at += 2;
	if (hex4(r, &low) < 0)
		return -1;
	if (low >= 0xdc00 && low <= 0xdfff)
		*ret = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	else
		r->at = back; /* the first is a lone surrogate; the second is read by itself */
	return 0;
}

/* After a backslash: write what the escape stands for, at most four bytes. */
static int escape(struct json_reader *r, char *out, size_t *n)
{
	const char c = peek(r);
	uint32_t code_point;

	if (c == 'u') {
		r->at++;
		if (unicode(r, &code_point) < 0)
			return -1;
		*n += utf8_encode(code_point, out + *n);
		return 0;
	}
	if (!bytes_unescaped[(unsigned char)c])
		return fail(r, "unknown escape in a string");
	out[(*n)++] = bytes_unescaped[(unsigned char)c];
	r->at++;
	return 0;
}

/* Skip the bytes of a string that stand for themselves, up to its quote or the next escape. */
static int plain_bytes(struct json_reader *r)
{
	for (;;) {
		while (r->text.n - r->at >= BYTES_BLOCK) {
			const uint64_t mask = bytes_special(r->text.p + r->at);
			if (mask) {
				r->at += (size_t)__builtin_ctzll(mask);
				break;
			}
			r->at += BYTES_BLOCK;
		}
		if (r->at >= r->text.n)
			return fail(r, "the string does not end");
		const unsigned char c = (unsigned char)r->text.p[r->at];
		if (c == '"' || c == '\\')
			return 0;
		if (c < 0x20)
			return fail(r, "a control character in a string must be escaped");
		if (c < 0x80) {
			r->at++;
			continue;
		}
		size_t bad;
		const size_t n = utf8_next(str_from(r->text, r->at), &bad);
		if (n == 0)
			return fail(r, "a string is not well-formed UTF-8");
		r->at += n;
	}
}

/* How many bytes there are from the offset, which is inside a string, to the quote that ends it:
 * the first quote after an even number of backslashes, because two of them stand for one. */
static size_t string_span(const struct json_reader *r, size_t from)
{
	const struct str rest = str_from(r->text, from);
	ptrdiff_t i;

	for (size_t at = 0; (i = str_index(str_from(rest, at), '"')) >= 0; at += (size_t)i + 1) {
		const size_t quote = at + (size_t)i;
		size_t slashes = 0;
		while (slashes < quote && rest.p[quote - slashes - 1] == '\\')
			slashes++;
		if (slashes % 2 == 0)
			return quote;
	}
	return rest.n;
}

/* Decode many escapes at once, if the output is far enough from the text. Returns how many bytes
 * were written. */
static size_t unescape_many(struct json_reader *r, char *out)
{
	size_t used, n;

	if (r->over && r->text.p + r->at - out < BYTES_STEP)
		return 0;
	n = bytes_unescape(out, str_from(r->text, r->at), &used);
	r->at += used;
	return n;
}

static int string(struct json_reader *r, struct str *ret)
{
	const size_t from = ++r->at;
	size_t n = 0;
	char *out = NULL;

	for (size_t start = from;; start = r->at) {
		if (plain_bytes(r) < 0)
			return -1;
		const struct str run = { r->text.p + start, r->at - start };
		const bool end = r->text.p[r->at++] == '"';
		if (end && !out) {
			*ret = run;
			return 0;
		}
		/* The first escape. No escape is shorter than what it stands for, so the string as
		 * it is written has enough room, and it can be decoded in place. */
		if (!out)
			out = r->over ? r->over + from
				      : arena_alloc(r->arena, string_span(r, from) + BYTES_STEP);
		if (!out)
			return no_memory(r);
		memmove(out + n, run.p, run.n);
		n += run.n;
		if (end)
			break;
		if (escape(r, out, &n) < 0)
			return -1;
		n += unescape_many(r, out + n);
	}
	*ret = (struct str){ out, n };
	return 0;
}

/* The items of an array or the members of an object, after the opening bracket. */
static int children(struct json_reader *r, char close, struct json *parent)
{
	struct json **tail = &parent->first;

	skip_blanks(r);
	if (accept(r, close))
		return 0;
	do {
		struct json *v = arena_alloc(r->arena, sizeof *v);
		if (!v)
			return no_memory(r);
		*v = (struct json){ .type = JSON_NULL };
		skip_blanks(r);
		if (close == '}') {
			if (peek(r) != '"')
				return fail(r, "expected a member name in quotes");
			if (string(r, &v->name) < 0)
				return -1;
			skip_blanks(r);
			if (!accept(r, ':'))
				return fail(r, "expected ':'");
			skip_blanks(r);
		}
		if (value(r, v) < 0)
			return -1;
		*tail = v;
		tail = &v->next;
		skip_blanks(r);
	} while (accept(r, ','));
	if (!accept(r, close))
		return fail(r, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
	return 0;
}

static int nested(struct json_reader *r, struct json *ret)
{
	const char open = r->text.p[r->at];
	const bool object = open == '{';

	if (++r->depth > LIMIT_JSON_DEPTH)
		return fail(r, "nested too deeply");
	r->at++;
	ret->type = object ? JSON_OBJECT : JSON_ARRAY;
	ret->first = NULL;
	if (children(r, object ? '}' : ']', ret) < 0)
		return -1;
	r->depth--;
	return 0;
}

static int value(struct json_reader *r, struct json *ret)
{
	if (++r->values > LIMIT_JSON_VALUES)
		return fail(r, "too many values");
	switch (peek(r)) {
	case '{':
	case '[':
		return nested(r, ret);
	case '"':
		ret->type = JSON_STRING;
		return string(r, &ret->string);
	case 't':
	case 'f':
		ret->type = JSON_BOOL;
		ret->boolean = peek(r) == 't';
		return word(r, ret->boolean ? STR("true") : STR("false"));
	case 'n':
		ret->type = JSON_NULL;
		return word(r, STR("null"));
	case '-':
	case '0' ... '9':
		return number(r, ret);
	default:
		return fail(r, r->at < r->text.n ? "expected a value" : "the text ends too early");
	}
}

static int whole(struct json_reader *r, const struct json **ret)
{
	struct json *v = arena_alloc(r->arena, sizeof *v);

	if (!v)
		return no_memory(r);
	*v = (struct json){ .type = JSON_NULL };
	skip_blanks(r);
	if (value(r, v) < 0)
		return -1;
	skip_blanks(r);
	if (r->at != r->text.n)
		return fail(r, "unexpected text after the value");
	*ret = v;
	return 0;
}

int json_parse(struct str text, struct arena *a, const struct json **ret, struct err *e)
{
	return whole(&(struct json_reader){ .text = text, .arena = a, .e = e }, ret);
}

int json_parse_over(char *text, size_t n, struct arena *a, const struct json **ret, struct err *e)
{
	return whole(&(struct json_reader){ .text = { text, n }, .over = text, .arena = a, .e = e },
		     ret);
}

/* Where a text that was cut can end, and what is open there. */
struct json_end {
	size_t at;
	int depth;
};

/* Where a string can end that is cut off: after its last whole character or escape. */
static size_t string_end(struct str text, size_t from)
{
	size_t at = from, end = from;

	while (at < text.n) {
		end = at;
		at += text.p[at] != '\\' ? 1 : str_starts(str_from(text, at), STR("\\u")) ? 6 : 2;
	}
	if (at == text.n)
		end = at;
	return from + utf8_whole((struct str){ text.p + from, end - from });
}

struct str json_complete(struct str beginning, struct arena *a)
{
	char open[LIMIT_JSON_DEPTH + 1] = { 0 }, *out;
	struct json_end end = { 0, 0 };
	bool is_name = false;
	int depth = 0;

	for (size_t i = 0; i < beginning.n; i++) {
		const char c = beginning.p[i];
		if (c == '"') {
			const size_t quote =
				i + 1 +
				string_span(&(struct json_reader){ .text = beginning }, i + 1);
			if (quote >= beginning.n && !is_name) {
				end = (struct json_end){ string_end(beginning, i + 1), depth + 1 };
				open[depth] = '"';
			}
			i = quote;
			if (quote < beginning.n && !is_name)
				end = (struct json_end){ quote + 1, depth };
		} else if (c == '{' || c == '[') {
			if (depth == LIMIT_JSON_DEPTH)
				break;
			open[depth++] = c == '{' ? '}' : ']';
			is_name = c == '{';
			end = (struct json_end){ i + 1, depth };
		} else if ((c == '}' || c == ']') && depth > 0) {
			end = (struct json_end){ i + 1, --depth };
		} else if (c == ',') {
			is_name = depth > 0 && open[depth - 1] == '}';
			end = (struct json_end){ i, depth };
		} else if (c == ':') {
			is_name = false;
		}
	}
	out = arena_alloc(a, end.at + (size_t)end.depth + 1);
	if (!out)
		return STR("");
	memcpy(out, beginning.p, end.at);
	for (int i = 0; i < end.depth; i++)
		out[end.at + (size_t)i] = open[end.depth - 1 - i];
	return (struct str){ out, end.at + (size_t)end.depth };
}

const struct json json_empty = { .type = JSON_OBJECT };

const struct json *json_get(const struct json *object, struct str name)
{
	const struct json *found = NULL;

	if (object && object->type == JSON_OBJECT)
		for (const struct json *v = object->first; v; v = v->next)
			if (str_eq(v->name, name))
				found = v;
	return found;
}

const char *json_type_name(const struct json *v)
{
	static const char *const names[] = {
		[JSON_NULL] = "null",	    [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
		[JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
	};
	return names[v->type];
}
