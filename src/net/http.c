/* SPDX-License-Identifier: MIT */
/* http: the receiving half: from bytes as they arrive to a request. */

#include "net/http.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

enum {
	READ_AT_ONCE = 4096,   /* most requests fit; larger bodies make the buffer grow */
	READ_AHEAD = 64 << 10, /* never more of the next requests: each moves what is behind it */
	FREE_BODY = 64 << 10,  /* bodies up to this size are not counted */
	IN_MAX = LIMIT_HTTP_HEAD + LIMIT_BODY +
		 (64 << 10), /* and chunk framing, what is pipelined */
};

/* In whole megabytes. Small bodies are free: the number of connections bounds them. */
int http_reserve(struct http *h, int64_t bytes, struct http_refusal *why)
{
	const int64_t want = bytes > FREE_BODY ? (bytes | ((1 << 20) - 1)) + 1 : 0;
	const int64_t more = want - h->reserved;

	if (more <= 0)
		return 0;
	if (atomic_fetch_sub(&h->budget->left, more) < more) {
		(void)atomic_fetch_add(&h->budget->left, more);
		return http_refuse(why, 503, "Too many large requests at once, try again");
	}
	h->reserved = want;
	return 0;
}

static void release(struct http *h)
{
	if (h->reserved)
		(void)atomic_fetch_add(&h->budget->left, h->reserved);
	h->reserved = 0;
}

/* Ready for the next request; bytes that belong to it are already at the start of h->in. */
static void begin_request(struct http *h)
{
	h->state = h->in.n ? HTTP_IN : HTTP_IDLE;
	h->deadline_ms = io_now_ms() + (h->in.n ? LIMIT_HEAD_MS : LIMIT_IDLE_MS);
	h->scan = (struct http_scan){ 0 };
	h->chunks = (struct http_chunks){ 0 };
	h->head_n = 0;
	h->body_n = 0;
	h->expects = false;
	/* An idle connection holds no buffer. */
	if (h->in.n == 0)
		buf_done(&h->in);
}

void http_init(struct http *h, int fd, struct http_budget *budget)
{
	*h = (struct http){
		.fd = fd, .budget = budget, .in = { .max = IN_MAX }, .out = { .max = SIZE_MAX / 2 }
	};
	budget->connections++;
	begin_request(h);
	h->deadline_ms = io_now_ms() + LIMIT_HEAD_MS;
}

void http_done(struct http *h)
{
	buf_done(&h->in);
	buf_done(&h->out);
	release(h);
	h->budget->connections--;
	fd_closep(&h->fd);
	h->state = HTTP_CLOSED;
}

/* The head is complete: what kind of body follows? */
static int accept_head(struct http *h, const struct http_head *head, struct http_refusal *why)
{
	h->http10 = head->minor == 0;
	h->last = !head->keep_alive;
	h->head_only = head->method == HTTP_HEAD;
	h->body_n = head->chunked ? -1 : head->content_length > 0 ? head->content_length : 0;
	h->raw_at = h->body_end = h->head_n;
	if (h->body_n > LIMIT_BODY)
		return http_refuse(why, 413, "The request body is larger than this server accepts");
	if (h->body_n != 0)
		h->deadline_ms = io_now_ms() + LIMIT_BODY_MS;
	return 0;
}

/* Put the chunks that have arrived together, in place: the body never grows beyond its chunks. */
static int join_chunks(struct http *h, struct http_refusal *why)
{
	while (h->body_n < 0) {
		const struct str raw = str_from(buf_str(&h->in), h->raw_at);
		struct str data;
		size_t used = 0;
		const int part = http_chunk_next(&h->chunks, raw, &data, &used, why);
		if (part < 0)
			return -1;
		if (part == HTTP_CHUNK_DATA) {
			if (h->body_end - h->head_n + data.n > LIMIT_BODY)
				return http_refuse(
					why, 413,
					"The request body is larger than this server accepts");
			memmove(h->in.p + h->body_end, data.p, data.n);
			h->body_end += data.n;
		}
		h->raw_at += used;
		if (part == HTTP_CHUNK_END)
			h->body_n = (int64_t)(h->body_end - h->head_n);
		if (part == HTTP_CHUNK_MORE)
			break;
	}
	/* The room that framing took is needed for the rest of the body. */
	if (h->raw_at > h->body_end && h->body_n < 0) {
		memmove(h->in.p + h->body_end, h->in.p + h->raw_at, h->in.n - h->raw_at);
		h->in.n -= h->raw_at - h->body_end;
		h->raw_at = h->body_end;
	}
	return 0;
}

