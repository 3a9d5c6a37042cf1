/* SPDX-License-Identifier: MIT */
/* exchange: a request in one message, the head of its answer, the body as it comes. */

#include "client/exchange.h"

#include <string.h>

#include "base/limits.h"
#include "base/own.h"
#include "net/http_chunk.h"
#include "net/http_parse.h"

/* How the body of an answer is cut, and how far it has been read. */
struct body {
	bool chunked;
	int64_t left; /* bytes still to come; -1: until the end of the connection */
	size_t used;  /* bytes at the start of c->in that have been taken: the head */
	struct http_chunks chunks;
};

static int no_sidecar(struct err *e, const char *why)
{
	return err_set(e, ERR_BAD_ANSWER, "What answered is no sidecar: %s", why);
}

static int send_request(struct conn *c, const struct request *q, struct str fields,
			const struct patience *p, struct exchange_state *state, struct err *e)
{
	UNINITIALISED char text[LIMIT_HTTP_HEAD];
	struct buf head = { .p = text, .cap = sizeof text, .max = sizeof text };
	size_t accepted;

	buf_add(&head, str_of(q->method));
	buf_addc(&head, ' ');
	buf_add(&head, str_of(q->target));
	buf_add(&head, STR(" HTTP/1.1\r\n"));
	buf_add(&head, fields);
	if (q->body.p)
		buf_addf(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			 q->body.n);
	if (q->seen)
		buf_add(&head, STR("Sidecar-Progress: files\r\n"));
	buf_add(&head, STR("\r\n"));
	if (head.failed)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The target of the request is too long");
	const int rc = conn_send(c, buf_str(&head), q->body, p, &accepted, e);
	state->sent = accepted == head.n + q->body.n;
	return rc;
}

/* The head at the start of c->in; returns its length. */
static int read_head(struct conn *c, const struct patience *p, struct http_head *ret, struct err *e)
{
	struct http_scan scan = { 0 };
	struct http_refusal why;

	for (;;) {
		const int n =
			c->in.n ? http_parse_response_head(buf_str(&c->in), &scan, ret, &why) : 0;
		if (n < 0)
			return no_sidecar(e, why.sentence);
		if (n > 0)
			return n;
		const int more = conn_fill(c, p, e);
		if (more < 0)
			return -1;
		if (more == 0)
			return err_set(e, ERR_CONNECTION_LOST,
				       "The sidecar closed the connection without an answer");
	}
}

/* The head of the answer, after interim ones; returns its length. */
static int read_final_head(struct conn *c, const struct request *q, const struct patience *p,
			   struct http_head *ret, struct err *e)
{
	int64_t files;

	for (int i = 0; i < LIMIT_INTERIM;) {
		const int n = read_head(c, p, ret, e);
		if (n < 0 || ret->status >= 200)
			return n;
		if (ret->status == 101)
			break;
		/* Those that were asked for may be many. */
		if (q->seen && str_int(http_header(ret, STR("sidecar-files")), &files))
			q->seen(q->seen_arg, files);
		else
			i++;
		buf_drop(&c->in, (size_t)n);
	}
	return no_sidecar(e, "it sends no final answer");
}

/* The next piece of what is held. Returns as http_chunk_next. */
static int next_piece(struct body *b, struct str in, struct str *piece, size_t *used,
		      struct http_refusal *why)
{
	if (b->chunked)
		return http_chunk_next(&b->chunks, in, piece, used, why);
	*piece = b->left < 0 ? in : str_upto(in, (size_t)b->left);
	*used = piece->n;
	if (b->left == 0)
		return HTTP_CHUNK_END;
	if (b->left > 0)
		b->left -= (int64_t)piece->n;
	return piece->n ? HTTP_CHUNK_DATA : HTTP_CHUNK_MORE;
}

static int take(const struct request *q, struct answer *a, struct str piece, struct err *e)
{
	if (a->streamed)
		return q->piece(q->arg, piece, e);
	buf_add(&a->body, piece);
	return a->body.failed ? err_set(e, ERR_BAD_ANSWER, "The answer is too large") : 0;
}

