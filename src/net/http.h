/* SPDX-License-Identifier: MIT */
/*
 * http: one connection of a server: receive a request as it arrives, send an answer as it is taken.
 *
 * Nothing here waits, except a stream: http_receive takes the bytes that have arrived and says
 * whether the request is complete; http_send sends what the client takes now, and keeps the rest
 * for http_flush. So a slow client costs the memory of its own buffers, and no thread waits for it.
 * A stream (http_stream_…) is written by the thread that makes the output, which waits for a slow
 * client: that is the back-pressure.
 *
 * Head, body and answer have a deadline each, a point in time. The owner of the connections
 * compares http.deadline_ms with the clock and calls http_expire.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "net/http_parse.h"

#define HTTP_JSON "application/json; charset=utf-8"

/* What all connections of a server share. */
struct http_budget {
	_Atomic int64_t left; /* bytes of memory for large bodies and for answers not yet taken */
	_Atomic int64_t connections;
	_Atomic int64_t received, sent; /* bytes */
};

enum http_state {
	HTTP_IDLE,    /* between requests */
	HTTP_IN,      /* a request has begun to arrive */
	HTTP_OUT,     /* an answer is waiting to be taken */
	HTTP_STREAM,  /* a stream is under way */
	HTTP_DISCARD, /* refused: bytes that still arrive are dropped until the client closes */
	HTTP_CLOSED,  /* the owner has to call http_done */
};

struct http {
	int fd;
	enum http_state state;
	int64_t deadline_ms; /* of the present state */
	bool last;	     /* close after this answer */
	bool head_only;	     /* the answer to HEAD has no body */
	bool http10;	     /* the client does not know chunks */
	bool drained;	     /* the last read took everything that had arrived */
	bool expects;	     /* the client waits for "100 Continue" before it sends its body */
	bool refused;	     /* discard what arrives after this answer */

	struct http_budget *budget;
	int64_t reserved; /* bytes of the budget this connection holds */

	struct buf in;	       /* received; the request begins at its first byte */
	struct http_scan scan; /* how far the head has been scanned */
	size_t head_n;	       /* length of the head once it is complete; else 0 */
	int64_t body_n;	       /* length of the body, or -1 while it is chunked and not complete */
	struct http_chunks chunks;
	size_t raw_at, body_end; /* chunked: the next raw byte; the end of the joined body so far */

	struct buf out; /* the part of the answer not yet taken */
	size_t out_at;

	int64_t discarded; /* bytes dropped since it was refused */
};

/* A complete request. Everything points into the connection's buffer and is valid until the answer
 * is sent. */
struct http_request {
	struct http_head head;
	struct str body;
};

enum http_event {
	HTTP_MORE,	/* wait until there is more to read */
	HTTP_ANNOUNCED, /* the head is complete, the body is not: *request has the head until the
			   next call; refuse it now, or call again to receive the body */
	HTTP_REQUEST,	/* *request is complete: answer it */
	HTTP_REFUSED,	/* answer with *why, then close */
	HTTP_GONE,	/* the client has left: close */
};

void http_init(struct http *h, int fd, struct http_budget *budget);
void http_done(struct http *h); /* once for each http_init; closes the descriptor */

/* Receive the bytes that have arrived. */
enum http_event http_receive(struct http *h, struct http_request *request,
			     struct http_refusal *why);

struct http_answer {
	int status;
	const char *type;  /* Content-Type */
	const char *extra; /* further header lines, each with its CRLF; or NULL */
	struct str body;
};

/* Send an answer to the request that was received. Afterwards the state is HTTP_IDLE (the next
 * request may already be in the buffer: call http_receive), HTTP_OUT (wait until the socket takes
 * more, then http_flush) or HTTP_CLOSED. */
void http_send(struct http *h, const struct http_answer *answer);
void http_flush(struct http *h);

/* Send an interim answer, 102, with one header line (with its CRLF) that says how far the work has
 * come. It is not sent to a client that takes nothing now, or does not know such answers. */
void http_send_progress(struct http *h, const char *line);

/* Refuse a request, complete or not. Closing at once would reset the connection of a client that is
 * still sending, which then never reads the answer. So the state becomes HTTP_DISCARD, perhaps
 * after HTTP_OUT. */
void http_refuse_with(struct http *h, int status, const char *extra, struct str body);

/* Drop the bytes that have arrived after a refusal. The state becomes HTTP_CLOSED when the client
 * has closed, or has sent too much. */
void http_discard(struct http *h);

/* The deadline has passed: answer 408 if a request was arriving, and close. */
void http_expire(struct http *h, struct str timeout_body);

/* Send a body whose length is not known yet, in chunks (to an HTTP/1.0 client: until the end of the
 * connection). `extra` is as in an answer. Each call waits until the client has taken it. -1 when
 * the client has gone. */
int http_stream_begin(struct http *h, const char *type, const char *extra);
int http_stream_write(struct http *h, struct str piece);
void http_stream_end(struct http *h);

/* Take the connection away after its stream has begun: the caller has its descriptor from now on,
 * and frames what it sends. The state becomes HTTP_CLOSED. */
int http_take(struct http *h);

/* Send the first `size` bytes of an open file as the body of a 200. It waits as a stream does, and
 * holds nothing of the file in memory. If the file turns out to be shorter the connection is
 * closed: the head has already announced the size. */
void http_send_file(struct http *h, const char *type, const char *extra, int file, int64_t size);

#endif
