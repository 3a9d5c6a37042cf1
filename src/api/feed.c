/* SPDX-License-Identifier: MIT */
/* feed: one thread that polls its watchers and copies from the ring to their buffers. */

#include "api/feed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/limits.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "base/thread.h"

enum {
	STACK = 256 << 10,
	CHUNK_HEAD = 10, /* eight digits and CRLF */
};

struct watcher {
	struct feed_start start; /* `after` moves on */
	struct buf out;		 /* what it has not taken yet */
	size_t out_at;
	int64_t sent_ms; /* when it got something last */
	bool greeted;	 /* it knows which run of the server this is */
};

struct feed {
	struct live *live;
	int wake; /* eventfd */
	pthread_t thread;
	pthread_mutex_t lock; /* of the next four */
	bool running, stop;
	struct feed_start arriving[LIMIT_WATCHERS];
	size_t arrived, count; /* count: watchers, the arriving ones included */

	/* Of the thread alone: */
	struct watcher *watchers[LIMIT_WATCHERS];
	size_t served;
	int listens; /* to other programs (live_listen), while there are watchers; else -1 */
	struct pollfd polls[LIMIT_WATCHERS + 2];
	_Alignas(16) char room[EVENTS_ROOM];
};

struct feed *feed_new(struct live *live, struct err *e)
{
	struct feed *f = mem_new(1, sizeof *f);

	if (!f) {
		(void)err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
		return NULL;
	}
	f->live = live;
	f->listens = -1;
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake < 0) {
		(void)err_errno(e, "Cannot start the feed");
		mem_free(f);
		return NULL;
	}
	(void)pthread_mutex_init(&f->lock, NULL);
	return f;
}

static void rouse(struct feed *f)
{
	const uint64_t one = 1;

	(void)!write(f->wake, &one, sizeof one);
}

/* Begin what is sent at once. */
static void open_piece(struct watcher *w)
{
	buf_reset(&w->out, SIZE_MAX);
	w->out_at = 0;
	if (w->start.chunked)
		buf_add(&w->out, STR("00000000\r\n"));
}

/* False if the piece is empty, or there was no memory for it. */
static bool close_piece(struct watcher *w)
{
	const size_t head = w->start.chunked ? CHUNK_HEAD : 0;
	char size[CHUNK_HEAD + 1];

	if (w->out.failed || w->out.n <= head) {
		buf_reset(&w->out, 0);
		return false;
	}
	if (head) {
		(void)snprintf(size, sizeof size, "%08x\r\n", (unsigned)(w->out.n - head));
		memcpy(w->out.p, size, CHUNK_HEAD);
		buf_add(&w->out, STR("\r\n"));
	}
	return !w->out.failed;
}

static void add_event(struct feed *f, struct watcher *w, struct event *event)
{
	struct jw j = jw_to(&w->out);

	if (w->start.form == FEED_SSE)
		buf_addf(&w->out, "id: %s-%llu\ndata: ", events_boot(f->live->events),
			 (unsigned long long)event->id);
	jw_object(&j, NULL);
	live_write(f->live, &j, event);
	jw_end(&j);
	buf_add(&w->out, w->start.form == FEED_SSE ? STR("\n\n") : STR("\n"));
}

/* Events of a stream say in their id which run they are of; lines are told once. */
static void add_boot(struct feed *f, struct watcher *w)
{
	if (w->start.form == FEED_LINES && !w->greeted)
		buf_addf(&w->out, "{\"type\":\"boot\",\"boot\":\"%s\",\"event\":%llu}\n",
			 events_boot(f->live->events), (unsigned long long)w->start.after);
}

static void add_gap(struct watcher *w, uint64_t lost, bool known)
{
	const bool sse = w->start.form == FEED_SSE;

	buf_addf(&w->out, "%s{\"type\":\"gap\",\"lost\":", sse ? "data: " : "");
	if (known)
		buf_addi(&w->out, (int64_t)lost);
	else
		buf_add(&w->out, STR("null"));
	buf_add(&w->out, sse ? STR("}\n\n") : STR("}\n"));
}

/* Fill its buffer with what it does not know yet. False: there is nothing, or no memory. */
static bool fill(struct feed *f, struct watcher *w)
{
	const struct events_query q = { .after = w->start.after };
	struct events_batch b;
	struct event event;

	events_take(f->live->events, &q, f->room, sizeof f->room, &b);
	open_piece(w);
	add_boot(f, w);
	if (b.lost || w->start.forgotten)
		add_gap(w, b.lost, !w->start.forgotten);
	uint64_t after = q.after + b.lost;
	while (w->out.n < LIMIT_WATCH_PIECE && events_next(&b, &event)) {
		add_event(f, w, &event);
		after = event.id;
	}
	if (!close_piece(w))
		return false;
	w->greeted = true;
	w->start.forgotten = false;
	w->start.after = after;
	return true;
}

/* Send what it takes. False: it has gone. */
static bool send_out(struct watcher *w, int64_t now)
{
	while (w->out_at < w->out.n) {
		const ssize_t n = send(w->start.fd, w->out.p + w->out_at, w->out.n - w->out_at,
				       MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			w->out_at += (size_t)n;
			w->sent_ms = now;
		} else if (n < 0 && errno == EAGAIN) {
			return true;
		} else if (n == 0 || errno != EINTR) {
			return false;
		}
	}
	buf_reset(&w->out, 0);
	w->out_at = 0;
	return true;
}

static bool is_stalled(const struct watcher *w)
{
	return w->out.n > 0;
}

