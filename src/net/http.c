/* SPDX-License-Identifier: MIT */
/* http: a connection's buffers, from bytes to a request and from an answer to bytes. */

#include "net/http.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

enum {
	READ_AT_ONCE = 4096,  /* most requests fit; larger bodies make the buffer grow */
	FREE_BODY = 64 << 10, /* bodies up to this size are not counted */
	HEAD_BYTES = 512,     /* room for the head of an answer */
	IN_MAX = LIMIT_HTTP_HEAD + LIMIT_BODY +
		 (64 << 10), /* and chunk framing, what is pipelined */
};

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{ 200, "OK" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 417, "Expectation Failed" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 505, "HTTP Version Not Supported" },
};

const char *http_reason(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}

/* Hold at least this much of the shared memory for bodies, in whole megabytes. Small bodies are
 * free: the number of connections bounds them. */
static int reserve(struct http *h, int64_t bytes, struct http_refusal *why)
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
	h->continued = false;
	/* An idle connection holds no buffer. */
	if (h->in.n == 0)
		buf_done(&h->in);
}

void http_init(struct http *h, int fd, struct http_budget *budget)
{
	*h = (struct http){
		.fd = fd, .budget = budget, .in = { .max = IN_MAX }, .out = { .max = SIZE_MAX / 2 }
	};
	begin_request(h);
	h->deadline_ms = io_now_ms() + LIMIT_HEAD_MS;
}

