/* SPDX-License-Identifier: MIT */
/*
 * floor: the least a server can do for /read, as the mark nobody gets above.
 *
 *	bench_floor SOCKET FILE
 *
 * One thread on epoll. Whatever arrives counts as one request: the file is opened, read and closed,
 * and goes out behind a head made at the start. Nothing is parsed, checked, escaped or logged.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { EVENTS = 64, REQUEST = 4096, BACKLOG = 1024 };

struct ready_answer {
	const char *file;
	char head[256];
	int head_n;
	char *bytes;
	size_t size;
	char request[REQUEST];
};

static int listen_on(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		errx(2, "%s: too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		err(1, "%s", path);
	return fd;
}

static void prepare(struct ready_answer *a, const char *file)
{
	struct stat st;

	if (stat(file, &st) < 0)
		err(1, "%s", file);
	a->file = file;
	a->size = (size_t)st.st_size;
	a->bytes = malloc(a->size);
	if (!a->bytes)
		err(1, "memory");
	a->head_n = snprintf(a->head, sizeof(a->head),
			     "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
			     "Content-Length: %zu\r\n\r\n",
			     a->size);
}

static void answer(int fd, struct ready_answer *a)
{
	if (recv(fd, a->request, sizeof(a->request), 0) <= 0) {
		(void)close(fd);
		return;
	}
	const int file = open(a->file, O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, a->bytes, a->size) != (ssize_t)a->size)
		err(1, "%s", a->file);
	(void)close(file);
	struct iovec iov[] = { { a->head, (size_t)a->head_n }, { a->bytes, a->size } };
	(void)!writev(fd, iov, 2);
}

int main(int argc, char **argv)
{
	static struct ready_answer a;
	struct epoll_event ready[EVENTS];

	if (argc != 3)
		errx(2, "usage: bench_floor SOCKET FILE");
	prepare(&a, argv[2]);
	const int listener = listen_on(argv[1]), epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = listener };
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &ev) < 0)
		err(1, "epoll");
	for (;;) {
		const int n = epoll_wait(epoll, ready, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			if (ready[i].data.fd != listener) {
				answer(ready[i].data.fd, &a);
				continue;
			}
			ev.data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
			if (ev.data.fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, ev.data.fd, &ev) < 0)
				err(1, "accept");
		}
	}
}