/* Bring it up to date, as far as it takes it. False: it has gone. */
static bool serve(struct feed *f, struct watcher *w, int64_t now)
{
	if (!send_out(w, now))
		return false;
	while (!is_stalled(w) && fill(f, w))
		if (!send_out(w, now))
			return false;
	if (is_stalled(w) || w->start.form != FEED_SSE || now - w->sent_ms < LIMIT_WATCH_SILENCE_MS)
		return true;
	open_piece(w);
	buf_add(&w->out, STR(":\n\n"));
	return !close_piece(w) || send_out(w, now);
}

static void watcher_free(struct watcher *w)
{
	fd_closep(&w->start.fd);
	buf_done(&w->out);
	mem_free(w);
}

/* Make watchers of those who have arrived. The lock is held. */
static void welcome(struct feed *f)
{
	for (size_t i = 0; i < f->arrived; i++) {
		struct watcher *w = mem_new(1, sizeof *w);
		if (!w) {
			(void)close(f->arriving[i].fd);
			f->count--;
			continue;
		}
		w->start = f->arriving[i];
		w->out.max = SIZE_MAX / 2;
		w->sent_ms = io_now_ms();
		f->watchers[f->served++] = w;
	}
	f->arrived = 0;
}

/* Wait until there is something to do. A watcher is asked whether it takes more only if it has not
 * taken all. */
static bool wait_for_news(struct feed *f, int longest)
{
	uint64_t count;

	f->polls[0] = (struct pollfd){ .fd = f->wake, .events = POLLIN };
	f->polls[1] = (struct pollfd){ .fd = f->listens, .events = POLLIN };
	for (size_t i = 0; i < f->served; i++)
		f->polls[i + 2] = (struct pollfd){
			.fd = f->watchers[i]->start.fd,
			.events = is_stalled(f->watchers[i]) ? POLLOUT : 0,
		};
	if (longest < 0 && f->served)
		longest = LIMIT_WATCH_SILENCE_MS / 4;
	(void)poll(f->polls, f->served + 2, longest);
	return read(f->wake, &count, sizeof count) > 0 || f->polls[1].revents;
}

static void serve_all(struct feed *f)
{
	const int64_t now = io_now_ms();
	size_t kept = 0;

	for (size_t i = 0; i < f->served; i++) {
		struct watcher *w = f->watchers[i];
		const bool polled = f->polls[i + 2].fd == w->start.fd;
		const bool gone =
			polled && f->polls[i + 2].revents & (POLLERR | POLLHUP | POLLNVAL);
		const bool waits = polled && is_stalled(w) && !(f->polls[i + 2].revents & POLLOUT);
		if (!gone && (waits || serve(f, w, now)))
			f->watchers[kept++] = w;
		else
			watcher_free(w);
	}
	(void)pthread_mutex_lock(&f->lock);
	f->count -= f->served - kept;
	(void)pthread_mutex_unlock(&f->lock);
	f->served = kept;
}

static void say_goodbye(struct feed *f)
{
	for (size_t i = 0; i < f->served; i++) {
		struct watcher *w = f->watchers[i];
		(void)serve(f, w, io_now_ms());
		if (!is_stalled(w) && w->start.chunked)
			(void)send(w->start.fd, "0\r\n\r\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
		watcher_free(w);
	}
	f->served = 0;
}

/* Learn what other programs have changed, as long as somebody watches. */
static void listen_to_others(struct feed *f)
{
	if (f->served && f->listens < 0) {
		f->listens = live_listen(f->live);
		f->polls[1].revents = f->listens < 0 ? 0 : POLLIN;
	}
	if (!f->served)
		fd_closep(&f->listens);
	if (f->listens >= 0 && f->polls[1].revents)
		live_heard(f->live, f->listens);
}

static void *run(void *feed)
{
	struct feed *f = feed;
	bool stop = false;
	int longest = -1;

	while (!stop) {
		/* What comes in quick succession is sent together. */
		if (wait_for_news(f, longest))
			io_sleep_ms(LIMIT_WATCH_GATHER_MS);
		memset(f->polls + 2 + f->served, 0,
		       (LIMIT_WATCHERS - f->served) * sizeof *f->polls);
		(void)pthread_mutex_lock(&f->lock);
		welcome(f);
		stop = f->stop;
		(void)pthread_mutex_unlock(&f->lock);
		/* First the ring may call again, then it is read: nothing is missed. */
		events_watch(f->live->events, f->served ? f->wake : -1);
		listen_to_others(f);
		longest = f->served ? live_tell_output(f->live) : -1;
		serve_all(f);
	}
	events_watch(f->live->events, -1);
	say_goodbye(f);
	fd_closep(&f->listens);
	return NULL;
}

bool feed_has_room(struct feed *f)
{
	(void)pthread_mutex_lock(&f->lock);
	if (!f->running && !f->stop)
		f->running = thread_start(run, f, STACK, &f->thread);
	const bool room = f->running && !f->stop && f->count < LIMIT_WATCHERS;
	(void)pthread_mutex_unlock(&f->lock);
	return room;
}

void feed_add(struct feed *f, const struct feed_start *start)
{
	const bool room = feed_has_room(f);

	(void)pthread_mutex_lock(&f->lock);
	const bool taken = room && f->count < LIMIT_WATCHERS;
	if (taken) {
		f->arriving[f->arrived++] = *start;
		f->count++;
	} else {
		(void)close(start->fd);
	}
	(void)pthread_mutex_unlock(&f->lock);
	if (taken)
		rouse(f);
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	(void)pthread_mutex_lock(&f->lock);
	f->stop = true;
	const bool running = f->running;
	(void)pthread_mutex_unlock(&f->lock);
	rouse(f);
	if (running)
		(void)pthread_join(f->thread, NULL);
	(void)pthread_mutex_destroy(&f->lock);
	fd_closep(&f->wake);
	mem_free(f);
}
