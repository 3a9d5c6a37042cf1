/* SPDX-License-Identifier: MIT */
/* server: signals by descriptor, a tick while there is something to look after, an orderly end. */

#include "api/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "api/limits.h"
#include "base/io.h"
#include "base/log.h"
#include "base/own.h"
#include "mcp/http.h"

enum {
	TICK_MS = 250,
	AWAKE_TICKS = 8, /* stay awake this long without connections: clients come back soon */
};

struct server {
	const struct server_options *o;
	struct workers workers;
	int signals;	     /* signalfd */
	int64_t watchdog_ms; /* how often the service manager wants to hear from us; 0: never */
};

static int open_signals(struct server *s, struct err *e)
{
	sigset_t set;
	int64_t usec;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	if (s->o->child_ended)
		(void)sigaddset(&set, SIGCHLD);
	if (s->o->hung_up)
		(void)sigaddset(&set, SIGHUP);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return err_errno(e, "Cannot wait for signals");
	if (str_int(str_of(getenv("WATCHDOG_USEC")), &usec) && usec > 0)
		s->watchdog_ms = usec / 2000 > 0 ? usec / 2000 : 1;
	return 0;
}

/* Whether a (further) signal to stop has come. */
static bool signalled(const struct server *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			s->o->child_ended();
		else if (info.ssi_signo == SIGHUP)
			s->o->hung_up(s->o->arg);
		else
			return true;
	}
	return false;
}

/* Whether the lifeline has ended: nobody has its other end any more. What is written to it says
 * nothing. */
static bool is_left_alone(const struct server *s)
{
	const int fd = s->o->lifeline;
	char ignored[256];

	if (fd < 0 || io_wait(fd, POLLIN, 0) <= 0)
		return false;
	const ssize_t n = read(fd, ignored, sizeof ignored);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* Wait for a signal, a tick, or the first connection after a pause. Without connections there is no
 * tick, so that an idle server costs nothing. `idle` is how many ticks there have been none. */
static void wait_for_tick(struct server *s, int idle)
{
	struct workers *w = &s->workers;
	struct pollfd p[] = { { .fd = s->signals, .events = POLLIN },
			      { .fd = w->wake, .events = POLLIN },
			      { .fd = s->o->lifeline, .events = POLLIN } };
	int timeout = TICK_MS;
	uint64_t count;

	if (idle > AWAKE_TICKS) {
		w->asleep = true;
		/* A connection may have come before the flag could be seen. */
		timeout = w->slots.used ? TICK_MS : -1;
	}
	if (s->watchdog_ms && (timeout < 0 || timeout > s->watchdog_ms))
		timeout = (int)s->watchdog_ms;
	(void)poll(p, ARRAY_LEN(p), timeout);
	w->asleep = false;
	(void)!read(w->wake, &count, sizeof count);
}

static void watch(struct server *s)
{
	int64_t told_ms = io_now_ms();

	for (int idle = 0;;) {
		idle = s->workers.slots.used ? 0 : idle + 1;
		wait_for_tick(s, idle);
		if (signalled(s) || is_left_alone(s))
			return;
		workers_tick(&s->workers);
		mcp_http_tick(s->o->serve.front->mcp);
		if (s->watchdog_ms && io_now_ms() - told_ms >= s->watchdog_ms) {
			told_ms = io_now_ms();
			listen_notify("WATCHDOG=1");
		}
	}
}

static bool is_busy(const struct server *s)
{
	return slots_any_busy(&s->workers.slots);
}

static void wait_until_idle(const struct server *s, int64_t grace_ms)
{
	const int64_t deadline = io_now_ms() + grace_ms;

	while (is_busy(s) && io_now_ms() < deadline && !signalled(s))
		io_sleep_ms(5);
}

/* Returns whether every worker has left. */
static bool stop(struct server *s)
{
	const int64_t began = io_now_ms();

	listen_notify("STOPPING=1");
	workers_refuse_new(&s->workers);
	if (is_busy(s))
		log_event(
			LOG_INFO,
			"waiting for calls to finish; a second Ctrl-C or signal ends them at once",
			LOG_INT("at_most_ms", s->o->grace_ms));
	wait_until_idle(s, s->o->grace_ms);
	if (is_busy(s)) {
		log_event(LOG_WARN, "ending calls that are still running",
			  LOG_INT("after_ms", io_now_ms() - began));
		/* Commands end and their clients are told; then those that take no answer go. */
		slots_cancel_all(&s->workers.slots);
		mcp_http_stop(s->o->serve.front->mcp);
		wait_until_idle(s, LIMIT_STOP_MS);
		workers_hang_up(&s->workers);
		wait_until_idle(s, LIMIT_STOP_MS);
	}
	return workers_end(&s->workers);
}

int server_run(const struct server_options *o, struct err *e)
{
	struct server *s = mem_new(1, sizeof *s);
	int rc = -1;

	if (!s)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the server");
	s->o = o;
	if (open_signals(s, e) < 0) {
		mem_free(s);
		return -1;
	}
	if (workers_start(&s->workers, &o->serve, e) == 0) {
		listen_notify("READY=1");
		watch(s);
		log_event(LOG_INFO, "stopping", LOG_INT("connections", s->workers.slots.used));
		rc = 0;
	}
	/* A worker that is stuck in a call still uses all this. */
	if (!stop(s))
		return rc < 0 ? rc : SERVER_STUCK;
	workers_done(&s->workers);
	fd_closep(&s->signals);
	mem_free(s);
	return rc;
}
