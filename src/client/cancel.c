/* SPDX-License-Identifier: MIT */
/* cancel: an event that one thread raises and another waits for. */

#include "client/cancel.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/own.h"
#include "sidecar.h"

struct sidecar_cancel {
	int fd;
};

struct sidecar_cancel *sidecar_cancel_new(void)
{
	struct sidecar_cancel *c = mem_new(1, sizeof *c);

	if (!c)
		return NULL;
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->fd >= 0)
		return c;
	mem_free(c);
	return NULL;
}

void sidecar_cancel(struct sidecar_cancel *cancel)
{
	const uint64_t one = 1;
	const int saved = errno; /* of what a signal handler has interrupted */

	/* It can only be full, which is as good. */
	(void)write(cancel->fd, &one, sizeof one);
	errno = saved;
}

void sidecar_cancel_free(struct sidecar_cancel *cancel)
{
	if (!cancel)
		return;
	fd_closep(&cancel->fd);
	mem_free(cancel);
}

int cancel_fd(const struct sidecar_cancel *cancel)
{
	return cancel ? cancel->fd : -1;
}
