/* SPDX-License-Identifier: MIT */
/* supervisor: receive a call, ask the judges, answer. */

#include "sandbox/supervisor.h"

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
#include "sandbox/limits.h"
#include "sandbox/listener.h"

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

bool supervisor_is_waiting(const struct stopped_call *call)
{
	int bad;

	do
		bad = ioctl(call->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id);
	while (bad && errno == EINTR);
	return bad == 0;
}

static void answer(int listener, const struct seccomp_notif_resp *r)
{
	/* It fails only if the call does not wait any more, or a signal was in the way. */
	while (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, r) < 0 && errno == EINTR)
		;
}

void supervisor_answer(const struct stopped_call *call, int64_t value, int error)
{
	answer(call->listener, &(struct seccomp_notif_resp){
				       .id = call->id,
				       .val = error ? 0 : value,
				       .error = -error,
			       });
}

void supervisor_go_on(const struct stopped_call *call)
{
	answer(call->listener, &(struct seccomp_notif_resp){
				       .id = call->id,
				       .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
			       });
}

bool supervisor_receive(int listener, struct stopped_call *ret)
{
	struct seccomp_notif n = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return false;
	*ret = (struct stopped_call){
		.listener = listener,
		.id = n.id,
		.pid = (pid_t)n.pid,
		.number = n.data.nr,
	};
	for (size_t i = 0; i < ARRAY_LEN(ret->args); i++)
		ret->args[i] = n.data.args[i];
	return true;
}

void supervisor_let_go(int listener, unsigned calls)
{
	struct stopped_call call;

	if (!supervisor_receive(listener, &call))
		return;
	if (listener_may_go_on(calls, call.number, call.args))
		supervisor_go_on(&call);
	else
		supervisor_answer(&call, 0, EACCES);
}

static void judge(const struct supervisor *s, const struct stopped_call *call)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->judges[i].look(s->judges[i].arg, call) == JUDGE_ANSWERS)
			return;
	supervisor_go_on(call);
}

static void *serve(void *arg)
{
	struct supervisor *s = arg;
	struct pollfd p[] = { { .fd = s->listener, .events = POLLIN },
			      { .fd = s->stop, .events = POLLIN } };
	struct stopped_call call;

	for (;;) {
		if (poll(p, ARRAY_LEN(p), -1) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (p[0].revents & POLLIN) {
			if (supervisor_receive(s->listener, &call))
				judge(s, &call);
		} else if (p[0].revents || p[1].revents) {
			break; /* the last process has ended */
		}
	}
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
