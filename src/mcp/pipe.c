/* SPDX-License-Identifier: MIT */
/* mcp_pipe: whole lines to whoever reads them. */

#include "mcp/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

void mcp_pipe_init(struct mcp_pipe *p, int fd, int stop)
{
	struct stat st;

	p->fd = fd;
	p->stop = stop;
	p->is_socket = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
	p->closed = false;
	(void)pthread_mutex_init(&p->lock, NULL);
}

/* What can be written without waiting: of a pipe that takes anything PIPE_BUF bytes, of one that
 * is empty all it holds. */
static size_t room(const struct mcp_pipe *p)
{
	const int size = fcntl(p->fd, F_GETPIPE_SZ);
	int held;

	return size > PIPE_BUF && ioctl(p->fd, FIONREAD, &held) == 0 && held == 0 ? (size_t)size
										  : PIPE_BUF;
}

static ssize_t put(const struct mcp_pipe *p, struct str text)
{
	if (p->is_socket)
		return send(p->fd, text.p, text.n, MSG_DONTWAIT);
	return write(p->fd, text.p, str_upto(text, text.n > PIPE_BUF ? room(p) : text.n).n);
}

static int write_all(const struct mcp_pipe *p, struct str text)
{
	while (text.n) {
		struct pollfd fds[] = { { .fd = p->fd, .events = POLLOUT },
					{ .fd = p->stop, .events = POLLIN } };
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return -1;
		if (!(fds[0].revents & POLLOUT) && (fds[0].revents || fds[1].revents))
			return -1;
		const ssize_t n = put(p, text);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -1;
		text = str_from(text, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

void mcp_pipe_write(struct mcp_pipe *p, struct str line)
{
	(void)pthread_mutex_lock(&p->lock);
	if (!p->closed && write_all(p, line) < 0)
		p->closed = true;
	(void)pthread_mutex_unlock(&p->lock);
}

void mcp_pipe_try(struct mcp_pipe *p, struct str message)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLOUT };
	char line[PIPE_BUF];

	if (message.n >= sizeof line || pthread_mutex_trylock(&p->lock) != 0)
		return;
	memcpy(line, message.p, message.n);
	line[message.n] = '\n';
	if (!p->closed && poll(&fd, 1, 0) == 1 && fd.revents == POLLOUT &&
	    write_all(p, (struct str){ line, message.n + 1 }) < 0)
		p->closed = true;
	(void)pthread_mutex_unlock(&p->lock);
}
