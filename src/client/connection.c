/* SPDX-License-Identifier: MIT */
/* connection: send and receive on one socket, with patience. */

#include "client/connection.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

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

/* Nothing limits the wait, so that a system call may block by itself. */
static bool is_endless(const struct patience *p)
{
	return p->silence_ms == 0 && p->deadline_ms == IO_FOREVER && p->cancel_fd < 0;
}

struct patience patience_in_all(const struct patience *p)
{
	struct patience all = *p;
	const int64_t now = p->silence_ms ? io_now_ms() : 0;

	if (p->silence_ms && p->silence_ms < p->deadline_ms - now)
		all.deadline_ms = now + p->silence_ms;
	return all;
}

static int await(const struct conn *c, short events, const struct patience *p, struct err *e)
{
	switch (io_wait_or(c->fd, events, p->cancel_fd, patience_in_all(p).deadline_ms)) {
	case 0:
		return err_set(e, ERR_TIMED_OUT,
			       "The sidecar did not answer in time; the call has been given up");
	case IO_CANCELLED:
		return err_set(e, ERR_CANCELLED, "The call was cancelled");
	default:
		return 0; /* an error of poll is met again by who sends or receives */
	}
}

static int lost(struct err *e)
{
	return err_set(e, ERR_CONNECTION_LOST, "The connection to the sidecar was lost");
}

int conn_send(struct conn *c, struct str head, struct str body, const struct patience *p,
	      size_t *accepted, struct err *e)
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

ssize_t conn_receive(struct conn *c, char *to, size_t n, const struct patience *p, struct err *e)
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

int conn_fill(struct conn *c, const struct patience *p, struct err *e)
{
	if (c->in.n >= c->in.max)
		return err_set(e, ERR_BAD_ANSWER, "What answered is no sidecar: it sent too much");
	char *room = buf_room(&c->in, c->in.n ? 1 : LIMIT_CLIENT_READ);
	if (!room)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer");
	const ssize_t n = conn_receive(c, room, c->in.cap - c->in.n, p, e);
	if (n < 0)
		return -1;
	buf_filled(&c->in, (size_t)n);
	return n > 0;
}
