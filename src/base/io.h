/* SPDX-License-Identifier: MIT */
/*
 * io: whole reads and writes, waiting with a deadline, the clock, randomness.
 *
 * A deadline is a point on the monotonic clock in milliseconds, or IO_FOREVER. No function here
 * fails with EINTR or ends early because of a signal: what a signal interrupts goes on.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include "base/cancel.h"
#include "base/str.h"

#define IO_FOREVER INT64_MAX

/* Milliseconds on the monotonic clock. */
int64_t io_now_ms(void);

/* Microseconds on the same clock. */
int64_t io_now_us(void);

/* Milliseconds from now to the deadline as poll takes them: -1 for IO_FOREVER, never less than 0
 * for another. */
int io_timeout(int64_t deadline_ms);

void io_sleep_ms(int ms);

/* Wait until the descriptor has one of the poll events. 1 when it has, 0 when the deadline passed,
 * -1 with errno. */
int io_wait(int fd, short events, int64_t deadline_ms);

/* The same, unless the cancel (or NULL) is asked first: IO_CANCELLED. With fd -1 this is a pause
 * that can be ended early. */
enum { IO_CANCELLED = 2 };
int io_wait_or(int fd, short events, struct cancel *cancel, int64_t deadline_ms);

/* poll, and epoll_wait for one event, which ask again and again for `awake_us` microseconds before
 * they sleep: a client that sends one request after another is back before a sleeping processor
 * has woken up. They return what those two return. */
int io_poll_awake(struct pollfd *p, nfds_t count, int64_t awake_us, int64_t deadline_ms);
int io_epoll_awake(int epoll, struct epoll_event *ev, int64_t awake_us, int64_t deadline_ms);

/* Read n bytes, or fewer if the file ends. Returns the number of bytes, or -1 with errno. */
ssize_t io_read_full(int fd, void *to, size_t n);

/* The same from an offset, without moving the file's position. */
ssize_t io_pread_full(int fd, void *to, size_t n, off_t offset);

/* Write everything, waiting while a pipe or socket is full. 0, or -1 with errno (ETIMEDOUT when the
 * deadline passed). The caller must ignore SIGPIPE. */
int io_write_all(int fd, struct str s, int64_t deadline_ms);

/* Fill with random bytes from the kernel. */
void io_random(void *to, size_t n);

#endif
