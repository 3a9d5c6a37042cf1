/* SPDX-License-Identifier: MIT */
/* watchable: workers that serve a socket of the registry, and a thread for their deadlines. */

#include "api/watchable.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/feed.h"
#include "api/limits.h"
#include "api/workers.h"
#include "base/io.h"
#include "base/own.h"
#include "base/thread.h"
#include "config/registry.h"
#include "exec/keeper.h"

enum { STACK = 256 << 10, TICK_MS = 250 };

struct watchable {
	struct front front;
	struct listener listener;
	uid_t user;
	struct workers_options options;
	struct workers workers;
	int stop; /* eventfd */
	pthread_t thread;
	bool has_workers, has_thread;
};

/* Look after the connections; sleep while there are none. */
static void *look_after(void *arg)
{
	struct watchable *w = arg;
	struct pollfd p[] = { { .fd = w->stop, .events = POLLIN },
			      { .fd = w->workers.wake, .events = POLLIN } };
	uint64_t count;

	while (!(p[0].revents & POLLIN)) {
		w->workers.asleep = true;
		/* A connection may have come before the flag could be seen. */
		(void)poll(p, ARRAY_LEN(p), w->workers.slots.used ? TICK_MS : -1);
		w->workers.asleep = false;
		(void)!read(w->workers.wake, &count, sizeof count);
		workers_tick(&w->workers);
	}
	return NULL;
}

static int start(struct watchable *w, struct service *s, struct err *e)
{
	w->front = (struct front){ .service = s, .shows_only = true };
	w->user = geteuid();
	w->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->stop < 0)
		return err_errno(e, "Cannot make a descriptor");
	if (s->live.events && !(w->front.feed = feed_new(&s->live, e)))
		return -1;
	if (registry_listen(&w->listener, e) < 0)
		return -1;
	w->options = (struct workers_options){
		.front = &w->front,
		.listeners = &w->listener,
		.listener_count = 1,
		.uids = &w->user,
		.uid_count = 1,
		.refuses = keeper_is_above,
	};
	w->has_workers = true;
	if (workers_start(&w->workers, &w->options, e) < 0)
		return -1;
	w->has_thread = thread_start(look_after, w, STACK, &w->thread);
	return w->has_thread ? 0 : err_set(e, ERR_TOO_BUSY, "Cannot start a thread");
}

struct watchable *watchable_open(struct service *s, struct err *e)
{
	struct watchable *w = mem_new(1, sizeof *w);

	if (!w) {
		(void)err_set(e, ERR_TOO_BUSY, "Not enough memory");
		return NULL;
	}
	w->stop = w->listener.fd = -1;
	if (start(w, s, e) == 0)
		return w;
	(void)watchable_close(w);
	return NULL;
}

/* Give calls that are under way, such as an undo, a moment; then hang up. */
static bool end_workers(struct workers *w)
{
	const int64_t deadline = io_now_ms() + LIMIT_STOP_MS;

	workers_refuse_new(w);
	while (slots_any_busy(&w->slots) && io_now_ms() < deadline)
		io_sleep_ms(5);
	workers_hang_up(w);
	return workers_end(w);
}

bool watchable_close(struct watchable *w)
{
	const uint64_t one = 1;

	if (!w)
		return true;
	if (w->has_thread) {
		(void)!write(w->stop, &one, sizeof one);
		(void)pthread_join(w->thread, NULL);
	}
	if (w->has_workers && !end_workers(&w->workers))
		return false;
	feed_free(w->front.feed);
	if (w->has_workers)
		workers_done(&w->workers);
	listener_done(&w->listener);
	fd_closep(&w->stop);
	mem_free(w);
	return true;
}
