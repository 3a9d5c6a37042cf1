/* SPDX-License-Identifier: MIT */
/* own: release at the end of a scope, and memory that outlives a request. */

#include "base/own.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void fd_closep(int *fd)
{
	if (*fd < 0)
		return;
	const int saved = errno;
	(void)close(*fd);
	errno = saved;
	*fd = -1;
}

void *mem_new(size_t count, size_t size)
{
	return calloc(count, size);
}

void *mem_resize(void *p, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total) || total == 0)
		return NULL;
	return realloc(p, total);
}

void mem_free(void *p)
{
	free(p);
}
