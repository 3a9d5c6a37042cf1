/* SPDX-License-Identifier: MIT */
/*
 * observer: sees what a command is about to change, before it happens.
 *
 * It is a judge of the command's supervisor (sandbox/supervisor.h): it finds out which file a
 * stopped call means, and touches it in the recording. It never answers, so the call goes on, and
 * it never learns how the call ended.
 *
 * The observer is a witness and not a wall: a command that exchanges its arguments while it looks
 * can hide a change from the receipt. It gains nothing else by that.
 */
#ifndef CHANGES_OBSERVER_H
#define CHANGES_OBSERVER_H

#include "base/err.h"
#include "changes/recording.h"
#include "changes/touches.h"
#include "sandbox/intent.h"

/* A directory by the text with which a caller named it. */
struct seen_dir {
	char *text; /* NULL: the place is free */
	size_t n;
	struct touched_dir *dir; /* in the workspace; or NULL, and it lies outside: */
	int outside;		 /* O_PATH, or -1 */
};

enum { OBSERVER_DIRS = 8 };

/* Its fields are for this module alone. */
struct observer {
	struct recording *recording;
	int proc;	 /* the caller's directory in /proc, O_PATH; or -1 */
	pid_t proc_of;	 /* whose it is */
	int root;	 /* of the workspace, O_PATH */
	struct str path; /* its path, the same for the caller */
	/* The directories that were named last: most calls are about the same few. Forgotten when
	 * a directory may have been moved or replaced. */
	struct seen_dir seen[OBSERVER_DIRS];
	size_t next;
	struct judge outside; /* looks at calls about what lies outside; or has no function */
	bool is_outside;      /* this call is one */
};

/* The recording belongs to the supervisor's thread from its start to its end. */
int observer_init(struct observer *o, struct recording *r, struct err *e);
void observer_done(struct observer *o);

/* Have this judge look at calls about a path that is not in the workspace, too. */
void observer_pass_on(struct observer *o, struct judge outside);

/* The judge, which must not outlive the observer. */
struct judge observer_judge(struct observer *o);

#endif
