/* SPDX-License-Identifier: MIT */
/* cancel: a flag, and an event descriptor for those who wait. */

#include "base/cancel.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void raise_event(int fd)
{
	const uint64_t one = 1;

	/* The counter can only be full; then the descriptor is readable, too. */
	(void)!write(fd, &one, sizeof one);
}

void cancel_ask(struct cancel *c)
{
	const int saved = errno; /* of the code that a signal handler has interrupted */

	c->asked = true;
	const int fd = c->fd;
	if (fd >= 0)
		raise_event(fd);
	errno = saved;
}

void cancel_ask_by_person(struct cancel *c)
{
	c->by_person = true;
	cancel_ask(c);
}

int cancel_fd(struct cancel *c)
{
	if (!c || c->fd >= 0)
		return c ? c->fd : -1;
	const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -1;
	c->fd = fd;
	/* A thread that asked before it could see the descriptor has not raised it. */
	if (c->asked)
		raise_event(fd);
	return fd;
}

void cancel_reset(struct cancel *c)
{
	uint64_t count;

	if (c->fd >= 0)
		(void)!read(c->fd, &count, sizeof count);
	c->asked = false;
	c->by_person = false;
}

void cancel_done(struct cancel *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}
