/* SPDX-License-Identifier: MIT */
/* server: accept, carry requests, watch deadlines, end in order. */

#include "api/server.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/routes.h"
#include "api/slots.h"
#include "api/watch.h"
#include "base/io.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/own.h"
#include "base/thread.h"
#include "mcp/http.h"

enum {
	KEEP_ANSWER = 96 << 10, /* a worker keeps its answer buffer up to this size */
	STACK = 512 << 10,	/* of a worker: paths and read chunks live there */
	NO_FILES_MS = 20,	/* pause when no descriptor is left for a new connection */
};

/* Events of the set that are not connections. */
static const uint64_t KEY_LISTENER = UINT64_MAX - 64;
static const uint64_t KEY_STOP = UINT64_MAX;

struct server {
	const struct server_options *o;
	int epoll;
	int stop; /* readable forever once workers are to leave */
	struct slots slots;
	struct http_budget budget;
	struct watch watch;
	_Atomic int workers, waiting;
	_Atomic int64_t answered;	  /* requests so far */
	int64_t answered_before, trimmed; /* as of the last tick, and of the last malloc_trim */
	_Atomic int accepting;		  /* workers that use a listener at this moment */
	atomic_bool stopping;
	pthread_mutex_t closing; /* no connection is closed while others are being hung up */
};

/* What a worker uses again for each request. */
struct server_worker {
	struct arena arena;
	struct buf out;
	struct http_request request;
};

/* A call that may take long. */
struct long_call {
	struct server *server;
	struct slot *slot;
	bool known; /* before_slow has been asked before */
};

static void log_refusal(int status, const char *sentence)
{
	log_event(LOG_WARN, "request refused", LOG_INT("status", status),
		  LOG_STR("error", str_of(sentence)));
}

/* Send an error as the last answer on a connection. */
static void refuse(struct http *h, int status, const char *sentence)
{
	AUTO_BUF body = { .max = 1024 };

	exchange_error_body(&body, sentence, ERR_NONE);
	log_refusal(status, sentence);
	http_refuse_with(h, status, auth_extra(status), buf_str(&body));
}

static bool uid_allowed(const struct server_options *o, uid_t uid)
{
	for (size_t i = 0; i < o->uid_count; i++)
		if (o->uids[i] == uid)
			return true;
	return o->uid_count == 0;
}

/* Answer a connection that has no slot, and close it. */
static void turn_away(struct server *s, int fd, int status, const char *sentence)
{
	struct http h;

	http_init(&h, fd, &s->budget);
	refuse(&h, status, sentence);
	http_done(&h);
}

/* Take the next connection of a listener. The slot is the caller's; NULL if there was none. One
 * whose user may not connect gets that answer. */
static struct slot *accept_slot(struct server *s, const struct listener *l)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof peer;
	const int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		/* The listener stays readable: without a pause this would spin. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			io_sleep_ms(NO_FILES_MS);
		return NULL;
	}
	if (!l->tcp)
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	struct slot *c = slots_take(&s->slots);
	if (!c) {
		turn_away(s, fd, 503, "Too many connections, try again later");
		return NULL;
	}
	c->tcp = l->tcp;
	c->uid = peer.uid;
	c->pid = peer.pid;
	http_init(&c->http, fd, &s->budget);
	if (!l->tcp && !uid_allowed(s->o, peer.uid)) {
		log_event(LOG_WARN, "connection refused: uid not allowed", LOG_INT("uid", peer.uid),
			  LOG_INT("pid", peer.pid));
		refuse(&c->http, 403, "Forbidden: this user may not connect");
	}
	return c;
}

static bool add_worker(struct server *s);

static void close_slot(struct server *s, struct slot *c)
{
	(void)pthread_mutex_lock(&s->closing);
	fd_closep(&c->http.fd);
	(void)pthread_mutex_unlock(&s->closing);
	http_done(&c->http);
	slots_give(&s->slots, c);
}

/* Wait in the epoll set until there is something to take in, or (for_out, once an answer is
 * waiting) until the client takes more. Returns -1 if the connection cannot be watched. */
static int watch_slot(struct server *s, struct slot *c, bool for_out)
{
	struct epoll_event ev = {
		.events = EPOLLET | EPOLLRDHUP | (for_out ? EPOLLOUT : EPOLLIN),
		.data.u64 = slots_key(&s->slots, c),
	};

	/* The set is edge-triggered, but reports what is already there when the interest changes.
	 */
	if (c->watched && c->for_out == for_out)
		return 0;
	const int op = c->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	c->watched = true;
	c->for_out = for_out;
	return epoll_ctl(s->epoll, op, c->http.fd, &ev);
}

/* Another worker must wait for events meanwhile, among them that the client of this call leaves. */
static bool before_slow(void *arg)
{
	struct long_call *slow = arg;

	if (slow->known)
		return true;
	if (slow->server->waiting == 0 && !add_worker(slow->server))
		return false;
	slow->known = true;
	/* The state is not asked: another thread may begin the answer, to tell of progress. */
	(void)watch_slot(slow->server, slow->slot, false);
	return true;
}

