/* SPDX-License-Identifier: MIT */
/* workers: accept connections, and carry requests. */

#include "api/workers.h"

#include <errno.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/limits.h"
#include "api/routes.h"
#include "base/io.h"
#include "base/log.h"
#include "base/own.h"
#include "base/thread.h"

enum {
	KEEP_ANSWER = 96 << 10, /* a worker keeps its answer buffer up to this size */
	STACK = 512 << 10,	/* of a worker: paths and read chunks live there */
	NO_FILES_MS = 20,	/* pause when no descriptor is left for a new connection */
};

/* Events of the set that are not connections. */
static const uint64_t KEY_LISTENER = UINT64_MAX - 64;
static const uint64_t KEY_LEAVE = UINT64_MAX;

/* What a worker uses again for each request. */
struct worker {
	struct arena arena;
	struct buf out;
	struct http_request request;
};

/* A call that may take long. */
struct long_call {
	struct workers *workers;
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

static bool uid_allowed(const struct workers_options *o, uid_t uid)
{
	for (size_t i = 0; i < o->uid_count; i++)
		if (o->uids[i] == uid)
			return true;
	return o->uid_count == 0;
}

static const char too_many[] = "Too many connections, try again later";

/* There is no slot left, not even to be refused: whether the client gets this answer depends on
 * whether it has sent anything by now. */
static void turn_away(struct workers *w, int fd)
{
	struct http h;

	http_init(&h, fd, &w->budget);
	refuse(&h, 503, too_many);
	http_done(&h);
}

/* Take the next connection of a listener. The slot is the caller's; NULL if there was none. One
 * whose user may not connect gets that answer, and so does a command of any sidecar: its socket has
 * a name (supervise/broker.h). */
static struct slot *accept_slot(struct workers *w, const struct listener *l)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	struct sockaddr name;
	socklen_t size = sizeof peer, name_size = sizeof name;
	const int fd = accept4(l->fd, &name, &name_size, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		/* The listener stays readable: without a pause this would spin. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			io_sleep_ms(NO_FILES_MS);
		return NULL;
	}
	if (!l->tcp)
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	struct slot *c = slots_take(&w->slots, l->tcp);
	if (!c) {
		turn_away(w, fd);
		return NULL;
	}
	c->uid = peer.uid;
	c->pid = peer.pid;
	http_init(&c->http, fd, &w->budget);
	if (c->over) {
		refuse(&c->http, 503, too_many);
	} else if (!l->tcp && !uid_allowed(w->o, peer.uid)) {
		log_event(LOG_WARN, "connection refused: uid not allowed", LOG_INT("uid", peer.uid),
			  LOG_INT("pid", peer.pid));
		refuse(&c->http, 403, "Forbidden: this user may not connect");
	} else if (!l->tcp && (name_size > sizeof name.sa_family ||
			       (w->o->refuses && w->o->refuses(peer.pid)))) {
		log_event(LOG_WARN, "connection refused: a command may not connect",
			  LOG_INT("pid", peer.pid));
		refuse(&c->http, 403, "Forbidden: a command may not connect");
	}
	return c;
}

static bool add_worker(struct workers *w);

/* How many workers are enough for quick calls, unless they are stuck. */
static int quick_workers(const struct workers *w)
{
	const int most = (int)w->o->front->service->turns.most;

	return most > LIMIT_WORKERS_MIN ? most : LIMIT_WORKERS_MIN;
}

static void close_slot(struct workers *w, struct slot *c)
{
	(void)pthread_mutex_lock(&w->closing);
	fd_closep(&c->http.fd);
	(void)pthread_mutex_unlock(&w->closing);
	http_done(&c->http);
	slots_give(&w->slots, c);
}

/* Wait in the epoll set until there is something to take in, or (for_out, once an answer is
 * waiting) until the client takes more. Returns -1 if the connection cannot be watched. */
static int watch_slot(struct workers *w, struct slot *c, bool for_out)
{
	struct epoll_event ev = {
		.events = EPOLLET | EPOLLRDHUP | (for_out ? EPOLLOUT : EPOLLIN),
		.data.u64 = slots_key(&w->slots, c),
	};

	/* The set is edge-triggered, but reports what is already there when the interest changes.
	 */
	if (c->watched && c->for_out == for_out)
		return 0;
	const int op = c->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	c->watched = true;
	c->for_out = for_out;
	return epoll_ctl(w->epoll, op, c->http.fd, &ev);
}

/* Another worker must wait for events meanwhile, among them that the client of this call leaves. */
static bool before_slow(void *arg)
{
	struct long_call *slow = arg;

	if (slow->known)
		return true;
	slow->workers->slow++;
	if (slow->workers->waiting == 0 && !add_worker(slow->workers)) {
		slow->workers->slow--;
		return false;
	}
	slow->known = true;
	/* The state is not asked: another thread may begin the answer, to tell of progress. */
	(void)watch_slot(slow->workers, slow->slot, false);
	return true;
}

static void answer(struct workers *w, struct worker *me, struct slot *c)
{
	struct long_call slow = { .workers = w, .slot = c };
	const char *why;
	struct exchange x = {
		.front = w->o->front,
		.outlet = &exchange_over_http,
		.to = &c->http,
		.uid = c->uid,
		.pid = c->pid,
		.arena = &me->arena,
		.out = &me->out,
		.before_slow = before_slow,
		.before_slow_arg = &slow,
		.cancel = &c->cancel,
	};

	if (w->stopping)
		c->http.last = true;
	const int refused = auth_check(&w->o->front->auth, &me->request.head, c->tcp, &why);
	if (refused && !(refused == 401 && routes_need_no_token(w->o->front, &me->request.head))) {
		log_refusal(refused, why);
		live_refused(&w->o->front->service->live, 0, "auth", me->request.head.path, why);
		exchange_error(&x, refused, auth_extra(refused), why, ERR_NONE);
	} else {
		routes_answer(&x, &me->request);
	}
	if (slow.known)
		w->slow--;
	if (cancel_asked(&c->cancel) && !w->stopping && c->http.fd >= 0 &&
	    io_wait(c->http.fd, POLLRDHUP, 0) == 0)
		slots_renew(&w->slots, c);
	arena_reset(&me->arena);
	buf_reset(&me->out, KEEP_ANSWER);
	w->answered++;
}

/* Carry a connection as far as it goes now: until its client must do something, or has left. */
static void carry(struct workers *w, struct worker *me, struct slot *c)
{
	struct http *h = &c->http;
	struct http_refusal why;

	if (h->state == HTTP_OUT)
		http_flush(h);
	while (h->state == HTTP_IDLE || h->state == HTTP_IN) {
		switch (http_receive(h, &me->request, &why)) {
		case HTTP_MORE:
			return;
		case HTTP_REQUEST:
			answer(w, me, c);
			/* All that had come has been taken in: the next event will tell of more. */
			if (h->state == HTTP_IDLE && h->drained && !c->ended)
				return;
			break;
		case HTTP_ANNOUNCED:
			/* A client that may not call must not fill our memory first. */
			why.status = auth_check(&w->o->front->auth, &me->request.head, c->tcp,
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

static void serve(struct workers *w, struct worker *me, struct slot *c)
{
	do {
		carry(w, me, c);
		if (c->http.state == HTTP_CLOSED ||
		    watch_slot(w, c, c->http.state == HTTP_OUT) < 0) {
			close_slot(w, c);
			return;
		}
	} while (!slot_let_go(c));
}

/* There is a connection to look after. Costs nothing while the main thread is awake. */
static void wake_main(struct workers *w)
{
	const uint64_t one = 1;

	if (atomic_exchange(&w->asleep, false))
		(void)!write(w->wake, &one, sizeof one);
}

static void welcome(struct workers *w, struct worker *me, const struct listener *l)
{
	/* Counted before `stopping` is looked at, so that workers_refuse_new can wait for this. */
	w->accepting++;
	struct slot *c = w->stopping ? NULL : accept_slot(w, l);
	w->accepting--;
	if (!c)
		return;
	wake_main(w);
	/* Its first request is probably there already. */
	serve(w, me, c);
}

/* Something has happened on a connection. */
static void look_after(struct workers *w, struct worker *me, const struct epoll_event *ev)
{
	const bool ended = ev->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);

	if (ended)
		slots_hung_up(&w->slots, ev->data.u64, !(ev->events & (EPOLLHUP | EPOLLERR)));
	struct slot *c = slots_claim(&w->slots, ev->data.u64);
	if (!c)
		return;
	if (ended)
		c->ended = true;
	serve(w, me, c);
}

/* Whether a worker may leave, because there are more than `most` for quick calls. Then it is no
 * longer counted. */
static bool may_leave(struct workers *w, int most)
{
	int n = w->count;

	while (n - w->slow > most)
		if (atomic_compare_exchange_weak(&w->count, &n, n - 1))
			return true;
	return false;
}

static void *work(void *arg)
{
	struct workers *w = arg;
	struct worker me = {
		.arena = { .max = LIMIT_CALL_MEMORY },
		.out = { .max = LIMIT_ANSWER },
	};
	struct epoll_event ev;
	bool counted = true, awake = false;
	/* The first workers stay forever: their waits need no timer. */
	const bool stays = w->count <= LIMIT_WORKERS_MIN;

	while (counted) {
		/* Right after an answer the same client often asks again. */
		w->waiting++;
		const int n =
			io_epoll_awake(w->epoll, &ev, awake ? LIMIT_AWAKE_US : 0,
				       stays ? IO_FOREVER : io_now_ms() + LIMIT_WORKER_IDLE_MS);
		w->waiting--;
		awake = n > 0;
		if (n == 0) {
			counted = !may_leave(w, LIMIT_WORKERS_MIN);
			continue;
		}
		if (n < 0 || ev.data.u64 == KEY_LEAVE)
			break;
		if (ev.data.u64 >= KEY_LISTENER)
			welcome(w, &me, &w->o->listeners[ev.data.u64 - KEY_LISTENER]);
		else
			look_after(w, &me, &ev);
		counted = !may_leave(w, w->quick_most);
	}
	arena_done(&me.arena);
	buf_done(&me.out);
	if (counted)
		w->count--;
	return NULL;
}

static bool add_worker(struct workers *w)
{
	if (++w->count <= LIMIT_WORKERS && thread_start(work, w, STACK, NULL))
		return true;
	w->count--;
	return false;
}

/* Close what has waited too long. */
static void close_expired(struct workers *w)
{
	const int64_t now = io_now_ms();
	AUTO_BUF body = { .max = 256 };

	for (uint32_t i = 0; i < w->slots.fresh && w->slots.used; i++) {
		struct slot *c = &w->slots.all[i];
		if (!slot_claim_expired(c, now, w->stopping))
			continue;
		body.n = 0;
		exchange_error_body(&body, "The request was not complete in time", ERR_NONE);
		http_expire(&c->http, buf_str(&body));
		close_slot(w, c);
	}
}

void workers_tick(struct workers *w)
{
	const int64_t answered = w->answered;

	close_expired(w);
	/* All busy with the same requests as a tick ago: the next client should not wait. */
	if (w->waiting == 0 && answered == w->answered_before && !w->stopping && add_worker(w))
		w->quick_most++;
	else if (w->waiting >= LIMIT_WORKERS_MIN)
		w->quick_most = quick_workers(w);
	/* Quiet again after some work: what large requests took goes back to the machine. */
	if (answered == w->answered_before && answered != w->trimmed) {
		w->trimmed = answered;
		(void)malloc_trim(0);
	}
	w->answered_before = answered;
}

static int watch_fd(struct workers *w, int fd, uint64_t key)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = key };

	return epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev);
}

int workers_start(struct workers *w, const struct workers_options *o, struct err *e)
{
	w->o = o;
	w->budget.left = LIMIT_BODIES;
	o->front->connections = &w->budget;
	w->quick_most = quick_workers(w);
	(void)pthread_mutex_init(&w->closing, NULL);
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->leave = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->epoll < 0 || w->leave < 0 || w->wake < 0 || watch_fd(w, w->leave, KEY_LEAVE) < 0)
		return err_errno(e, "Cannot start the server");
	if (slots_init(&w->slots, LIMIT_CONNECTIONS, LIMIT_CONNECTIONS_TCP, LIMIT_REFUSED, e) < 0)
		return -1;
	for (size_t i = 0; i < o->listener_count; i++)
		if (watch_fd(w, o->listeners[i].fd, KEY_LISTENER + i) < 0)
			return err_errno(e, "Cannot wait on the listener");
	for (int i = 0; i < LIMIT_WORKERS_MIN; i++)
		(void)add_worker(w);
	if (w->count == 0)
		return err_set(e, ERR_TOO_BUSY, "Cannot start a thread");
	return 0;
}

void workers_refuse_new(struct workers *w)
{
	w->stopping = true;
	while (w->accepting)
		io_sleep_ms(1);
	for (size_t i = 0; i < w->o->listener_count; i++)
		listener_done(&w->o->listeners[i]);
	close_expired(w);
}

void workers_hang_up(struct workers *w)
{
	(void)pthread_mutex_lock(&w->closing);
	for (uint32_t i = 0; i < w->slots.fresh; i++)
		if (slot_is_busy(&w->slots.all[i]))
			(void)shutdown(w->slots.all[i].http.fd, SHUT_RDWR);
	(void)pthread_mutex_unlock(&w->closing);
}

bool workers_end(struct workers *w)
{
	const uint64_t one = 1;

	close_expired(w);
	(void)!write(w->leave, &one, sizeof one);
	for (int i = 0; i < 200 && w->count; i++)
		io_sleep_ms(5);
	return w->count == 0;
}

void workers_done(struct workers *w)
{
	slots_done(&w->slots);
	fd_closep(&w->epoll);
	fd_closep(&w->leave);
	fd_closep(&w->wake);
	(void)pthread_mutex_destroy(&w->closing);
}
