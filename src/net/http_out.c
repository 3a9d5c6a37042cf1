/* SPDX-License-Identifier: MIT */
/* http_out: the sending half: from an answer, or a stream, to bytes as the client takes them. */

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"
#include "base/utc.h"
#include "net/http.h"

enum { HEAD_BYTES = 512 };

/* Room for the head of an answer. */
struct head {
	char text[HEAD_BYTES];
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

/* writev's vector has no const, though it only reads. */
static struct iovec vector(struct str s)
{
	union {
		const char *in;
		void *out;
	} p = { .in = s.p };

	return (struct iovec){ p.out, s.n };
}

static void count(struct http *h, size_t sent)
{
	(void)atomic_fetch_add_explicit(&h->budget->sent, (int64_t)sent, memory_order_relaxed);
}

/* Where a body has no length. */
enum { NO_BODY = -1, CHUNKED = -2 };

/* A head is text of ours: it fits. */
static struct str write_head(const struct http *h, struct head *out, int status, const char *type,
			     const char *extra, int64_t length)
{
	struct buf b = buf_over(out->text, sizeof out->text);
	char date[UTC_TEXT];

	buf_add(&b, STR("HTTP/1.1 "));
	buf_addi(&b, status);
	buf_addc(&b, ' ');
	buf_add(&b, str_of(reason_of(status)));
	buf_add(&b, STR("\r\nDate: "));
	buf_add(&b, utc_http(time(NULL), date));
	buf_add(&b, STR("\r\nContent-Type: "));
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
	struct head room;
	const int64_t length = a->status == 204 ? NO_BODY : (int64_t)a->body.n;
	const struct str head = write_head(h, &room, a->status, a->type, a->extra, length);
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
	count(h, done);
	if (done == head.n + body.n) {
		http_next(h);
		return;
	}
	/* The client does not take it all now. What waits for all such clients is bounded: beyond
	 * that, one that does not read loses its connection. */
	const int64_t rest = (int64_t)(h->in.n + head.n + body.n - done);
	struct http_refusal why;
	if (http_reserve(h, rest, &why) < 0) {
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
			count(h, (size_t)n);
		} else if (n < 0 && errno == EAGAIN) {
			return;
		} else if (n == 0 || errno != EINTR) {
			h->state = HTTP_CLOSED;
			return;
		}
	}
	buf_done(&h->out);
	http_next(h);
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
	if (h->state == HTTP_LINGER)
		http_linger(h);
	h->state = HTTP_CLOSED;
}

/* A client may be slow, but one that takes nothing at all for this long holds a thread for nothing.
 */
static int64_t stall_deadline(void)
{
	return io_now_ms() + LIMIT_STALL_MS;
}

/* Wait until the client has taken all of it; -1 when it has gone. */
static int write_out(struct http *h, struct str piece)
{
	if (io_write_all(h->fd, piece, stall_deadline()) < 0) {
		h->state = HTTP_CLOSED;
		return -1;
	}
	count(h, piece.n);
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
		count(h, (size_t)sent);
		(void)write_out(h, (struct str){ text + sent, (size_t)(n - sent) });
	}
}

int http_stream_begin(struct http *h, const char *type, const char *extra)
{
	struct head head;

	h->last = h->last || h->http10;
	h->state = HTTP_STREAM;
	h->deadline_ms = IO_FOREVER;
	return write_out(h, write_head(h, &head, 200, type, extra, h->http10 ? NO_BODY : CHUNKED));
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
	count(h, done);
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
		http_next(h);
}

void http_send_file(struct http *h, const char *type, const char *extra, int file, int64_t size)
{
	enum { AT_ONCE = 1 << 20 };
	struct head head;
	int64_t left = h->head_only ? 0 : size;

	h->state = HTTP_STREAM;
	h->deadline_ms = IO_FOREVER;
	if (write_out(h, write_head(h, &head, 200, type, extra, size)) < 0)
		return;
	while (left > 0) {
		const ssize_t sent =
			sendfile(h->fd, file, NULL, left < AT_ONCE ? (size_t)left : AT_ONCE);
		if (sent > 0) {
			left -= sent;
			count(h, (size_t)sent);
		} else if (sent == 0 || (errno != EAGAIN && errno != EINTR) ||
			   io_wait(h->fd, POLLOUT, stall_deadline()) != 1) {
			h->state = HTTP_CLOSED;
			return;
		}
	}
	http_next(h);
}
