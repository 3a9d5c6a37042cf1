/* SPDX-License-Identifier: MIT */
/*
 * http_parse: the head of an HTTP/1.1 message, strictly.
 *
 * Pure: nothing is allocated, read or written; every str of a parsed head points into the input.
 * What two parsers could read in two ways is refused, never repaired, because a request that a
 * proxy and we would cut differently is how requests are smuggled:
 *	lines end in CRLF; a bare CR, a bare LF, NUL and control characters are refused; no folding
 *	no blank before the colon, no empty name, no byte in a name that is not a token
 *	one Content-Length at most, digits only (leading zeros are decimal), never with
 *	Transfer-Encoding, which must be exactly "chunked" and never stands in HTTP/1.0
 *	one Host in HTTP/1.1 (it may be empty), at most one in HTTP/1.0
 * One empty line before a request is skipped: old clients send one behind a body. A second one
 * is refused, since nobody sends it.
 *
 * The bytes come as the network brings them. The caller keeps a zeroed http_scan beside its
 * buffer and calls again with all bytes of the message so far; what was looked at before is not
 * looked at again, and the buffer may have moved. The verdict does not depend on how the bytes
 * were cut into pieces.
 *
 *	struct http_scan scan = { 0 };                           (per connection)
 *	const int n = http_parse_head(buf_str(&in), &scan, &head, &why);
 *	n < 0	answer why.status and why.sentence, then close: the next byte means nothing
 *	n == 0	read more
 *	n > 0	the head is the first n bytes; the body follows
 */
#ifndef NET_HTTP_PARSE_H
#define NET_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/str.h"

/* Why a message is refused: the status to answer with, and a constant sentence. */
struct http_refusal {
	int status;
	const char *sentence;
};

/* Sets *why and returns -1, so that a refusal is one line. */
static inline int http_refuse(struct http_refusal *why, int status, const char *sentence)
{
	*why = (struct http_refusal){ status, sentence };
	return -1;
}

/* How far a head has been looked at. Zero before the first byte of a message, and again when the
 * head was complete. */
struct http_scan {
	size_t at;   /* bytes before this one are known to be good */
	size_t line; /* where the line behind the start line begins; 0 until that is known */
};

enum http_method {
	HTTP_OTHER, /* a valid token that is none of these; see method_name */
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_PATCH,
	HTTP_DELETE,
	HTTP_OPTIONS,
	HTTP_TRACE,
	HTTP_CONNECT,
};

struct http_header {
	struct str name, value; /* the value without blanks around it */
};

struct http_head {
	/* Of a request; empty in a response. */
	enum http_method method;
	struct str method_name;
	struct str target; /* as it was sent */
	struct str path;   /* raw, see http_url.h; "*" for OPTIONS *, empty for CONNECT */
	struct str query;  /* raw, behind the '?'; empty when there is none */
	struct str host;   /* the target's authority if it has one, else the Host header */

	/* Of a response; 0 and empty in a request. */
	int status;
	struct str reason;

	/* Of both, decided here once. At most one of chunked and content_length >= 0 holds. With
	 * neither, a request has no body and the body of a response ends with the connection. */
	int minor; /* HTTP/1.minor: 0 or 1 */
	bool keep_alive;
	bool chunked;
	bool expect_continue;	/* the client waits for 100 Continue before it sends its body */
	int64_t content_length; /* -1 when none was given */

	size_t header_count;
	struct http_header headers[LIMIT_HTTP_HEADERS];
};

/*
 * The head of a request at the start of `in`. Returns its length in bytes, 0 when it is not
 * complete and legal so far, or -1 and *why: 400 for what is malformed, 414 and 431 for what is
 * too long, 417 for an expectation we do not know, 501 for a transfer coding we do not know, 505
 * for another version. *ret counts only when the result is above 0.
 */
int http_parse_head(struct str in, struct http_scan *scan, struct http_head *ret,
		    struct http_refusal *why);

/*
 * The head of a response, for clients; interim (1xx) responses are parsed like others. A status
 * that has no body (1xx, 204, 304) has content_length 0 whatever its headers say; that the answer
 * to HEAD has none is for the caller to know. Returns as http_parse_head.
 */
int http_parse_response_head(struct str in, struct http_scan *scan, struct http_head *ret,
			     struct http_refusal *why);

/* The value of the first header of that name, in any case; { NULL, 0 } when there is none. */
struct str http_header(const struct http_head *head, struct str name);

#endif
