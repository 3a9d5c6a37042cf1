/* SPDX-License-Identifier: MIT */
/*
 * watched: a command whose system calls are looked at while it runs, so that its changes are
 * recorded, what its sandbox refuses is named, and connections are made for it.
 *
 *	struct watched *w = watched_new(c, &q);
 *	… run q …
 *	watched_leave(w, c);
 *
 * The recording belongs to the command and not to the call: it ends when the last process has
 * ended, which may be long after the answer. If that is before the end of the call, the call gets
 * the change (call->made). Otherwise the change is open until then, and call_news is told.
 *
 * What was refused is in call->denied when the call leaves.
 *
 * If a command cannot be watched it runs all the same, and nothing is known of its changes; in a
 * sandbox whose connections are brokered it gets none (supervise/broker.h).
 */
#ifndef TOOLS_WATCHED_H
#define TOOLS_WATCHED_H

#include "exec/proc.h"
#include "tools/tool.h"

/* The denials of a command that has ended, or was left running. */
struct denied {
	size_t count;  /* how many there were */
	size_t listed; /* how many of these are in the list */
	struct denied_item {
		const char *operation, *by;
		struct str path, rule, sentence;
		bool usual; /* programs go on without it: a model's text does not have it */
	} * items;
};

/* Of the members of the array "denied" of an observation. */
extern const struct field denied_fields[];

struct watched;

/* Have the command of the request watched. NULL if it is not to be, or there is no memory. */
struct watched *watched_new(struct call *c, struct proc_request *q);

/* The command was started in the background, or has ended, or could not be started. Releases w,
 * which may be NULL. */
void watched_leave(struct watched *w, struct call *c);

/* Why nothing is known of what commands of the call change, although it was to be; NULL: that is
 * known, or was not asked for. *is_new: the session, which is told of it, has not heard it yet. */
const char *watched_not(const struct call *c, bool *is_new);

#endif
