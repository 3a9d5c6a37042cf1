/* SPDX-License-Identifier: MIT */
/*
 * http_parse: the head of an HTTP/1.1 message, strictly.
 *
 * Pure: nothing is allocated, read or written; every str of a parsed head points into the input.
 * Bytes that two parsers could read in two ways are refused, never repaired: requests are smuggled
 * by bytes that a proxy and a server cut into requests differently. So:
 *	lines end in CRLF; a bare CR, a bare LF, NUL and control characters are refused; no folding
 *	no blank before the colon, no empty name, no byte in a name that is not a token
 *	one Content-Length at most, digits only (leading zeros are decimal), never with
 *	Transfer-Encoding, which must be exactly "chunked" and is refused in HTTP/1.0
 *	one Host in HTTP/1.1 (it may be empty), at most one in HTTP/1.0
 * One empty line before a request is skipped, because old clients send one after a body. A second
 * one is refused.
 *
 * The bytes come as the network brings them. The caller keeps a zeroed http_scan beside its
 * buffer and calls again with all bytes of the message so far. Bytes that were scanned before are
 * not scanned again, and the buffer may have moved. The verdict does not depend on how the bytes
 * were cut into pieces.
 *
 *	struct http_scan scan = { 0 };                           (per connection)
 *	const int n = http_parse_head(buf_str(&in), &scan, &head, &why);
 *	n < 0	answer why.status and why.sentence, then close: the following bytes mean nothing
 *	n == 0	read more
 *	n > 0	the head is the first n bytes; the body follows
 */
#ifndef NET_HTTP_PARSE_H
#define NET_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "net/limits.h"

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

/* How far a head has been scanned. Zero before the first byte of a message, and again once the head
 * is complete. */
struct http_scan {
	size_t at;   /* bytes before this one are known to be good */
	size_t line; /* where the line after the start line begins; 0 until that is known */
};

enum http_method {
	HTTP_OTHER, /* another valid token: see method_name */
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
	struct str path;   /* raw, see http_path_decode; "*" for OPTIONS *, empty for CONNECT */
	struct str query;  /* raw, without the '?'; empty if there is none */
	struct str host;   /* the target's authority if it has one, else the Host header */

	/* Of a response; 0 and empty in a request. */
	int status;
	struct str reason;

	/* Of both, decided here once. A message is chunked, or has a content_length >= 0, or
	 * neither; then a request has no body and a response's body ends with the connection. */
	int minor; /* HTTP/1.minor: 0 or 1 */
	bool keep_alive;
	bool chunked;
	bool expect_continue;	/* the client waits for 100 Continue before it sends its body */
	int64_t content_length; /* -1 if none was given */

	size_t header_count;
	struct http_header headers[LIMIT_HTTP_HEADERS];
};

/*
 * Parse the head of a request at the start of `in`. Returns its length in bytes; 0 when it is valid
 * so far but not complete; or -1 and *why: 400 malformed, 414 or 431 too long, 417 an unknown
 * expectation, 501 an unknown transfer coding, 505 another version. *ret has a meaning only when
 * the result is above 0.
 */
int http_parse_head(struct str in, struct http_scan *scan, struct http_head *ret,
		    struct http_refusal *why);

/*
 * The same for the head of a response; interim (1xx) responses are parsed like others. A status
 * without a body (1xx, 204, 304) has content_length 0 whatever its headers say. Only the caller
 * knows that the answer to a HEAD has no body.
 */
int http_parse_response_head(struct str in, struct http_scan *scan, struct http_head *ret,
			     struct http_refusal *why);

/* The value of the first header of that name, in any case; { NULL, 0 } if there is none. */
struct str http_header(const struct http_head *head, struct str name);

/* The rest is for the other parsers of this folder, which read the same lines and headers. */

enum { HTTP_TOKEN = 1 << 0 }; /* the class of bytes that methods and header names consist of */

/* How many bytes at the start of s are of the class. */
size_t http_span(struct str s, unsigned char class);

/*
 * Scan from *at to the end of the line. Returns 1 with *at after its CRLF; 0 when the input ends
 * first, with *at where to resume; -1 and *why on a control character other than a tab, or on a CR
 * or LF alone.
 */
int http_line_end(struct str in, size_t *at, struct http_refusal *why);

/* Parse one line, without its CRLF, as a header. http_line_end must have accepted its bytes. */
int http_field_parse(struct str line, struct http_header *ret, struct http_refusal *why);

/* The escapes of a path and the parameters of a query. A parsed head keeps both raw, because most
 * requests need no more. A decoded text is never longer than the raw one, and may contain any byte,
 * even NUL ("%00"). */

/* Decode the escapes of a path into out, which has room for raw.n bytes. Returns the length, or -1
 * when a '%' is not followed by two hexadecimal digits. */
ptrdiff_t http_path_decode(struct str raw, char *out);

/*
 * Find the first parameter of that name in a raw query, with escapes decoded and '+' read as a
 * blank, as forms write it. A parameter without '=' is empty. Returns 1 and *ret, which points into
 * the query if there is nothing to decode, else into out; 0 if there is no such parameter; -1 when
 * a '%' in its value is malformed or the value does not fit into `room` bytes.
 */
int http_query(struct str query, struct str name, char *out, size_t room, struct str *ret);

/* http_chunk: a chunked body, decoded as it arrives.
 *
 * Nothing is copied: each piece of data is a slice of the input. The zero value of http_chunks is
 * the start of a body. The caller passes the bytes that have not been used yet, and drops those
 * that have been:
 *
 *	while ((rc = http_chunk_next(&chunks, in, &data, &used, &why)) == HTTP_CHUNK_DATA) {
 *		buf_add(body, data);
 *		in = str_from(in, used);
 *	}
 *	in = str_from(in, used);                                 (unless rc < 0)
 *
 * As strict as the head: a size is 1 to 15 hexadecimal digits, extensions are well-formed and
 * without blanks, trailers are well-formed headers that say nothing about length or host.
 * Extensions and trailers are dropped, and their sum over a body is limited. The verdict does not
 * depend on how the bytes were cut into pieces.
 */

enum http_chunk_part {
	HTTP_CHUNK_SIZE, /* at a line with a size */
	HTTP_CHUNK_BODY, /* within the data of a chunk */
	HTTP_CHUNK_CRLF, /* at the CRLF after the data */
	HTTP_CHUNK_TRAILER,
	HTTP_CHUNK_OVER,
};

struct http_chunks {
	enum http_chunk_part part;
	int64_t left;	   /* data bytes of this chunk still to come */
	size_t scanned;	   /* bytes of an unfinished line known to be good */
	size_t extensions; /* bytes of extensions in the body so far */
	size_t trailers;   /* bytes of trailers in the body so far */
};

enum {
	HTTP_CHUNK_MORE = 0, /* the input has no further piece: read more */
	HTTP_CHUNK_DATA = 1, /* *data is the next piece, never empty */
	HTTP_CHUNK_END = 2,  /* the body is complete; what follows *used is the next message */
};

/* Find the next piece of the body. Returns one of the above, and in *used how many bytes of `in` to
 * drop; or -1 and *why: 400 malformed, 413 too many extensions, 431 too many trailers. */
int http_chunk_next(struct http_chunks *chunks, struct str in, struct str *data, size_t *used,
		    struct http_refusal *why);

#endif
