/* SPDX-License-Identifier: MIT */
/*
 * observer: sees what a command is about to change, before it happens.
 *
 * It is a judge of the command's supervisor (supervise/supervisor.h): it touches the files that
 * a stopped call means (supervise/resolver.h) in the recording. It never answers, so the call goes on, and
 * it never learns how the call ended.
 *
 * The observer is a witness and not a wall: a command that exchanges its arguments while it looks
 * can hide a change from the receipt. It gains nothing else by that.
 */
#ifndef CHANGES_OBSERVER_H
#define CHANGES_OBSERVER_H

#include "base/err.h"
#include "changes/recording.h"
#include "supervise/resolver.h"
#include "supervise/supervisor.h"

/* Its fields are for this module alone. */
struct observer {
	struct recording *recording;
	struct resolver_home home; /* the workspace */
	bool has_git;		   /* there are git directories outside it */
};

/* The recording belongs to the supervisor's thread from its start to its end. */
int observer_init(struct observer *o, struct recording *r, struct err *e);
void observer_done(struct observer *o);

/* The judge, which must not outlive the observer. It comes before others that ask for places: it
 * wants to see each link that is followed. */
struct judge observer_judge(struct observer *o);

#endif
