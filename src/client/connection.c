/* SPDX-License-Identifier: MIT */
/* connection: bytes on one socket, then a request, the head of its answer, and the body. */

#include "client/connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "client/limits.h"
#include "net/http_parse.h"

struct conn *conn_new(int fd)
{
	struct conn *c = mem_new(1, sizeof *c);

	if (!c) {
		fd_closep(&fd);
		return NULL;
	}
	c->fd = fd;
	c->owner = getpid();
	c->in.max = LIMIT_HTTP_HEAD + LIMIT_CLIENT_READ;
	return c;
}

void conn_free(struct conn *c)
{
	if (!c)
		return;
	fd_closep(&c->fd);
	buf_done(&c->in);
	mem_free(c);
}

bool conn_is_quiet(const struct conn *c)
{
	char byte;

	return c->in.n == 0 && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       (errno == EAGAIN || errno == EINTR);
}

/* Nothing limits the wait, so a system call may block. */
static bool is_endless(const struct patience *p)
{
	return p->silence_ms == 0 && p->deadline_ms == IO_FOREVER && !p->cancel;
}

/* The same, with the longest silence as the longest time in total, from now on: a peer that sends a
 * byte now and then is never silent. */
static struct patience cap_total(const struct patience *p)
{
	struct patience total = *p;
	const int64_t now = p->silence_ms ? io_now_ms() : 0;

	if (p->silence_ms && p->silence_ms < p->deadline_ms - now)
		total.deadline_ms = now + p->silence_ms;
	return total;
}

static int await(const struct conn *c, short events, const struct patience *p, struct err *e)
{
	switch (io_wait_or(c->fd, events, p->cancel, cap_total(p).deadline_ms)) {
	case 0:
		return err_set(e, ERR_TIMED_OUT,
			       "The sidecar did not answer in time; the call has been given up");
	case IO_CANCELLED:
		return err_set(e, ERR_CANCELLED, "The call was cancelled");
	default:
		return 0; /* send or recv will meet the same error as poll */
	}
}

static int lost(struct err *e)
{
	return err_set(e, ERR_CONNECTION_LOST, "The connection to the sidecar was lost");
}

/* Send both pieces. *accepted counts the bytes the kernel took, also on failure: CONNECTION_LOST,
 * TIMED_OUT, CANCELLED. */
static int send_pieces(const struct conn *c, struct str head, struct str body,
		       const struct patience *p, size_t *accepted, struct err *e)
{
	const int flags = MSG_NOSIGNAL | (is_endless(p) ? 0 : MSG_DONTWAIT);

	for (*accepted = 0; *accepted < head.n + body.n;) {
		const struct str h = str_from(head, *accepted);
		const struct str b = str_from(body, *accepted > head.n ? *accepted - head.n : 0);
		struct iovec pieces[] = { { (char *)h.p, h.n }, { (char *)b.p, b.n } };
		const struct msghdr m = { .msg_iov = pieces, .msg_iovlen = 2 };
		const ssize_t n = sendmsg(c->fd, &m, flags);
		if (n >= 0)
			*accepted += (size_t)n;
		else if (errno == EAGAIN && await(c, POLLOUT, p, e) < 0)
			return -1;
		else if (errno != EAGAIN && errno != EINTR)
			return lost(e);
	}
	return 0;
}

/* Wait for bytes and take at most n of them, past c->in, which must be empty. How many, 0 at the
 * end; -1: CONNECTION_LOST, TIMED_OUT, CANCELLED. */
static ssize_t receive(const struct conn *c, char *to, size_t n, const struct patience *p,
		       struct err *e)
{
	const bool endless = is_endless(p);

	for (;;) {
		if (!endless && await(c, POLLIN, p, e) < 0)
			return -1;
		const ssize_t got = recv(c->fd, to, n, endless ? 0 : MSG_DONTWAIT);
		if (got >= 0)
			return got;
		if (errno != EINTR && errno != EAGAIN)
			return lost(e);
	}
}

static int not_a_sidecar(struct err *e, const char *why)
{
	return err_set(e, ERR_BAD_ANSWER, "What answered is not a sidecar: %s", why);
}

/* Wait for bytes and add them to c->in. 1 if some came, 0 at the end; -1 as receive, and BAD_ANSWER
 * when there is no room left. */
static int fill_in(struct conn *c, const struct patience *p, struct err *e)
{
	if (c->in.n >= c->in.max)
		return not_a_sidecar(e, "it sent too much");
	char *room = buf_room(&c->in, c->in.n ? 1 : LIMIT_CLIENT_READ);
	if (!room)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer");
	const ssize_t n = receive(c, room, c->in.cap - c->in.n, p, e);
	if (n < 0)
		return -1;
	buf_filled(&c->in, (size_t)n);
	return n > 0;
}

/* How the body of an answer is framed, and how much of it has been read. */
struct body {
	bool chunked;
	int64_t left; /* bytes still to come; -1: until the end of the connection */
	size_t used;  /* bytes at the start of c->in that are used already: the head */
	struct http_chunks chunks;
};

