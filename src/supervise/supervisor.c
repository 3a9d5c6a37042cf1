/* SPDX-License-Identifier: MIT */
/* supervisor: receive a call, ask the judges, answer. */

#include "supervise/supervisor.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/own.h"
#include "base/thread.h"
#include "supervise/limits.h"
#include "supervise/listener.h"
#include "supervise/resolver.h"
#include "supervise/stopped.h"

/* Newer than many headers. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS	   SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* Shared by the thread and the one who started it; the last of them frees it. */
struct supervisor {
	int listener, stop;
	struct judge judges[SUPERVISOR_JUDGES];
	size_t count;
	void (*ended)(void *arg);
	void *arg;
	atomic_int users;
};

static void release(struct supervisor *s)
{
	if (atomic_fetch_sub(&s->users, 1) > 1)
		return;
	fd_closep(&s->listener);
	fd_closep(&s->stop);
	mem_free(s);
}

void supervisor_let_go(int listener, unsigned calls)
{
	struct stopped_call call;

	if (!stopped_receive(listener, &call))
		return;
	if (listener_may_go_on(calls, call.number, call.args))
		stopped_go_on(&call);
	else
		stopped_answer(&call, 0, EACCES);
}

static const struct resolver_home *home_of(const struct supervisor *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->judges[i].home)
			return s->judges[i].home;
	return NULL;
}

static int judge(const struct supervisor *s, struct resolver *r)
{
	int j = JUDGE_PASSES;

	for (size_t i = 0; i < s->count && j == JUDGE_PASSES; i++)
		j = s->judges[i].look(s->judges[i].arg, r);
	return j;
}

static void answer(const struct supervisor *s, struct resolver *r)
{
	struct stopped_call call;

	if (!stopped_receive(s->listener, &call))
		return;
	resolver_begin(r, &call);
	const int j = judge(s, r);
	resolver_end(r);
	if (j == JUDGE_PASSES)
		stopped_go_on(&call);
	else if (j != JUDGE_KEEPS)
		stopped_answer(&call, 0, j);
}

static void *serve(void *arg)
{
	struct supervisor *s = arg;
	struct pollfd p[] = { { .fd = s->listener, .events = POLLIN },
			      { .fd = s->stop, .events = POLLIN } };
	struct resolver r UNINITIALISED;

	resolver_init(&r, home_of(s));
	for (;;) {
		if (poll(p, ARRAY_LEN(p), -1) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (p[0].revents & POLLIN)
			answer(s, &r);
		else if (p[0].revents || p[1].revents)
			break; /* the last process has ended */
	}
	resolver_done(&r);
	s->ended(s->arg);
	release(s);
	return NULL;
}

int supervisor_start(int listener, const struct supervision *how, struct supervisor **ret,
		     struct err *e)
{
	struct supervisor *s = mem_new(1, sizeof *s);

	if (!s) {
		(void)close(listener);
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to supervise the command");
	}
	s->listener = listener;
	s->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->count = how->count < SUPERVISOR_JUDGES ? how->count : SUPERVISOR_JUDGES;
	memcpy(s->judges, how->judges, s->count * sizeof *s->judges);
	s->ended = how->ended;
	s->arg = how->arg;
	atomic_init(&s->users, 2);
	/* The call then waits a fifth of the time. Before Linux 6.6 there is no such thing. */
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	if (s->stop < 0 || !thread_start(serve, s, LIMIT_JUDGE_STACK, NULL)) {
		atomic_store(&s->users, 1);
		release(s);
		return err_set(e, ERR_TOO_BUSY, "No thread can be made to supervise the command");
	}
	*ret = s;
	return 0;
}

void supervisor_stop(struct supervisor *s)
{
	const uint64_t one = 1;

	(void)!write(s->stop, &one, sizeof one);
	release(s);
}

void supervisor_leave(struct supervisor *s)
{
	release(s);
}
