/* SPDX-License-Identifier: MIT */
/* watch: signals by descriptor, a tick while there is something to look after. */

#include "api/watch.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"
#include "net/listen.h"

enum {
	TICK_MS = 250,
	AWAKE_TICKS = 8, /* stay awake this long without connections: clients come back soon */
};

int watch_init(struct watch *w, void (*child_ended)(void), struct err *e)
{
	sigset_t set;
	int64_t usec;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	if (child_ended)
		(void)sigaddset(&set, SIGCHLD);
	w->child_ended = child_ended;
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	w->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->signals < 0 || w->kick < 0)
		return err_errno(e, "Cannot wait for signals");
	if (str_int(str_of(getenv("WATCHDOG_USEC")), &usec) && usec > 0)
		w->watchdog_ms = usec / 2000 > 0 ? usec / 2000 : 1;
	return 0;
}

void watch_done(struct watch *w)
{
	fd_closep(&w->signals);
	fd_closep(&w->kick);
}

bool watch_signalled(struct watch *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo != SIGCHLD)
			return true;
		w->child_ended();
	}
	return false;
}

void watch_wake(struct watch *w)
{
	const uint64_t one = 1;

	if (atomic_exchange(&w->asleep, false))
		(void)!write(w->kick, &one, sizeof one);
}

void watch_run(struct watch *w, const _Atomic int64_t *connections, void (*tick)(void *arg),
	       void *arg)
{
	struct pollfd p[] = { { .fd = w->signals, .events = POLLIN },
			      { .fd = w->kick, .events = POLLIN } };
	int64_t told_ms = io_now_ms();
	uint64_t count;

	for (int idle = 0;;) {
		idle = *connections ? 0 : idle + 1;
		int timeout = TICK_MS;
		if (idle > AWAKE_TICKS) {
			w->asleep = true;
			timeout = -1;
			/* A connection may have come before the flag could be seen. */
			if (*connections)
				timeout = TICK_MS;
		}
		if (w->watchdog_ms && (timeout < 0 || timeout > w->watchdog_ms))
			timeout = (int)w->watchdog_ms;
		(void)poll(p, 2, timeout);
		w->asleep = false;
		(void)!read(w->kick, &count, sizeof count);
		if (watch_signalled(w))
			return;
		tick(arg);
		if (w->watchdog_ms && io_now_ms() - told_ms >= w->watchdog_ms) {
			told_ms = io_now_ms();
			listen_notify("WATCHDOG=1");
		}
	}
}