static void answer(struct server *s, struct server_worker *w, struct slot *c)
{
	struct long_call slow = { .server = s, .slot = c };
	const char *why;
	struct exchange x = {
		.front = s->o->front,
		.outlet = &exchange_over_http,
		.to = &c->http,
		.uid = c->uid,
		.pid = c->pid,
		.arena = &w->arena,
		.out = &w->out,
		.before_slow = before_slow,
		.before_slow_arg = &slow,
		.cancel = &c->cancel,
	};

	if (s->stopping)
		c->http.last = true;
	const int refused = auth_check(&s->o->front->auth, &w->request.head, c->tcp, &why);
	if (refused) {
		log_refusal(refused, why);
		exchange_error(&x, refused, auth_extra(refused), why, ERR_NONE);
	} else {
		routes_answer(&x, &w->request);
	}
	arena_reset(&w->arena);
	buf_reset(&w->out, KEEP_ANSWER);
	s->answered++;
}

/* Carry a connection as far as it goes now: until its client must do something, or has left. */
static void carry(struct server *s, struct server_worker *w, struct slot *c)
{
	struct http *h = &c->http;
	struct http_refusal why;

	if (h->state == HTTP_OUT)
		http_flush(h);
	while (h->state == HTTP_IDLE || h->state == HTTP_IN) {
		switch (http_receive(h, &w->request, &why)) {
		case HTTP_MORE:
			return;
		case HTTP_REQUEST:
			answer(s, w, c);
			/* All that had come has been taken in: the next event will tell of more. */
			if (h->state == HTTP_IDLE && h->drained && !c->ended)
				return;
			break;
		case HTTP_ANNOUNCED:
			/* A client that may not call must not fill our memory first. */
			why.status = auth_check(&s->o->front->auth, &w->request.head, c->tcp,
						&why.sentence);
			if (why.status)
				refuse(h, why.status, why.sentence);
			break;
		case HTTP_REFUSED:
			refuse(h, why.status, why.sentence);
			break;
		case HTTP_GONE:
			h->state = HTTP_CLOSED;
			break;
		}
	}
	if (h->state == HTTP_DISCARD)
		http_discard(h);
}

static void serve(struct server *s, struct server_worker *w, struct slot *c)
{
	do {
		carry(s, w, c);
		if (c->http.state == HTTP_CLOSED ||
		    watch_slot(s, c, c->http.state == HTTP_OUT) < 0) {
			close_slot(s, c);
			return;
		}
	} while (!slot_let_go(c));
}

static void welcome(struct server *s, struct server_worker *w, const struct listener *l)
{
	/* Counted before `stopping` is looked at, so that stop() can wait for this. */
	s->accepting++;
	struct slot *c = s->stopping ? NULL : accept_slot(s, l);
	s->accepting--;
	if (!c)
		return;
	watch_wake(&s->watch);
	/* Its first request is probably there already. */
	serve(s, w, c);
}

/* Whether this worker, which has had nothing to do, may leave. Then it is no longer counted. */
static bool may_leave(struct server *s)
{
	int n = s->workers;

	while (n > LIMIT_WORKERS_MIN)
		if (atomic_compare_exchange_weak(&s->workers, &n, n - 1))
			return true;
	return false;
}

