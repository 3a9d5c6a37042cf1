/* SPDX-License-Identifier: MIT */
/* http: from bytes as they arrive to a request; from an answer, or a stream, to bytes as the client
 * takes them. */

#include "net/http.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "base/io.h"
#include "base/own.h"
#include "base/utc.h"
#include "net/limits.h"

enum {
	READ_AT_ONCE = 4096,   /* most requests fit; larger bodies make the buffer grow */
	READ_AHEAD = 64 << 10, /* at most this much of the next requests, which have to be moved */
	FREE_BODY = 64 << 10,  /* bodies up to this size are not counted */
	IN_MAX = LIMIT_HTTP_HEAD + LIMIT_BODY +
		 (64 << 10), /* a request, the framing of its chunks, and bytes of the next one */
	HEAD_BYTES = 2048,   /* of an answer; that of the page has the longest */
	SEND_AT_ONCE = 1 << 20, /* of a file */
};

/* Hold at least this much of the memory that all connections share, until the request is done. -1
 * and 503 if there is not enough. It is counted in whole megabytes; small bodies are free, because
 * the number of connections bounds them. */
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

/* The head is complete: note what kind of body follows. */
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

/* Join the chunks that have arrived, in place: the joined body is never longer than its chunks. */
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
	/* Free the room of the framing for the rest of the body. */
	if (h->raw_at > h->body_end && h->body_n < 0) {
		memmove(h->in.p + h->body_end, h->in.p + h->raw_at, h->in.n - h->raw_at);
		h->in.n -= h->raw_at - h->body_end;
		h->raw_at = h->body_end;
	}
	return 0;
}

/* Decide what the bytes in the buffer are. */
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
	/* Counted as it arrives: announcing a body takes no memory from other clients. */
	if (reserve(h, (int64_t)(h->in.n - h->head_n), why) < 0)
		return HTTP_REFUSED;
	if (h->body_n < 0 && join_chunks(h, why) < 0)
		return HTTP_REFUSED;
	if (h->body_n < 0 || h->in.n - h->head_n < (size_t)h->body_n) {
		if (parsed) {
			h->expects = head->expect_continue;
			return HTTP_ANNOUNCED;
		}
		if (h->expects) {
			h->expects = false;
			(void)send(h->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL);
		}
		return HTTP_MORE;
	}
	/* The buffer may have moved while the body arrived. */
	if (!parsed) {
		h->scan = (struct http_scan){ 0 };
		(void)http_parse_head(buf_str(&h->in), &h->scan, head, why);
	}
	request->body = (struct str){ h->in.p + h->head_n, (size_t)h->body_n };
	return HTTP_REQUEST;
}

static void count_received(struct http *h, size_t n)
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
		/* A body of known length gets all of its room at once. */
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
			count_received(h, (size_t)n);
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

static void begin_discard(struct http *h)
{
	buf_done(&h->in);
	h->state = HTTP_DISCARD;
	h->deadline_ms = io_now_ms() + LIMIT_REFUSED_MS;
	h->discarded = 0;
	(void)shutdown(h->fd, SHUT_WR);
}

