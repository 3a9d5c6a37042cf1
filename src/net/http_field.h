/* SPDX-License-Identifier: MIT */
/*
 * http_field: the lines HTTP is made of, and what some of them decide.
 *
 * Used by the parsers of heads and chunks, which share one idea of a line, of a token and of a
 * header; everybody else wants http_parse.h.
 */
#ifndef NET_HTTP_FIELD_H
#define NET_HTTP_FIELD_H

#include "net/http_parse.h"

enum {
	HTTP_TOKEN = 1 << 0,  /* may stand in a method or a header name */
	HTTP_TARGET = 1 << 1, /* may stand in a request target: visible ASCII but '#' */
	HTTP_HOST = 1 << 2,   /* may stand in Host: no '@' or '/', they would make it a URL */
};

/* The classes of a byte, or-ed. */
extern const unsigned char http_class[256];

/* How many bytes at the start of s are of the class. */
size_t http_span(struct str s, unsigned char class);

/*
 * Go on from *at to the end of a line. Returns 1 with *at behind its CRLF, 0 when the line goes on
 * behind the input, with *at where to resume; -1 on a control character (a tab is none), or a CR
 * or LF that stands alone.
 */
int http_line_end(struct str in, size_t *at, struct http_refusal *why);

/* One line without its CRLF as a header. Its bytes have passed http_line_end. */
int http_field_parse(struct str line, struct http_header *ret, struct http_refusal *why);

/*
 * The lines of a head between start line and empty line, each with its CRLF, as headers of *head,
 * which is zeroed but for the start line. Fills in the headers, host and what is decided for
 * requests and responses both; the version must be known.
 */
int http_fields_parse(struct str lines, struct http_head *head, struct http_refusal *why);

#endif
