/* SPDX-License-Identifier: MIT */
/* broker: threads that wait for a connect, perform it and answer. */

#include "sandbox/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "base/thread.h"
#include "sandbox/connecting.h"
#include "sandbox/limits.h"
#include "sandbox/stopped.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* One thread that makes connections. */
struct connector {
	struct broker *broker;
	pthread_t thread;
	pthread_cond_t given;
	bool started;
	bool busy; /* `call` is under way */
	struct stopped_call call;
	timer_t timer; /* interrupts the thread while it connects */
};

struct broker {
	struct denials *denials;
	pthread_mutex_t lock; /* protects the rest */
	bool ending;
	struct connector connectors[LIMIT_CONNECTORS];
};

/* The signal that interrupts a connect of this process: one that the program does not use. It is
 * sent to threads of brokers alone, and its handler does nothing. */
static int interruption;

static void on_interruption(int signal)
{
	(void)signal;
}

static void choose_interruption(void)
{
	/* Without SA_RESTART: the call ends with EINTR. */
	const struct sigaction action = { .sa_handler = on_interruption };
	struct sigaction old;

	for (int n = SIGRTMAX - 1; n > SIGRTMIN && !interruption; n--)
		if (sigaction(n, NULL, &old) == 0 && old.sa_handler == SIG_DFL &&
		    sigaction(n, &action, NULL) == 0)
			interruption = n;
}

static bool has_interruption(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, choose_interruption);
	return interruption != 0;
}

bool broker_is_possible(const char **why)
{
	char self[PATH_MAX];

	*why = "no signal is free";
	if (!has_interruption())
		return false;
	*why = "there is no /proc";
	if (readlink("/proc/self/exe", self, sizeof self) < 0)
		return false;
	*why = "openat2 is refused";
	if (syscall(SYS_openat2, -1, NULL, NULL, (size_t)0) == 0 || errno == ENOSYS ||
	    errno == EPERM)
		return false;
	*why = "";
	return true;
}

struct broker *broker_new(struct denials *d)
{
	struct broker *k = has_interruption() ? mem_new(1, sizeof *k) : NULL;

	if (!k)
		return NULL;
	k->denials = d;
	(void)pthread_mutex_init(&k->lock, NULL);
	return k;
}

static void interrupt(void *arg, bool on)
{
	const struct connector *c = arg;
	const struct timespec each = { .tv_nsec = on ? LIMIT_CONNECTOR_LOOK_MS * 1000000L : 0 };
	const struct itimerspec times = { each, each };

	(void)timer_settime(c->timer, 0, &times, NULL);
}

/* Interrupted: is the connection still wanted? */
static bool is_wanted(void *arg)
{
	struct connector *c = arg;

	(void)pthread_mutex_lock(&c->broker->lock);
	const bool ending = c->broker->ending;
	(void)pthread_mutex_unlock(&c->broker->lock);
	return !ending && supervisor_is_waiting(&c->call) && !stopped_is_signalled(&c->call);
}

static bool prepare(struct connector *c)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = interruption };
	sigset_t all;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	(void)sigfillset(&all);
	(void)sigdelset(&all, interruption);
	(void)pthread_sigmask(SIG_SETMASK, &all, NULL);
	return timer_create(CLOCK_MONOTONIC, &event, &c->timer) == 0;
}

static void *make_connections(void *arg)
{
	struct connector *c = arg;
	struct broker *k = c->broker;
	const struct connecting wanted = { k->denials, interrupt, is_wanted, c };
	const bool ready = prepare(c);

	(void)pthread_mutex_lock(&k->lock);
	while (c->busy || !k->ending) {
		if (!c->busy) {
			(void)pthread_cond_wait(&c->given, &k->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&k->lock);
		supervisor_answer(&c->call, 0, ready ? connecting_make(&wanted, &c->call) : EACCES);
		(void)pthread_mutex_lock(&k->lock);
		c->busy = false;
	}
	(void)pthread_mutex_unlock(&k->lock);
	if (ready)
		(void)timer_delete(c->timer);
	return NULL;
}

/* Give the call to a thread that waits, or to a new one. */
static bool give(struct broker *k, const struct stopped_call *s)
{
	struct connector *c = k->connectors;

	while (c < k->connectors + LIMIT_CONNECTORS && c->started && c->busy)
		c++;
	if (c == k->connectors + LIMIT_CONNECTORS)
		return false;
	c->call = *s;
	c->busy = true;
	if (c->started) {
		(void)pthread_cond_signal(&c->given);
		return true;
	}
	c->broker = k;
	(void)pthread_cond_init(&c->given, NULL);
	c->started = thread_start(make_connections, c, LIMIT_CONNECTOR_STACK, &c->thread);
	if (c->started)
		return true;
	(void)pthread_cond_destroy(&c->given);
	c->busy = false;
	return false;
}

/* The kind of socket is in the call itself: nothing can be exchanged. */
static void refuse_socket(const struct broker *k, const struct stopped_call *s)
{
	const struct denial d = { .verb = INTENT_SOCKET,
				  .by = DENIED_BY_SECCOMP,
				  .path = "a datagram Unix socket" };

	denials_add(k->denials, &d);
	supervisor_answer(s, 0, EACCES);
}

static enum judgement judge(void *arg, const struct stopped_call *s)
{
	struct broker *k = arg;

	switch (s->number) {
	case SYS_socket:
	case SYS_socketpair:
		refuse_socket(k, s);
		return JUDGE_ANSWERS;
	case SYS_sendto:
		/* There is no network, so it need not be held; only the address is noted. */
		connecting_note_send(k->denials, s);
		supervisor_go_on(s);
		return JUDGE_ANSWERS;
	case SYS_connect:
		break;
	default:
		return JUDGE_PASSES;
	}
	(void)pthread_mutex_lock(&k->lock);
	const bool given = give(k, s);
	(void)pthread_mutex_unlock(&k->lock);
	if (!given)
		supervisor_answer(s, 0, EAGAIN);
	return JUDGE_ANSWERS;
}

struct judge broker_judge(struct broker *k)
{
	return (struct judge){ judge, k };
}

void broker_free(struct broker *k)
{
	if (!k)
		return;
	(void)pthread_mutex_lock(&k->lock);
	k->ending = true;
	for (size_t i = 0; i < LIMIT_CONNECTORS && k->connectors[i].started; i++) {
		(void)pthread_cond_signal(&k->connectors[i].given);
		(void)pthread_kill(k->connectors[i].thread, interruption);
	}
	(void)pthread_mutex_unlock(&k->lock);
	for (size_t i = 0; i < LIMIT_CONNECTORS && k->connectors[i].started; i++) {
		(void)pthread_join(k->connectors[i].thread, NULL);
		(void)pthread_cond_destroy(&k->connectors[i].given);
	}
	(void)pthread_mutex_destroy(&k->lock);
	mem_free(k);
}
