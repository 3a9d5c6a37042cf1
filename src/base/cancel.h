/* SPDX-License-Identifier: MIT */
/*
 * cancel: the one way to tell work that its result is no longer wanted.
 *
 * One side asks: the client left, sent a cancellation, or the server stops. The other side looks
 * now and then (cancel_asked) or waits (cancel_fd). Asking cannot be taken back, and asking twice
 * is the same as asking once.
 *
 *	struct cancel c = CANCEL_INIT;
 *	… hand &c to the work, and to those who may ask …
 *	cancel_done(&c);
 *
 * The descriptor is made when work first waits, so work that only looks costs no system call.
 * When the owner calls cancel_done or cancel_reset, no other thread may ask any more: the owner
 * first takes the object out of their reach. Work that gets NULL instead of a cancel cannot be
 * cancelled.
 */
#ifndef BASE_CANCEL_H
#define BASE_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct cancel {
	atomic_bool asked;
	atomic_bool by_person; /* who watches, and wants it to end; the caller still waits */
	_Atomic int fd;	       /* readable forever once asked; -1: not made yet */
};

#define CANCEL_INIT                                                                                \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Ask. Safe in any thread and in a signal handler. */
void cancel_ask(struct cancel *c);

/* Ask because a person wants it, and not who called: the answer says so. */
void cancel_ask_by_person(struct cancel *c);

/* Whether a person asked. */
static inline bool cancel_by_person(const struct cancel *c)
{
	return c && atomic_load_explicit(&c->by_person, memory_order_relaxed);
}

/* A sentence for the answer of a call that was asked to end. */
static inline const char *cancel_sentence(const struct cancel *c)
{
	return cancel_by_person(c) ? "The call was stopped by a person" : "The call was cancelled";
}

/* Whether it was asked. Costs one load. */
static inline bool cancel_asked(const struct cancel *c)
{
	return c && atomic_load_explicit(&c->asked, memory_order_relaxed);
}

/* The descriptor to poll for reading; the object keeps it. -1 for NULL, and with errno when no
 * descriptor can be had. Only the thread that does the work calls this. */
int cancel_fd(struct cancel *c);

/* Make it ready for other work. */
void cancel_reset(struct cancel *c);

/* Close the descriptor. */
void cancel_done(struct cancel *c);

#endif
