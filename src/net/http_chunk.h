/* SPDX-License-Identifier: MIT */
/*
 * http_chunk: a chunked body, decoded as it arrives.
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
#ifndef NET_HTTP_CHUNK_H
#define NET_HTTP_CHUNK_H

#include "net/http_parse.h"

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
