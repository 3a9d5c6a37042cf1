/* SPDX-License-Identifier: MIT */
/* multipart: delimiters, the heads of parts, their names. */

#include "net/multipart.h"

#include <string.h>

#include "net/limits.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Take the next parameter (; name=value or ; name="value") off a header value. False if there is
 * none, or it is malformed.
 */
static bool next_param(struct str *s, struct str *name, struct str *value)
{
	size_t i = 0;

	while (i < s->n && (s->p[i] == ';' || is_blank(s->p[i])))
		i++;
	*s = str_from(*s, i);
	const size_t n = http_span(*s, HTTP_TOKEN);
	if (n == 0 || n == s->n || s->p[n] != '=')
		return false;
	*name = str_upto(*s, n);
	*s = str_from(*s, n + 1);
	if (s->n == 0 || s->p[0] != '"') {
		const size_t end = http_span(*s, HTTP_TOKEN);
		*value = str_upto(*s, end);
		*s = str_from(*s, end);
		return true;
	}
	for (i = 1; i < s->n && s->p[i] != '"'; i++)
		i += s->p[i] == '\\' && i + 1 < s->n;
	if (i >= s->n)
		return false;
	*value = (struct str){ s->p + 1, i - 1 };
	*s = str_from(*s, i + 1);
	return true;
}

/* The parameter of that name in a header value; { NULL, 0 } if there is none. */
static struct str param(struct str header, struct str wanted)
{
	const ptrdiff_t semicolon = str_index(header, ';');
	struct str rest = str_from(header, semicolon < 0 ? header.n : (size_t)semicolon);
	struct str name, value;

	while (next_param(&rest, &name, &value))
		if (str_eq_nocase(name, wanted))
			return value;
	return (struct str){ NULL, 0 };
}

static struct str first_word(struct str header)
{
	struct str word, rest;

	(void)str_cut(header, ';', &word, &rest);
	return str_trim(word);
}

bool multipart_is_form(struct str content_type)
{
	return str_eq_nocase(first_word(content_type), STR("multipart/form-data"));
}

/*
 * Find the next delimiter: CRLF, two dashes, the boundary, perhaps two dashes more, blanks, CRLF.
 * At the start of a body the first CRLF is missing (`at_start`). *before gets the bytes before it,
 * m->rest the bytes after it. False if there is none.
 */
static bool find_delimiter(struct multipart *m, bool at_start, struct str *before)
{
	const struct str all = m->rest;

	for (size_t at = 0;;) {
		const ptrdiff_t found = str_find(str_from(all, at), m->boundary);
		if (found < 0)
			return false;
		const size_t begin = at + (size_t)found;
		at = begin + 1;
		const bool start = at_start && begin == 2;
		if (begin < 2 || memcmp(all.p + begin - 2, "--", 2) != 0 ||
		    (!start && (begin < 4 || memcmp(all.p + begin - 4, "\r\n", 2) != 0)))
			continue;
		struct str tail = str_from(all, begin + m->boundary.n);
		const bool last = str_starts(tail, STR("--"));
		if (last)
			tail = str_from(tail, 2);
		while (tail.n && is_blank(tail.p[0]))
			tail = str_from(tail, 1);
		/* After the last one nothing needs to follow. */
		if (!str_starts(tail, STR("\r\n")) && !(last && tail.n == 0))
			continue;
		*before = str_upto(all, start ? 0 : begin - 4);
		m->rest = str_from(tail, 2);
		m->ended = last;
		return true;
	}
}

int multipart_begin(struct multipart *m, struct str content_type, struct str body,
		    struct http_refusal *why)
{
	struct str preamble;

	*m = (struct multipart){ .boundary = param(content_type, STR("boundary")), .rest = body };
	if (!multipart_is_form(content_type) || m->boundary.n == 0 ||
	    m->boundary.n > LIMIT_MULTIPART_BOUNDARY)
		return http_refuse(why, 400,
				   "The body must be multipart/form-data with a boundary");
	if (!find_delimiter(m, true, &preamble))
		return http_refuse(why, 400, "The form has no part");
	return 0;
}

/* Name and file name from the head of a part, whose lines end in CRLF. */
static int read_head(struct str head, struct multipart_part *ret, struct http_refusal *why)
{
	size_t at = 0;

	while (at < head.n) {
		const size_t begin = at;
		struct http_header field;
		if (http_line_end(head, &at, why) != 1)
			return http_refuse(why, 400, "The head of a part of the form is malformed");
		const struct str line = { head.p + begin, at - begin - 2 };
		if (http_field_parse(line, &field, why) < 0)
			return -1;
		if (!str_eq_nocase(field.name, STR("content-disposition")) ||
		    !str_eq_nocase(first_word(field.value), STR("form-data")))
			continue;
		ret->name = param(field.value, STR("name"));
		ret->filename = param(field.value, STR("filename"));
	}
	return ret->name.p ? 0 : http_refuse(why, 400, "A part of the form has no name");
}

int multipart_next(struct multipart *m, struct multipart_part *ret, struct http_refusal *why)
{
	struct str part;

	if (m->ended)
		return 0;
	if (m->parts++ == LIMIT_MULTIPART_PARTS)
		return http_refuse(why, 400, "The form has too many parts");
	if (!find_delimiter(m, false, &part))
		return http_refuse(why, 400, "A part of the form has no end");
	const ptrdiff_t end = str_find(str_upto(part, LIMIT_MULTIPART_HEAD), STR("\r\n\r\n"));
	if (end < 0)
		return http_refuse(why, 400, "A part of the form has no head, or too long a one");
	struct multipart_part found = { .content = str_from(part, (size_t)end + 4) };
	if (read_head(str_upto(part, (size_t)end + 2), &found, why) < 0)
		return -1;
	*ret = found;
	return 1;
}

size_t multipart_unescape(struct str raw, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < raw.n; i++) {
		/* Browsers write a quote as %22, older clients as \". */
		if (raw.n - i >= 3 && memcmp(raw.p + i, "%22", 3) == 0) {
			out[n++] = '"';
			i += 2;
			continue;
		}
		if (raw.p[i] == '\\' && i + 1 < raw.n &&
		    (raw.p[i + 1] == '"' || raw.p[i + 1] == '\\'))
			i++;
		out[n++] = raw.p[i];
	}
	return n;
}