static void *work(void *arg)
{
	struct server *s = arg;
	struct server_worker w = {
		.arena = { .max = LIMIT_CALL_MEMORY },
		.out = { .max = LIMIT_ANSWER },
	};
	struct epoll_event ev;
	bool counted = true, awake = false;
	/* The first workers stay forever: their waits need no timer. */
	const bool stays = s->workers <= LIMIT_WORKERS_MIN;

	while (counted) {
		/* Right after an answer the same client often asks again. */
		s->waiting++;
		const int n =
			io_epoll_awake(s->epoll, &ev, awake ? LIMIT_AWAKE_US : 0,
				       stays ? IO_FOREVER : io_now_ms() + LIMIT_WORKER_IDLE_MS);
		s->waiting--;
		awake = n > 0;
		if (n == 0) {
			counted = !may_leave(s);
			continue;
		}
		if (n < 0 || ev.data.u64 == KEY_STOP)
			break;
		if (ev.data.u64 >= KEY_LISTENER) {
			welcome(s, &w, &s->o->listeners[ev.data.u64 - KEY_LISTENER]);
			continue;
		}
		if (ev.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			slots_hung_up(&s->slots, ev.data.u64, !(ev.events & (EPOLLHUP | EPOLLERR)));
		struct slot *c = slots_claim(&s->slots, ev.data.u64);
		if (!c)
			continue;
		if (ev.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
			c->ended = true;
		serve(s, &w, c);
	}
	arena_done(&w.arena);
	buf_done(&w.out);
	if (counted)
		s->workers--;
	return NULL;
}

static bool add_worker(struct server *s)
{
	if (++s->workers <= LIMIT_WORKERS && thread_start(work, s, STACK, NULL))
		return true;
	s->workers--;
	return false;
}

/* Close what has waited too long; called by the watch. */
static void sweep(void *arg)
{
	struct server *s = arg;
	const int64_t now = io_now_ms();
	AUTO_BUF body = { .max = 256 };

	for (uint32_t i = 0; i < s->slots.fresh && s->slots.used; i++) {
		struct slot *c = &s->slots.all[i];
		if (!slot_claim_expired(c, now, s->stopping))
			continue;
		body.n = 0;
		exchange_error_body(&body, "The request was not complete in time", ERR_NONE);
		http_expire(&c->http, buf_str(&body));
		close_slot(s, c);
	}
	mcp_http_tick(s->o->front->mcp);
	/* All busy with the same requests as a tick ago: the next client should not wait. */
	const int64_t answered = s->answered;
	if (s->waiting == 0 && answered == s->answered_before && !s->stopping)
		(void)add_worker(s);
	/* Quiet again after some work: what large requests took goes back to the machine. */
	if (answered == s->answered_before && answered != s->trimmed) {
		s->trimmed = answered;
		(void)malloc_trim(0);
	}
	s->answered_before = answered;
}

/* Hang up on clients that do not take their answers. */
static void hang_up(struct server *s)
{
	(void)pthread_mutex_lock(&s->closing);
	for (uint32_t i = 0; i < s->slots.fresh; i++)
		if (slot_is_busy(&s->slots.all[i]))
			(void)shutdown(s->slots.all[i].http.fd, SHUT_RDWR);
	(void)pthread_mutex_unlock(&s->closing);
}

static void wait_until_idle(struct server *s, int64_t grace_ms)
{
	const int64_t deadline = io_now_ms() + grace_ms;

	while (slots_any_busy(&s->slots) && io_now_ms() < deadline && !watch_signalled(&s->watch))
		io_sleep_ms(5);
}

static void stop(struct server *s)
{
	const uint64_t one = 1;
	const int64_t began = io_now_ms();

	s->stopping = true;
	listen_notify("STOPPING=1");
	while (s->accepting)
		io_sleep_ms(1);
	for (size_t i = 0; i < s->o->listener_count; i++)
		listener_done(&s->o->listeners[i]);
	sweep(s);
	if (slots_any_busy(&s->slots))
		log_event(
			LOG_INFO,
			"waiting for calls to finish; a second Ctrl-C or signal ends them at once",
			LOG_INT("at_most_ms", s->o->grace_ms));
	wait_until_idle(s, s->o->grace_ms);
	if (slots_any_busy(&s->slots)) {
		log_event(LOG_WARN, "ending calls that are still running",
			  LOG_INT("after_ms", io_now_ms() - began));
		/* Commands end and their clients are told; then those that take no answer go. */
		slots_cancel_all(&s->slots);
		mcp_http_stop(s->o->front->mcp);
		wait_until_idle(s, LIMIT_STOP_MS);
		hang_up(s);
		wait_until_idle(s, LIMIT_STOP_MS);
	}
	sweep(s);
	(void)!write(s->stop, &one, sizeof one);
	for (int i = 0; i < 200 && s->workers; i++)
		io_sleep_ms(5);
}

static int watch_fd(struct server *s, int fd, uint64_t key)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = key };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static int start(struct server *s, struct err *e)
{
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->epoll < 0 || s->stop < 0 || watch_fd(s, s->stop, KEY_STOP) < 0)
		return err_errno(e, "Cannot start the server");
	if (slots_init(&s->slots, LIMIT_CONNECTIONS, e) < 0 ||
	    watch_init(&s->watch, s->o->child_ended, e) < 0)
		return -1;
	for (size_t i = 0; i < s->o->listener_count; i++)
		if (watch_fd(s, s->o->listeners[i].fd, KEY_LISTENER + i) < 0)
			return err_errno(e, "Cannot wait on the listener");
	for (int i = 0; i < LIMIT_WORKERS_MIN; i++)
		(void)add_worker(s);
	if (s->workers == 0)
		return err_set(e, ERR_TOO_BUSY, "Cannot start a thread");
	return 0;
}

int server_run(const struct server_options *o, struct err *e)
{
	struct server *s = mem_new(1, sizeof *s);
	int rc = -1;

	if (!s)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the server");
	s->o = o;
	s->budget.left = LIMIT_BODIES;
	o->front->connections = &s->budget;
	s->epoll = s->stop = s->watch.signals = s->watch.kick = -1;
	(void)pthread_mutex_init(&s->closing, NULL);
	if (start(s, e) == 0) {
		listen_notify("READY=1");
		watch_run(&s->watch, &s->slots.used, sweep, s);
		log_event(LOG_INFO, "stopping", LOG_INT("connections", s->slots.used));
		rc = 0;
	}
	stop(s);
	/* A worker that is stuck in a call still uses all this. */
	if (s->workers)
		return rc < 0 ? rc : SERVER_STUCK;
	watch_done(&s->watch);
	slots_done(&s->slots);
	fd_closep(&s->epoll);
	fd_closep(&s->stop);
	(void)pthread_mutex_destroy(&s->closing);
	mem_free(s);
	return rc;
}