static int send_request(struct conn *c, const struct request *q, struct str fields,
			const struct patience *p, struct conn_outcome *outcome, struct err *e)
{
	UNINITIALISED char text[LIMIT_HTTP_HEAD];
	struct buf head = buf_over(text, sizeof text);
	size_t accepted;

	buf_add(&head, str_of(q->method));
	buf_addc(&head, ' ');
	buf_add(&head, str_of(q->target));
	buf_add(&head, STR(" HTTP/1.1\r\n"));
	buf_add(&head, fields);
	if (*c->token)
		buf_addf(&head, "Authorization: Bearer %s\r\n", c->token);
	if (q->body.p)
		buf_addf(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n",
			 q->body.n);
	if (q->seen)
		buf_add(&head, STR("Sidecar-Progress: files\r\n"));
	if (q->hints)
		buf_add(&head, STR("Sidecar-Hints: 1\r\n"));
	buf_add(&head, STR("\r\n"));
	if (head.failed)
		return err_set(e, ERR_INVALID_ARGUMENTS, "The target of the request is too long");
	const int rc = send_pieces(c, buf_str(&head), q->body, p, &accepted, e);
	outcome->sent = accepted == head.n + q->body.n;
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
			return not_a_sidecar(e, why.sentence);
		if (n > 0)
			return n;
		const int more = fill_in(c, p, e);
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
		/* Interim answers with progress were asked for; their number has no limit. */
		if (q->seen && str_int(http_header(ret, STR("sidecar-files")), &files))
			q->seen(q->seen_arg, files);
		else
			i++;
		buf_drop(&c->in, (size_t)n);
	}
	return not_a_sidecar(e, "it sends no final answer");
}

/* The next piece of the body in `in`. Returns as http_chunk_next. */
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

/* Take the part of the body that is in c->in. 1 if the body is complete, 0 if more must come. */
static int take_received(struct conn *c, const struct request *q, struct body *b,
			 struct answer *ret, struct err *e)
{
	struct http_refusal why;
	size_t done = TAKE(b->used, 0), used;

	for (;;) {
		struct str piece;
		const int rc = next_piece(b, str_from(buf_str(&c->in), done), &piece, &used, &why);
		if (rc < 0)
			return not_a_sidecar(e, why.sentence);
		done += used;
		if (rc == HTTP_CHUNK_DATA && take(q, ret, piece, e) < 0)
			return -1;
		if (rc != HTTP_CHUNK_DATA) {
			buf_drop(&c->in, done);
			return rc == HTTP_CHUNK_END;
		}
	}
}

/* Wait for more of the body. If its length is known it goes directly to the answer, past c->in.
 * Returns as fill_in. */
static int receive_body(struct conn *c, const struct patience *p, struct body *b,
			struct answer *ret, struct err *e)
{
	if (ret->streamed || b->chunked || b->left < 0)
		return fill_in(c, p, e);
	const size_t left = (size_t)b->left;
	char *room = buf_room(&ret->body, left < LIMIT_CLIENT_READ ? left : LIMIT_CLIENT_READ);
	if (!room)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer");
	const size_t free = ret->body.cap - ret->body.n;
	const ssize_t n = receive(c, room, left < free ? left : free, p, e);
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
		const int complete = take_received(c, q, b, ret, e);
		if (complete)
			return complete < 0 ? -1 : 0;
		const int more = receive_body(c, p, b, ret, e);
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

int conn_request(struct conn *c, const struct request *q, struct str fields,
		 const struct patience *p, struct answer *ret, struct conn_outcome *outcome,
		 struct err *e)
{
	UNINITIALISED struct http_head head;
	UNINITIALISED struct err why, unread;

	*outcome = (struct conn_outcome){ 0 };
	ret->streamed = false;
	buf_reset(&ret->body, SIZE_MAX);
	const bool taken = send_request(c, q, fields, p, outcome, &why) == 0;
	const struct patience total = cap_total(p);
	/* A server that does not read all of a request may have answered why before it hung up. */
	const int n = taken || why.code == ERR_CONNECTION_LOST
			      ? read_final_head(c, q, &total, &head, taken ? e : &unread)
			      : -1;
	if (n < 0 && !taken)
		*e = why;
	if (n < 0)
		return -1;
	const bool no_body = strcmp(q->method, "HEAD") == 0;
	struct body b = {
		.chunked = head.chunked && !no_body,
		.left = no_body ? 0 : head.content_length,
		.used = (size_t)n,
	};
	const struct str type = http_header(&head, STR("content-type"));
	const bool lines = str_starts(type, STR("application/x-ndjson")) ||
			   str_starts(type, STR("text/event-stream"));
	ret->status = head.status;
	if (!str_int(http_header(&head, STR("sidecar-change")), &ret->change))
		ret->change = 0;
	if (!str_int(http_header(&head, STR("sidecar-not-kept")), &ret->not_kept))
		ret->not_kept = 0;
	ret->streamed = q->piece && lines && head.status == 200;
	if (b.left > LIMIT_CLIENT_ANSWER && !ret->streamed)
		return err_set(e, ERR_BAD_ANSWER, "The answer is too large");
	/* Allocate the announced length at once, unless it is large: it may never be sent. */
	if (!ret->streamed && b.left > 0 && b.left <= LIMIT_CLIENT_AT_ONCE)
		(void)buf_fit(&ret->body, (size_t)b.left + ANSWER_SPARE);
	if (read_body(c, q, ret->streamed ? p : &total, &b, ret, e) < 0)
		return -1;
	outcome->reusable = taken && head.keep_alive && (b.chunked || b.left >= 0) && c->in.n == 0;
	return 0;
}
