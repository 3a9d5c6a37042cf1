/* SPDX-License-Identifier: MIT */
/* turns: a count, and a queue of those who wait for it to fall. */

#include "base/turns.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/own.h"

/* Under the lock: take as many as are free, unless others wait for them. */
static unsigned take_free(struct turn *t, unsigned n)
{
	struct turns *all = t->of;
	const unsigned left = all->first || all->taken >= all->most ? 0 : all->most - all->taken;
	const unsigned got = n < left ? n : left;

	all->taken += got;
	t->held += got;
	return got;
}

unsigned turn_more(struct turn *t, unsigned n)
{
	(void)pthread_mutex_lock(&t->of->lock);
	const unsigned got = take_free(t, n);
	(void)pthread_mutex_unlock(&t->of->lock);
	return got;
}

/* Whether another one may wait. */
static int may_wait(const struct turns *all, struct err *e)
{
	if (all->waiting < LIMIT_TURNS_WAITING)
		return 0;
	return err_set(e, ERR_TOO_BUSY, "%d calls wait for a processor already: try again later",
		       LIMIT_TURNS_WAITING);
}

int turn_check(struct turn *t, struct err *e)
{
	(void)pthread_mutex_lock(&t->of->lock);
	const int rc = may_wait(t->of, e);
	(void)pthread_mutex_unlock(&t->of->lock);
	return rc;
}

/* Under the lock: stand at the end of the queue. */
static int enqueue(struct turn *t, struct err *e)
{
	struct turns *all = t->of;

	if (may_wait(all, e) < 0)
		return -1;
	if (all->last)
		all->last->next = t;
	else
		all->first = t;
	all->last = t;
	all->waiting++;
	return 0;
}

/* Under the lock: leave the queue, from any place in it. */
static void leave(struct turn *t)
{
	struct turns *all = t->of;
	struct turn *before = NULL;

	for (struct turn *at = all->first; at != t; at = at->next)
		before = at;
	if (before)
		before->next = t->next;
	else
		all->first = t->next;
	if (all->last == t)
		all->last = before;
	all->waiting--;
}

/* Wait in the queue. */
static int await(struct turn *t, struct cancel *cancel, int64_t deadline_ms, struct err *e)
{
	const int64_t began_ms = io_now_ms();
	const int got = io_wait_or(t->granted, POLLIN, cancel, deadline_ms);

	(void)pthread_mutex_lock(&t->of->lock);
	if (!t->passed)
		leave(t);
	(void)pthread_mutex_unlock(&t->of->lock);
	if (t->passed) /* perhaps just now: the work itself looks at cancel and deadline */
		return 0;
	if (got == IO_CANCELLED)
		return err_set(e, ERR_CANCELLED, "The call was cancelled while it waited");
	if (got < 0)
		return err_errno(e, "Cannot wait for a processor");
	return err_set(e, ERR_TOO_BUSY,
		       "The call waited for a processor for %lld s, behind others: try again later",
		       (long long)(io_now_ms() - began_ms) / 1000);
}

int turn_take(struct turn *t, struct cancel *cancel, int64_t deadline_ms, struct err *e)
{
	struct turns *all = t->of;

	if (turn_more(t, 1))
		return 0;
	AUTO_FD granted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (granted < 0)
		return err_errno(e, "Cannot wait for a processor");
	*t = (struct turn){ .of = all, .granted = granted };
	(void)pthread_mutex_lock(&all->lock);
	const bool at_once = take_free(t, 1);
	const int queued = at_once ? 0 : enqueue(t, e);
	(void)pthread_mutex_unlock(&all->lock);
	return at_once || queued < 0 ? queued : await(t, cancel, deadline_ms, e);
}

void turn_give(struct turn *t)
{
	struct turns *all = t->of;
	const uint64_t one = 1;

	if (!t->held)
		return;
	(void)pthread_mutex_lock(&all->lock);
	for (; t->held; t->held--) {
		struct turn *next = all->first;
		if (!next) {
			all->taken--;
			continue;
		}
		leave(next);
		next->passed = true;
		next->held = 1;
		(void)!write(next->granted, &one, sizeof one);
	}
	(void)pthread_mutex_unlock(&all->lock);
}