/* Look at the buffer. */
static enum http_event examine(struct http *h, struct http_request *request,
			       struct http_refusal *why)
{
	struct http_head *head = &request->head;
	bool parsed = false;

	if (h->in.n == 0)
		return HTTP_MORE;
	if (h->head_n == 0) {
		if (h->state == HTTP_IDLE)
			h->deadline_ms = io_now_ms() + LIMIT_HEAD_MS;
		h->state = HTTP_IN;
		const int n = http_parse_head(buf_str(&h->in), &h->scan, head, why);
		if (n < 0)
			return HTTP_REFUSED;
		if (n == 0)
			return HTTP_MORE;
		h->head_n = (size_t)n;
		parsed = true;
		if (accept_head(h, head, why) < 0)
			return HTTP_REFUSED;
	}
	/* Counted as it arrives: a client that only announces a body takes nothing from others. */
	if (http_reserve(h, (int64_t)(h->in.n - h->head_n), why) < 0)
		return HTTP_REFUSED;
	if (h->body_n < 0 && join_chunks(h, why) < 0)
		return HTTP_REFUSED;
	if (h->body_n < 0 || h->in.n - h->head_n < (size_t)h->body_n) {
		if (parsed) {
			h->expects = head->expect_continue;
			return HTTP_ANNOUNCED;
		}
		/* The buffer may move while the body arrives: the head is parsed again then. */
		if (h->expects) {
			h->expects = false;
			(void)send(h->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
		}
		return HTTP_MORE;
	}
	if (!parsed) {
		h->scan = (struct http_scan){ 0 };
		(void)http_parse_head(buf_str(&h->in), &h->scan, head, why);
	}
	request->body = (struct str){ h->in.p + h->head_n, (size_t)h->body_n };
	return HTTP_REQUEST;
}

static void taken(struct http *h, size_t n)
{
	buf_filled(&h->in, n);
	(void)atomic_fetch_add_explicit(&h->budget->received, (int64_t)n, memory_order_relaxed);
}

enum http_event http_receive(struct http *h, struct http_request *request, struct http_refusal *why)
{
	for (;;) {
		const enum http_event event = examine(h, request, why);
		if (event != HTTP_MORE)
			return event;
		/* A known body gets its whole room at once. */
		const size_t missing =
			h->head_n && h->body_n > 0 ? h->head_n + (size_t)h->body_n - h->in.n : 0;
		const size_t ask = missing > READ_AT_ONCE ? missing : READ_AT_ONCE;
		char *to = buf_room(&h->in, ask);
		if (!to) {
			(void)http_refuse(why, 503,
					  "Not enough memory for this request, try again");
			return HTTP_REFUSED;
		}
		const size_t most = missing + READ_AHEAD, free = h->in.cap - h->in.n;
		const size_t room = free < most ? free : most;
		const ssize_t n = recv(h->fd, to, room, 0);
		h->drained = n < (ssize_t)room;
		if (n > 0)
			taken(h, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			break;
		else
			return HTTP_GONE;
	}
	if (h->in.n == 0)
		buf_done(&h->in);
	return HTTP_MORE;
}

static void begin_linger(struct http *h)
{
	buf_done(&h->in);
	h->state = HTTP_LINGER;
	h->deadline_ms = io_now_ms() + LIMIT_REFUSED_MS;
	h->lingered = 0;
	(void)shutdown(h->fd, SHUT_WR);
}

void http_linger(struct http *h)
{
	char waste[16 << 10] UNINITIALISED;

	while (h->lingered < LIMIT_REFUSED_BYTES) {
		const ssize_t n = recv(h->fd, waste, sizeof waste, 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			break;
		h->lingered += n;
	}
	h->state = HTTP_CLOSED;
}

/* The request is answered: what follows it in the buffer is the next one. */
void http_next(struct http *h)
{
	const size_t used = h->head_n + (size_t)(h->body_n > 0 ? h->body_n : 0);

	buf_drop(&h->in, h->raw_at > used ? h->raw_at : used);
	release(h);
	/* A buffer that held a large body is not kept for small ones. */
	if (h->in.n == 0)
		buf_done(&h->in);
	if (h->refused)
		begin_linger(h);
	else if (h->last)
		h->state = HTTP_CLOSED;
	else
		begin_request(h);
}