/* Take what is held of the body. 1 when it is complete, 0 when more must come. */
static int take_held(struct conn *c, const struct request *q, struct body *b, struct answer *ret,
		     struct err *e)
{
	struct http_refusal why;
	size_t done = TAKE(b->used, 0), used;

	for (;;) {
		struct str piece;
		const int rc = next_piece(b, str_from(buf_str(&c->in), done), &piece, &used, &why);
		if (rc < 0)
			return no_sidecar(e, why.sentence);
		done += used;
		if (rc == HTTP_CHUNK_DATA && take(q, ret, piece, e) < 0)
			return -1;
		if (rc != HTTP_CHUNK_DATA) {
			buf_drop(&c->in, done);
			return rc == HTTP_CHUNK_END;
		}
	}
}

/* Wait for more of the body: a known length goes straight to where it is kept, past c->in. Returns
 * as conn_fill. */
static int fill(struct conn *c, const struct patience *p, struct body *b, struct answer *ret,
		struct err *e)
{
	if (ret->streamed || b->chunked || b->left < 0)
		return conn_fill(c, p, e);
	const size_t left = (size_t)b->left;
	char *room = buf_room(&ret->body, left < LIMIT_CLIENT_READ ? left : LIMIT_CLIENT_READ);
	if (!room)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer");
	const size_t free = ret->body.cap - ret->body.n;
	const ssize_t n = conn_receive(c, room, left < free ? left : free, p, e);
	if (n < 0)
		return -1;
	buf_filled(&ret->body, (size_t)n);
	b->left -= n;
	return n > 0;
}

static int read_body(struct conn *c, const struct request *q, const struct patience *p,
		     struct body *b, struct answer *ret, struct err *e)
{
	for (;;) {
		const int complete = take_held(c, q, b, ret, e);
		if (complete)
			return complete < 0 ? -1 : 0;
		const int more = fill(c, p, b, ret, e);
		if (more < 0)
			return -1;
		if (more == 0)
			return !b->chunked && b->left < 0
				       ? 0
				       : err_set(e, ERR_CONNECTION_LOST,
						 "The connection to the sidecar was lost in the "
						 "middle of its answer");
	}
}

int exchange(struct conn *c, const struct request *q, struct str fields, const struct patience *p,
	     struct answer *ret, struct exchange_state *state, struct err *e)
{
	UNINITIALISED struct http_head head;
	struct err unread;

	*state = (struct exchange_state){ 0 };
	ret->streamed = false;
	buf_reset(&ret->body, SIZE_MAX);
	const bool taken = send_request(c, q, fields, p, state, e) == 0;
	if (!taken && e->code != ERR_CONNECTION_LOST)
		return -1;
	const struct patience in_all = patience_in_all(p);
	/* Who does not take all of a request may have said why before hanging up. */
	const int n = read_final_head(c, q, &in_all, &head, taken ? e : &unread);
	if (n < 0)
		return -1;
	const bool bodiless = strcmp(q->method, "HEAD") == 0;
	struct body b = {
		.chunked = head.chunked && !bodiless,
		.left = bodiless ? 0 : head.content_length,
		.used = (size_t)n,
	};
	const bool lines =
		str_starts(http_header(&head, STR("content-type")), STR("application/x-ndjson"));
	ret->status = head.status;
	ret->streamed = q->piece && lines && head.status == 200;
	if (b.left > LIMIT_CLIENT_ANSWER && !ret->streamed)
		return err_set(e, ERR_BAD_ANSWER, "The answer is too large");
	/* At once what is announced, unless it is much: who announces need not send. */
	if (!ret->streamed && b.left > 0 && b.left <= LIMIT_CLIENT_AT_ONCE)
		(void)buf_fit(&ret->body, (size_t)b.left + ANSWER_SPARE);
	if (read_body(c, q, ret->streamed ? p : &in_all, &b, ret, e) < 0)
		return -1;
	state->reusable = taken && head.keep_alive && (b.chunked || b.left >= 0) && c->in.n == 0;
	return 0;
}