void http_done(struct http *h)
{
	buf_done(&h->in);
	buf_done(&h->out);
	release(h);
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
	return reserve(h, h->body_n, why);
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
			if (reserve(h, (int64_t)(h->body_end - h->head_n + data.n), why) < 0)
				return -1;
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
	if (h->body_n < 0 && join_chunks(h, why) < 0)
		return HTTP_REFUSED;
	if (h->body_n < 0 || h->in.n - h->head_n < (size_t)h->body_n) {
		/* The buffer may move while the body arrives: the head is parsed again then. */
		if (parsed && head->expect_continue && !h->continued) {
			h->continued = true;
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
		const size_t room = h->in.cap - h->in.n;
		const ssize_t n = recv(h->fd, to, room, 0);
		h->drained = n < (ssize_t)room;
		if (n > 0)
			buf_filled(&h->in, (size_t)n);
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

/* The request is answered: what follows it in the buffer is the next one. */
static void next_request(struct http *h)
{
	const size_t used = h->head_n + (size_t)(h->body_n > 0 ? h->body_n : 0);

	buf_drop(&h->in, h->raw_at > used ? h->raw_at : used);
	release(h);
	/* A buffer that held a large body is not kept for small ones. */
	if (h->in.n == 0)
		buf_done(&h->in);
	if (h->last)
		h->state = HTTP_CLOSED;
	else
		begin_request(h);
}

static size_t write_head(const struct http *h, char *out, size_t size, int status, const char *type,
			 const char *extra, const char *framing)
{
	char date[40] = "";
	const time_t now = time(NULL);
	struct tm utc;

	(void)gmtime_r(&now, &utc);
	(void)strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
	const int n =
		snprintf(out, size, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\n%s%s%s\r\n",
			 status, http_reason(status), date, type, framing, extra ? extra : "",
			 h->last ? "Connection: close\r\n" : "");
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

void http_send(struct http *h, const struct http_answer *a)
{
	char head[HEAD_BYTES], length[48];

	(void)snprintf(length, sizeof length, "Content-Length: %zu\r\n", a->body.n);
	const size_t head_n =
		write_head(h, head, sizeof head, a->status, a->type, a->extra, length);
	const struct str body = h->head_only ? STR("") : a->body;
	struct iovec iov[2] = { { head, head_n }, { (void *)(uintptr_t)body.p, body.n } };
	const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = body.n ? 2 : 1 };
	ssize_t sent;

	do
		sent = sendmsg(h->fd, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno != EAGAIN) {
		h->state = HTTP_CLOSED;
		return;
	}
	const size_t done = sent > 0 ? (size_t)sent : 0;
	if (done == head_n + body.n) {
		next_request(h);
		return;
	}
	/* The client does not take it all now. */
	h->out.n = h->out_at = 0;
	if (done < head_n)
		buf_add(&h->out, (struct str){ head + done, head_n - done });
	buf_add(&h->out, str_from(body, done > head_n ? done - head_n : 0));
	h->state = h->out.failed ? HTTP_CLOSED : HTTP_OUT;
	h->deadline_ms = io_now_ms() + LIMIT_ANSWER_MS;
}

void http_flush(struct http *h)
{
	while (h->out_at < h->out.n) {
		const ssize_t n =
			send(h->fd, h->out.p + h->out_at, h->out.n - h->out_at, MSG_NOSIGNAL);
		if (n > 0)
			h->out_at += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			return;
		else if (n == 0 || errno != EINTR) {
			h->state = HTTP_CLOSED;
			return;
		}
	}
	buf_done(&h->out);
	next_request(h);
}

void http_refuse_with(struct http *h, int status, const char *extra, struct str body)
{
	h->last = true;
	h->head_only = false;
	http_send(h, &(struct http_answer){ status, HTTP_JSON, extra, body });
	/* Closing with unread bytes in the socket would reset the connection and the client could
	 * lose the answer: say that nothing more comes, and let what it still sends go by. */
	(void)shutdown(h->fd, SHUT_WR);
	char waste[4096];
	for (int i = 0; i < 16 && recv(h->fd, waste, sizeof waste, 0) > 0; i++)
		;
	h->state = HTTP_CLOSED;
}

void http_expire(struct http *h, struct str timeout_body)
{
	if (h->state == HTTP_IN)
		http_refuse_with(h, 408, NULL, timeout_body);
	h->state = HTTP_CLOSED;
}

int http_stream_begin(struct http *h, const char *type)
{
	char head[HEAD_BYTES];

	h->last = h->last || h->http10;
	const size_t n = write_head(h, head, sizeof head, 200, type, NULL,
				    h->http10 ? "" : "Transfer-Encoding: chunked\r\n");
	h->state = HTTP_STREAM;
	h->deadline_ms = IO_FOREVER;
	if (io_write_all(h->fd, (struct str){ head, n }, IO_FOREVER) == 0)
		return 0;
	h->state = HTTP_CLOSED;
	return -1;
}

int http_stream_write(struct http *h, struct str piece)
{
	char size[24];

	if (h->state != HTTP_STREAM)
		return -1;
	if (piece.n == 0 || h->head_only)
		return 0;
	(void)snprintf(size, sizeof size, "%zx\r\n", piece.n);
	struct iovec iov[3] = { { size, strlen(size) },
				{ (void *)(uintptr_t)piece.p, piece.n },
				{ (void *)(uintptr_t) "\r\n", 2 } };
	struct str rest[3];
	const struct msghdr msg = {
		.msg_iov = h->http10 ? iov + 1 : iov,
		.msg_iovlen = h->http10 ? 1 : 3,
	};
	ssize_t sent = sendmsg(h->fd, &msg, MSG_NOSIGNAL);
	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		h->state = HTTP_CLOSED;
		return -1;
	}
	size_t done = sent > 0 ? (size_t)sent : 0;
	for (size_t i = 0; i < msg.msg_iovlen; i++) {
		rest[i] = str_from((struct str){ msg.msg_iov[i].iov_base, msg.msg_iov[i].iov_len },
				   done);
		done -= done < msg.msg_iov[i].iov_len ? done : msg.msg_iov[i].iov_len;
		if (io_write_all(h->fd, rest[i], IO_FOREVER) < 0) {
			h->state = HTTP_CLOSED;
			return -1;
		}
	}
	return 0;
}

void http_stream_end(struct http *h)
{
	if (h->state != HTTP_STREAM)
		return;
	if (!h->http10 && !h->head_only && io_write_all(h->fd, STR("0\r\n\r\n"), IO_FOREVER) < 0) {
		h->state = HTTP_CLOSED;
		return;
	}
	next_request(h);
}