void http_discard(struct http *h)
{
	char waste[16 << 10] UNINITIALISED;

	while (h->discarded < LIMIT_REFUSED_BYTES) {
		const ssize_t n = recv(h->fd, waste, sizeof waste, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			break;
		h->discarded += n;
	}
	h->state = HTTP_CLOSED;
}

/* The request is answered: the bytes after it in the buffer begin the next one. */
static void next_request(struct http *h)
{
	const size_t used = h->head_n + (size_t)(h->body_n > 0 ? h->body_n : 0);

	buf_drop(&h->in, h->raw_at > used ? h->raw_at : used);
	release(h);
	/* An empty buffer may be large: it is not kept. */
	if (h->in.n == 0)
		buf_done(&h->in);
	if (h->refused)
		begin_discard(h);
	else if (h->last)
		h->state = HTTP_CLOSED;
	else
		begin_request(h);
}

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
	{ 409, "Conflict" },
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

static const char *reason_of(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}

/* An iovec has no const, though sending only reads it. */
static struct iovec vector(struct str s)
{
	union {
		const char *in;
		void *out;
	} p = { .in = s.p };

	return (struct iovec){ p.out, s.n };
}

static void count_sent(struct http *h, size_t sent)
{
	(void)atomic_fetch_add_explicit(&h->budget->sent, (int64_t)sent, memory_order_relaxed);
}

/* Instead of the length of a body. */
enum { NO_BODY = -1, CHUNKED = -2 };

/* All of a head is our own text, which fits. */
static struct str write_head(const struct http *h, char out[static HEAD_BYTES], int status,
			     const char *type, const char *extra, int64_t length)
{
	struct buf b = buf_over(out, HEAD_BYTES);
	char date[UTC_TEXT];

	buf_add(&b, STR("HTTP/1.1 "));
	buf_addi(&b, status);
	buf_addc(&b, ' ');
	buf_add(&b, str_of(reason_of(status)));
	buf_add(&b, STR("\r\nDate: "));
	buf_add(&b, utc_http(time(NULL), date));
	buf_add(&b, STR("\r\nX-Content-Type-Options: nosniff\r\nContent-Type: "));
	buf_add(&b, str_of(type));
	if (length >= 0) {
		buf_add(&b, STR("\r\nContent-Length: "));
		buf_addi(&b, length);
	}
	buf_add(&b, length == CHUNKED ? STR("\r\nTransfer-Encoding: chunked\r\n") : STR("\r\n"));
	buf_add(&b, str_of(extra ? extra : ""));
	if (h->last || h->http10)
		buf_add(&b,
			h->last ? STR("Connection: close\r\n") : STR("Connection: keep-alive\r\n"));
	buf_add(&b, STR("\r\n"));
	return buf_str(&b);
}

void http_send(struct http *h, const struct http_answer *a)
{
	char room[HEAD_BYTES] UNINITIALISED;
	const int64_t length = a->status == 204 ? NO_BODY : (int64_t)a->body.n;
	const struct str head = write_head(h, room, a->status, a->type, a->extra, length);
	const struct str body = h->head_only ? STR("") : a->body;
	struct iovec iov[2] = { vector(head), vector(body) };
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
	count_sent(h, done);
	if (done == head.n + body.n) {
		next_request(h);
		return;
	}
	/* The client does not take all of it now. The memory for such answers is bounded: if there
	 * is no more, a client that does not read loses its connection. */
	const int64_t rest = (int64_t)(h->in.n + head.n + body.n - done);
	struct http_refusal why;
	if (reserve(h, rest, &why) < 0) {
		h->state = HTTP_CLOSED;
		return;
	}
	h->out.n = h->out_at = 0;
	if (done < head.n)
		buf_add(&h->out, str_from(head, done));
	buf_add(&h->out, str_from(body, done > head.n ? done - head.n : 0));
	h->state = h->out.failed ? HTTP_CLOSED : HTTP_OUT;
	h->deadline_ms = io_now_ms() + LIMIT_ANSWER_MS;
}

void http_flush(struct http *h)
{
	while (h->out_at < h->out.n) {
		const ssize_t n =
			send(h->fd, h->out.p + h->out_at, h->out.n - h->out_at, MSG_NOSIGNAL);
		if (n > 0) {
			h->out_at += (size_t)n;
			count_sent(h, (size_t)n);
		} else if (n < 0 && errno == EAGAIN) {
			return;
		} else if (n == 0 || errno != EINTR) {
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
	h->refused = true;
	h->head_only = false;
	http_send(h, &(struct http_answer){ status, HTTP_JSON, extra, body });
}

void http_expire(struct http *h, struct str timeout_body)
{
	if (h->state == HTTP_IN)
		http_refuse_with(h, 408, NULL, timeout_body);
	if (h->state == HTTP_DISCARD)
		http_discard(h);
	h->state = HTTP_CLOSED;
}

/* A client may be slow, but one that takes nothing for this long only holds a thread. */
static int64_t stall_deadline(void)
{
	return io_now_ms() + LIMIT_STALL_MS;
}

/* Send all of it, waiting for the client; -1 when the client has gone. */
static int write_out(struct http *h, struct str piece)
{
	if (io_write_all(h->fd, piece, stall_deadline()) < 0) {
		h->state = HTTP_CLOSED;
		return -1;
	}
	count_sent(h, piece.n);
	return 0;
}

void http_send_progress(struct http *h, const char *line)
{
	char text[HEAD_BYTES];
	const int n = snprintf(text, sizeof text, "HTTP/1.1 102 Processing\r\n%s\r\n", line);
	const ssize_t sent = h->http10 || h->state == HTTP_CLOSED
				     ? 0
				     : send(h->fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent > 0) {
		count_sent(h, (size_t)sent);
		(void)write_out(h, (struct str){ text + sent, (size_t)(n - sent) });
	}
}

int http_stream_begin(struct http *h, const char *type, const char *extra)
{
	char head[HEAD_BYTES] UNINITIALISED;

	h->last = h->last || h->http10;
	h->state = HTTP_STREAM;
	h->deadline_ms = IO_FOREVER;
	return write_out(h, write_head(h, head, 200, type, extra, h->http10 ? NO_BODY : CHUNKED));
}

int http_stream_write(struct http *h, struct str piece)
{
	char size[24];

	if (h->state != HTTP_STREAM)
		return -1;
	if (piece.n == 0 || h->head_only)
		return 0;
	(void)snprintf(size, sizeof size, "%zx\r\n", piece.n);
	struct iovec iov[3] = { { size, strlen(size) }, vector(piece), vector(STR("\r\n")) };
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
	count_sent(h, done);
	for (size_t i = 0; i < msg.msg_iovlen; i++) {
		const struct str whole = { msg.msg_iov[i].iov_base, msg.msg_iov[i].iov_len };
		const struct str rest = str_from(whole, done);
		done -= whole.n - rest.n;
		if (write_out(h, rest) < 0)
			return -1;
	}
	return 0;
}

void http_stream_end(struct http *h)
{
	if (h->state != HTTP_STREAM)
		return;
	if (h->http10 || h->head_only || write_out(h, STR("0\r\n\r\n")) == 0)
		next_request(h);
}

int http_take(struct http *h)
{
	h->state = HTTP_CLOSED;
	return TAKE(h->fd, -1);
}

void http_send_file(struct http *h, const char *type, const char *extra, int file, int64_t size)
{
	char head[HEAD_BYTES];
	int64_t left = h->head_only ? 0 : size;

	h->state = HTTP_STREAM;
	h->deadline_ms = IO_FOREVER;
	if (write_out(h, write_head(h, head, 200, type, extra, size)) < 0)
		return;
	while (left > 0) {
		const ssize_t sent = sendfile(h->fd, file, NULL,
					      left < SEND_AT_ONCE ? (size_t)left : SEND_AT_ONCE);
		if (sent > 0) {
			left -= sent;
			count_sent(h, (size_t)sent);
		} else if (sent == 0 || (errno != EAGAIN && errno != EINTR) ||
			   io_wait(h->fd, POLLOUT, stall_deadline()) != 1) {
			h->state = HTTP_CLOSED;
			return;
		}
	}
	next_request(h);
}
