/* SPDX-License-Identifier: MIT */
/* http_chunk: sizes, data and trailers of a chunked body. */

#include "net/http_parse.h"

#include "net/limits.h"

enum { SIZE_DIGITS = 15 }; /* 60 bits: it cannot overflow or become negative */

/* The length of a quoted string with its quotes at the start of s, or 0. */
static size_t quoted(struct str s)
{
	for (size_t i = 1; i < s.n; i++) {
		if (s.p[i] == '"')
			return i + 1;
		if (s.p[i] == '\\')
			i++;
	}
	return 0;
}

/* ;name, ;name=token, ;name="quoted", any number of them. */
static bool extensions_good(struct str s)
{
	while (s.n) {
		if (s.p[0] != ';')
			return false;
		s = str_from(s, 1);
		const size_t name = http_span(s, HTTP_TOKEN);
		if (name == 0)
			return false;
		s = str_from(s, name);
		if (s.n == 0 || s.p[0] != '=')
			continue;
		s = str_from(s, 1);
		const size_t value = s.n && s.p[0] == '"' ? quoted(s) : http_span(s, HTTP_TOKEN);
		if (value == 0)
			return false;
		s = str_from(s, value);
	}
	return true;
}

static int size_line(struct http_chunks *chunks, struct str line, struct http_refusal *why)
{
	size_t n = 0;

	chunks->left = 0;
	for (; n < line.n && str_hex(line.p[n]) >= 0; n++) {
		if (n == SIZE_DIGITS)
			return http_refuse(why, 400, "The size of a chunk is too large.");
		chunks->left = chunks->left << 4 | str_hex(line.p[n]);
	}
	if (n == 0)
		return http_refuse(why, 400, "A chunk must begin with its size in hexadecimal.");
	if (!extensions_good(str_from(line, n)))
		return http_refuse(why, 400, "Only extensions may follow the size of a chunk.");
	chunks->extensions += line.n - n;
	if (chunks->extensions > LIMIT_HTTP_EXTENSIONS)
		return http_refuse(why, 413, "The chunks of the body have too many extensions.");
	chunks->part = chunks->left ? HTTP_CHUNK_BODY : HTTP_CHUNK_TRAILER;
	return 0;
}

static int trailer_line(struct http_chunks *chunks, struct str line, struct http_refusal *why)
{
	struct http_header trailer;

	if (line.n == 0) {
		chunks->part = HTTP_CHUNK_OVER;
		return 0;
	}
	chunks->trailers += line.n + 2;
	if (http_field_parse(line, &trailer, why) < 0)
		return -1;
	/* It is dropped here, but a proxy might have merged it into the head. */
	if (str_eq_nocase(trailer.name, STR("Content-Length")) ||
	    str_eq_nocase(trailer.name, STR("Transfer-Encoding")) ||
	    str_eq_nocase(trailer.name, STR("Host")))
		return http_refuse(why, 400,
				   "A trailer may not say how the message is to be read.");
	return 0;
}

/* Take one line from the start of `in`, as long as its part allows. Returns its length with the
 * CRLF, 0 if it is not complete, or -1. */
static int take_line(struct http_chunks *chunks, struct str in, struct http_refusal *why)
{
	const bool trailer = chunks->part == HTTP_CHUNK_TRAILER;
	const size_t most =
		trailer ? LIMIT_HTTP_TRAILERS - chunks->trailers : LIMIT_HTTP_CHUNK_LINE;
	const struct str part = str_upto(in, most);
	const int found = http_line_end(part, &chunks->scanned, why);

	if (found == 0 && part.n == most)
		return trailer ? http_refuse(why, 431, "The trailers of the body are too long.")
			       : http_refuse(why, 400, "The size of a chunk is too long a line.");
	if (found <= 0)
		return found;
	const int n = (int)chunks->scanned;
	const struct str line = { in.p, (size_t)n - 2 };
	chunks->scanned = 0;
	if ((trailer ? trailer_line : size_line)(chunks, line, why) < 0)
		return -1;
	return n;
}

/* Take the CRLF after the data. Returns 2, 0 if it is not complete, or -1. */
static int take_crlf(struct http_chunks *chunks, struct str in, struct http_refusal *why)
{
	if ((in.n > 0 && in.p[0] != '\r') || (in.n > 1 && in.p[1] != '\n'))
		return http_refuse(why, 400, "The data of a chunk must end in CR LF.");
	if (in.n < 2)
		return 0;
	chunks->part = HTTP_CHUNK_SIZE;
	return 2;
}

int http_chunk_next(struct http_chunks *chunks, struct str in, struct str *data, size_t *used,
		    struct http_refusal *why)
{
	size_t at = 0;

	while (chunks->part != HTTP_CHUNK_OVER) {
		const struct str rest = str_from(in, at);
		if (chunks->part == HTTP_CHUNK_BODY && rest.n) {
			const size_t left = (size_t)chunks->left;
			*data = str_upto(rest, left);
			*used = at + data->n;
			chunks->left -= (int64_t)data->n;
			if (chunks->left == 0)
				chunks->part = HTTP_CHUNK_CRLF;
			return HTTP_CHUNK_DATA;
		}
		int n = 0;
		if (chunks->part == HTTP_CHUNK_CRLF)
			n = take_crlf(chunks, rest, why);
		else if (chunks->part != HTTP_CHUNK_BODY)
			n = take_line(chunks, rest, why);
		if (n < 0)
			return -1;
		if (n == 0) {
			*used = at;
			return HTTP_CHUNK_MORE;
		}
		at += (size_t)n;
	}
	*used = at;
	return HTTP_CHUNK_END;
}
