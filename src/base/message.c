/* SPDX-License-Identifier: MIT */
/* message: structs, descriptors and lists of strings from process to process. */

#include "base/message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int) * MESSAGE_FDS)];
};

int message_pair(int pair[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

int message_send(int sock, const void *what, size_t size, const int *fds, size_t fd_count,
		 int64_t deadline_ms)
{
	union control c = { 0 };
	struct iovec v = { .iov_base = (void *)(uintptr_t)what, .iov_len = size };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	if (fd_count > MESSAGE_FDS) {
		errno = EINVAL;
		return -1;
	}
	if (fd_count) {
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
		c.head.cmsg_level = SOL_SOCKET;
		c.head.cmsg_type = SCM_RIGHTS;
		c.head.cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
		memcpy(CMSG_DATA(&c.head), fds, sizeof(int) * fd_count);
	}
	while (sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -1;
		const int ready = io_wait(sock, POLLOUT, deadline_ms);
		if (ready == 0)
			errno = ETIMEDOUT;
		if (ready <= 0)
			return -1;
	}
	return 0;
}

static void take_fds(struct msghdr *m, int fds[static MESSAGE_FDS])
{
	size_t count = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		const size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n && count < MESSAGE_FDS; i++)
			memcpy(&fds[count++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
}

ssize_t message_recv(int sock, void *to, size_t size, int fds[static MESSAGE_FDS])
{
	union control c = { 0 };
	struct iovec v = { .iov_base = to, .iov_len = size };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};
	ssize_t n;

	for (size_t i = 0; i < MESSAGE_FDS; i++)
		fds[i] = -1;
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n;
	take_fds(&m, fds);
	if (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		for (size_t i = 0; i < MESSAGE_FDS; i++)
			fd_closep(&fds[i]);
		errno = EBADMSG;
		return -1;
	}
	return n;
}

int message_memfd(const char *name, struct str bytes)
{
	AUTO_FD fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || io_write_all(fd, bytes, IO_FOREVER) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	return TAKE(fd, -1);
}

void strings_add(struct buf *block, struct str s)
{
	buf_add(block, s);
	buf_addc(block, '\0');
}

void strings_done(struct strings *s)
{
	mem_free(s->item);
	if (s->map)
		(void)munmap(s->map, s->map_size);
	*s = (struct strings){ 0 };
}

int strings_map(int fd, struct strings *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	const size_t size = (size_t)st.st_size;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -1;
	struct strings s = { .map = p, .map_size = size };
	for (size_t i = 0; i < size; i++)
		s.count += p[i] == '\0';
	s.item = mem_new(s.count + 1, sizeof(*s.item));
	if (!s.item) {
		strings_done(&s);
		errno = ENOMEM;
		return -1;
	}
	for (size_t i = 0; i < s.count; i++) {
		s.item[i] = p;
		p += strlen(p) + 1;
	}
	*ret = s;
	return 0;
}
