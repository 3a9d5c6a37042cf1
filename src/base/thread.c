/* SPDX-License-Identifier: MIT */
/* thread: the attributes of a new thread. */

#include "base/thread.h"

bool thread_start(void *(*work)(void *arg), void *arg, size_t stack, pthread_t *ret)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) != 0)
		return false;
	(void)pthread_attr_setstacksize(&attr, stack);
	if (!ret)
		(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	const bool started = pthread_create(&thread, &attr, work, arg) == 0;
	(void)pthread_attr_destroy(&attr);
	if (started && ret)
		*ret = thread;
	return started;
}
