/* SPDX-License-Identifier: MIT */
/*
 * http: one connection: take a request in as it arrives, send an answer out as it is taken.
 *
 * Nothing here waits, except a stream: http_receive takes what has arrived and says whether the
 * request is complete; http_send hands over what the client takes now, and keeps the rest for
 * http_flush. So a client that is slow in either direction costs the memory of its own buffers and
 * nobody's time. A stream (http_stream_…) is written by the thread that makes the output, which
 * waits for a slow client: that is the back-pressure.
 *
 * Deadlines are absolute points in time, for the head, the body and the answer each; whoever owns
 * the connections looks at http.deadline_ms and calls http_expire.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "net/http_chunk.h"
#include "net/http_parse.h"

#define HTTP_JSON "application/json; charset=utf-8"

/* What all connections of a server have in common: memory that bodies which arrive, and answers
 * that are not taken, share; how many connections there are, and what has gone through them. */
struct http_budget {
	_Atomic int64_t left;
	_Atomic int64_t connections, received, sent;
};

enum http_state {
	HTTP_IDLE,   /* between requests */
	HTTP_IN,     /* a request has begun to arrive */
	HTTP_OUT,    /* an answer is waiting to be taken */
	HTTP_STREAM, /* a stream is under way */
	HTTP_LINGER, /* refused: what the client still sends goes by, until it has read the answer
		      */
	HTTP_CLOSED, /* nothing more can be done with it */
};

struct http {
	int fd;
	enum http_state state;
	int64_t deadline_ms; /* when the present state has lasted too long */
	bool last;	     /* close after this answer */
	bool head_only;	     /* the answer to HEAD has no body */
	bool http10;	     /* the client does not know chunks */
	bool drained;	     /* the last read took all that had come */
	bool expects;	     /* the client waits for "100 Continue" before it sends its body */
	bool refused;	     /* linger after this answer */

	struct http_budget *budget;
	int64_t reserved; /* bytes of the budget this connection holds */

	struct buf in;	       /* received; the request begins at its first byte */
	struct http_scan scan; /* how far the head has been looked at */
	size_t head_n;	       /* length of the head once it is complete; else 0 */
	int64_t body_n;	       /* length of the body, or -1 while it is chunked and not complete */
	struct http_chunks chunks;
	size_t raw_at, body_end; /* chunked: next raw byte; end of the body put together so far */

	struct buf out; /* the part of the answer not yet taken */
	size_t out_at;

	int64_t lingered; /* bytes that went by since it was refused */
};

/* A complete request. Everything points into the connection's buffer and is valid until the answer
 * is sent. */
struct http_request {
	struct http_head head;
	struct str body;
};

enum http_event {
	HTTP_MORE,	/* wait until there is more to read */
	HTTP_ANNOUNCED, /* the head is complete, its body is not: *request has the head until the
			   next call; refuse it now, or call again to take the body */
	HTTP_REQUEST,	/* *request is complete: answer it */
	HTTP_REFUSED,	/* *why says what to answer, then close */
	HTTP_GONE,	/* the client has left: close */
};

void http_init(struct http *h, int fd, struct http_budget *budget);
void http_done(struct http *h); /* once for each http_init; closes the descriptor */

/* Take in what has arrived. */
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

/* An interim answer, 102, that says in one header line (with its CRLF) how far the work has come. A
 * client that takes nothing now, or does not know such answers, gets none. */
void http_send_progress(struct http *h, const char *line);

/* A refusal before or instead of a request. Closing at once would reset the connection under a
 * client that is still sending, which then never reads the answer: the state becomes HTTP_LINGER
 * (or HTTP_OUT before that). */
void http_refuse_with(struct http *h, int status, const char *extra, struct str body);

/* Let go by what has arrived while lingering; HTTP_CLOSED when the client has had enough time. */
void http_linger(struct http *h);

/* The time is up: answers 408 if a request was under way, and closes. */
void http_expire(struct http *h, struct str timeout_body);

/* A body whose length is not known yet, in chunks (to an HTTP/1.0 client: until the end of the
 * connection). `extra` is as in an answer. Each call waits while the client does not take it. -1
 * when the client has gone. */
int http_stream_begin(struct http *h, const char *type, const char *extra);
int http_stream_write(struct http *h, struct str piece);
void http_stream_end(struct http *h);

/* The first `size` bytes of an open file as the body of a 200, in whatever pieces the client takes
 * them; it waits as a stream does. Nothing of the file is held in memory. When it turns out shorter
 * the connection is closed, which is all that is left to say. */
void http_send_file(struct http *h, const char *type, const char *extra, int file, int64_t size);

/* The request is answered: what follows it in the buffer is the next one. Only for http_out.c. */
void http_next(struct http *h);

/* Hold at least this much of the memory all connections share, until the request is done with. -1
 * and 503 when there is not so much. Only for http.c and http_out.c. */
int http_reserve(struct http *h, int64_t bytes, struct http_refusal *why);

#endif
