/* SPDX-License-Identifier: MIT */
/* io: loops around read, write and poll that callers would otherwise get wrong. */

#include "base/io.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int64_t io_now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t io_now_ms(void)
{
	return io_now_us() / 1000;
}

int io_timeout(int64_t deadline_ms)
{
	if (deadline_ms == IO_FOREVER)
		return -1;
	const int64_t left = deadline_ms - io_now_ms();
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

void io_sleep_ms(int ms)
{
	(void)io_wait(-1, 0, io_now_ms() + ms);
}

int io_wait_or(int fd, short events, struct cancel *cancel, int64_t deadline_ms)
{
	struct pollfd p[] = { { .fd = fd, .events = events },
			      { .fd = cancel_fd(cancel), .events = POLLIN } };

	for (;;) {
		const int n = poll(p, 2, io_timeout(deadline_ms));
		if (n > 0 && p[1].revents)
			return IO_CANCELLED;
		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -1;
	}
}

int io_wait(int fd, short events, int64_t deadline_ms)
{
	return io_wait_or(fd, events, NULL, deadline_ms);
}

/* From the given offset or, if it is negative, from the file's position. */
static ssize_t read_all(int fd, char *to, size_t n, off_t offset)
{
	size_t have = 0;

	while (have < n) {
		const ssize_t got = offset < 0
					    ? read(fd, to + have, n - have)
					    : pread(fd, to + have, n - have, offset + (off_t)have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

/* False once the time to be awake is over; until then other threads have had their turn. */
static bool stay_awake(int64_t until_us)
{
	if (io_now_us() >= until_us)
		return false;
	(void)sched_yield();
	return true;
}

int io_poll_awake(struct pollfd *p, nfds_t count, int64_t awake_us, int64_t deadline_ms)
{
	const int64_t until = awake_us > 0 ? io_now_us() + awake_us : 0;
	int n = 0;

	while (until && (n = poll(p, count, 0)) <= 0 && stay_awake(until))
		;
	if (n > 0)
		return n;
	do
		n = poll(p, count, io_timeout(deadline_ms));
	while (n < 0 && errno == EINTR);
	return n;
}

int io_epoll_awake(int epoll, struct epoll_event *ev, int64_t awake_us, int64_t deadline_ms)
{
	const int64_t until = awake_us > 0 ? io_now_us() + awake_us : 0;
	int n = 0;

	while (until && (n = epoll_wait(epoll, ev, 1, 0)) <= 0 && stay_awake(until))
		;
	if (n > 0)
		return n;
	do
		n = epoll_wait(epoll, ev, 1, io_timeout(deadline_ms));
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t io_read_full(int fd, void *to, size_t n)
{
	return read_all(fd, to, n, -1);
}

ssize_t io_pread_full(int fd, void *to, size_t n, off_t offset)
{
	return read_all(fd, to, n, offset);
}

int io_write_all(int fd, struct str s, int64_t deadline_ms)
{
	while (s.n) {
		const ssize_t put = write(fd, s.p, s.n);
		if (put >= 0) {
			s = str_from(s, (size_t)put);
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -1;
		const int ready = io_wait(fd, POLLOUT, deadline_ms);
		if (ready == 0)
			errno = ETIMEDOUT;
		if (ready <= 0)
			return -1;
	}
	return 0;
}

void io_random(void *to, size_t n)
{
	char *p = to;

	while (n) {
		const ssize_t got = getrandom(p, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		/* Only a kernel without getrandom fails here. Predictable names would be worse than
		 * no answer. */
		if (got <= 0)
			abort();
		p += got;
		n -= (size_t)got;
	}
}
