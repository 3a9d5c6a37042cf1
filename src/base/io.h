/* SPDX-License-Identifier: MIT */
/*
 * io: whole reads and writes, waiting with a deadline, the clock, randomness.
 *
 * A deadline is a point on the monotonic clock in milliseconds; IO_FOREVER means none. EINTR is
 * never seen by a caller.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include "base/str.h"

#define IO_FOREVER INT64_MAX

/* Milliseconds on the monotonic clock. */
int64_t io_now_ms(void);

/* Microseconds on the same clock, for what takes less than a millisecond. */
int64_t io_now_us(void);

/* Milliseconds from now to the deadline as poll wants them: -1 for none, never below 0. */
int io_timeout(int64_t deadline_ms);

/* Sleep; a signal may end it early. */
void io_sleep_ms(int ms);

/* Wait until the descriptor has one of the poll events. 1 when it has, 0 when the deadline passed,
 * -1 with errno. */
int io_wait(int fd, short events, int64_t deadline_ms);

/* The same, unless `cancel_fd` (or -1) becomes readable first: IO_CANCELLED. With fd -1 this is a
 * pause that can be called off. */
enum { IO_CANCELLED = 2 };
int io_wait_or(int fd, short events, int cancel_fd, int64_t deadline_ms);

/* poll and epoll_wait (for one event), awake for so many microseconds before they sleep: a client
 * that asks one thing after the other is back before a processor that fell asleep would be. They
 * return as those two do, EINTR included. */
int io_poll_awake(struct pollfd *p, nfds_t count, int64_t awake_us, int timeout_ms);
int io_epoll_awake(int epoll, struct epoll_event *ev, int64_t awake_us, int timeout_ms);

/* Read until n bytes are there or the end of the file: the number of bytes, or -1 with errno. */
ssize_t io_read_full(int fd, void *to, size_t n);

/* The same from an offset, without moving the file's position. */
ssize_t io_pread_full(int fd, void *to, size_t n, off_t offset);

/* Write everything, waiting while a pipe or socket is full. 0, or -1 with errno (ETIMEDOUT when the
 * deadline passed). SIGPIPE is the caller's to ignore. */
int io_write_all(int fd, struct str s, int64_t deadline_ms);

/* Fill with random bytes from the kernel. */
void io_random(void *to, size_t n);

#endif
