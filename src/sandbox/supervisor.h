/* SPDX-License-Identifier: MIT */
/*
 * supervisor: looks at each system call that a listener stops (listener.h), and answers it.
 *
 * A command has one supervisor: a thread of the server that serves the listener as long as a
 * process of the command is left. Judges look at a stopped call, one after the other, in the order
 * in which they were given. The first one that answers decides; a call that none of them answers
 * goes on. A judge that only wants to know what happens, such as the observer of changes, never
 * answers.
 *
 *	const struct judge judges[] = { { look, &what } };
 *	const struct supervision how = { judges, 1, ended, &what };
 *	supervisor_start(listener, &how, &s, e);
 *	…						the command runs
 *	supervisor_stop(s);				everything of it has ended
 *
 * All judges of a command run in its one thread, so they need no lock against each other. A judge
 * that waits makes the command wait, and other calls of it as well: what may take long (a connect)
 * is answered later, by another thread. Judges read memory and paths of hostile processes: a path
 * is followed only by descriptors and never trusted twice, and what was read counts only if the
 * call still waits afterwards (supervisor_is_waiting).
 *
 * If this process dies the command's reaper, which has a duplicate of the listener, answers with
 * supervisor_let_go.
 */
#ifndef SANDBOX_SUPERVISOR_H
#define SANDBOX_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* A system call that waits. May be copied, to be answered later; not after supervisor_stop. */
struct stopped_call {
	int listener;
	uint64_t id;
	pid_t pid;  /* the thread that makes it, as this process sees it */
	int number; /* SYS_… */
	uint64_t args[6];
};

enum judgement {
	JUDGE_PASSES,  /* the next judge is asked; after the last one the call goes on */
	JUDGE_ANSWERS, /* this judge has answered it, or will */
};

struct judge {
	enum judgement (*look)(void *arg, const struct stopped_call *call);
	void *arg;
};

enum { SUPERVISOR_JUDGES = 4 };

struct supervision {
	const struct judge *judges; /* copied */
	size_t count;		    /* at most SUPERVISOR_JUDGES */
	/* No call will be looked at any more; called once, by the thread, as its last act. */
	void (*ended)(void *arg);
	void *arg;
};

struct supervisor;

/* Serve the listener, which becomes the supervisor's, in a thread of its own. -1 with TOO_BUSY:
 * the listener is closed, `ended` is not called, and the reaper has to be told that it shall let
 * the calls go. */
int supervisor_start(int listener, const struct supervision *how, struct supervisor **ret,
		     struct err *e);

/* Everything of the command has ended: the thread need not wait until the kernel says so. Returns
 * at once, and releases s. */
void supervisor_stop(struct supervisor *s);

/* Release s without that: the thread goes on until the last process has ended. */
void supervisor_leave(struct supervisor *s);

/* Take the next call of a listener that no supervisor serves. False if there is none: its process
 * was killed before. */
bool supervisor_receive(int listener, struct stopped_call *ret);

/* Whether the call still waits. If not, its process is gone, and its number may be another's. */
bool supervisor_is_waiting(const struct stopped_call *call);

/* Answer a call: it returns the value, or fails with that error (an errno value) if it is not 0. */
void supervisor_answer(const struct stopped_call *call, int64_t value, int error);

/* Let the call go on. It is made with the arguments that it has now, which may have been changed.
 */
void supervisor_go_on(const struct stopped_call *call);

/* Answer one call that waits at a listener (for these calls, enum listener_calls) which no
 * supervisor serves any more. Does not wait. A call that must be answered by a judge is refused;
 * every other one goes on. */
void supervisor_let_go(int listener, unsigned calls);

#endif
