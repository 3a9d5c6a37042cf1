/* SPDX-License-Identifier: MIT */
/*
 * supervisor: looks at each system call that a listener stops (listener.h), and answers it.
 *
 * Theory of operation
 *
 * A command has one supervisor: a thread of the server that serves the listener as long as a
 * process of the command is left. For each call it asks judges, one after the other, in the order
 * in which they were given. The first that does not pass decides: it refuses the call, or it has
 * performed it in the caller's place. A call that all of them pass goes on, and the kernel reads
 * its arguments again; so what must hold is refused or performed, and never passed. Judges that
 * only want to know what happens, such as the observer of changes, always pass.
 *
 *	call stops ─► stopped_receive ─► resolver_begin ─► broker ─► observer ─► gitwriter ─► …
 *	                                      ▲              │ asks for the intent, and for places
 *	                                      └──────────────┘ and files: found out once, if at all
 *	call returns ◄─ stopped_answer / stopped_go_on ◄─ resolver_end
 *
 * All judges of a command run in its one thread, so they need no lock against each other. A judge
 * that waits makes the command wait, and other calls of it as well: what may take long (a connect)
 * it keeps, and answers later from another thread. Judges read memory and paths of hostile
 * processes. A path is followed by the resolver alone (resolver.h), by descriptors, and never
 * trusted twice; what was read counts only if the call still waits afterwards.
 *
 * Who holds what
 *
 *	the filter	the command's processes inherit it, and cannot take it off
 *	the listener	the reaper, which has installed it; and the supervisor, to which it was sent.
 *			No process of the command has it. Connectors of a broker use the
 *			supervisor's, and are joined in `ended`, before it is closed
 *	the stop	an eventfd: supervisor_stop writes, the thread polls it beside the listener
 *	the resolver	the caller's directory in /proc and RESOLVER_DIRS directories, until the
 *			thread ends; the caller's root, for one call
 *	the home	the judge that gives it, longer than the thread
 *
 * What happens when one dies
 *
 *	the caller	is killed while its call waits: the answer goes nowhere, and asking whether
 *			the call waits says no. Its number may be another process's by then
 *	the command	when the last process has ended the listener hangs up, or supervisor_stop
 *			says so before: the thread calls `ended` and closes the listener
 *	the reaper	the supervisor goes on, until the spawner has killed what the reaper left
 *	the thread	cannot be started: the server tells the reaper, which answers from then on
 *			with supervisor_let_go; so it does if the command is not watched at all
 *	the server	the reaper sees that its lifeline is gone, answers with supervisor_let_go,
 *			and ends the command. Calls that the supervisor had received and not
 *			answered wait until then, and are killed with their processes
 *	both		the kernel fails calls that would stop with ENOSYS: nothing happens unseen
 *
 *	const struct judge judges[] = { observer_judge(&o), floor_judge(denials) };
 *	const struct supervision how = { judges, 2, ended, &what };
 *	supervisor_start(listener, &how, &s, e);
 *	…						the command runs
 *	supervisor_stop(s);				everything of it has ended
 */
#ifndef SUPERVISE_SUPERVISOR_H
#define SUPERVISE_SUPERVISOR_H

#include <stddef.h>

#include "base/err.h"
#include "supervise/stopped.h"

struct resolver;
struct resolver_home;

/* What a judge says of a call: 0, it has performed it, and the call returns 0; an errno value, the
 * call is refused with it; or one of these. */
enum judgement {
	JUDGE_PASSES = -1, /* the next judge is asked; after the last one the call goes on */
	JUDGE_KEEPS = -2,  /* this judge will answer, with stopped_answer */
};

struct judge {
	/* The resolver (supervise/resolver.h) knows the call, and which files it means. */
	int (*look)(void *arg, struct resolver *r);
	void *arg;
	const struct resolver_home *home; /* from which directories are opened for all judges; NULL
					   * for all but one of them */
};

enum { SUPERVISOR_JUDGES = 8 };

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

/* Answer one call that waits at a listener (for these calls, enum listener_calls) which no
 * supervisor serves any more. Does not wait. A call that must be answered by a judge is refused;
 * every other one goes on. */
void supervisor_let_go(int listener, unsigned calls);

#endif
