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
#include "changes/caller.h"
#include "changes/recording.h"
#include "sandbox/supervisor.h"

/* Its fields are for this module alone. */
struct observer {
	struct recording *recording;
	struct caller caller;
};

/* The recording belongs to the supervisor's thread from its start to its end. */
int observer_init(struct observer *o, struct recording *r, struct err *e);
void observer_done(struct observer *o);

/* The judge, which must not outlive the observer. */
struct judge observer_judge(struct observer *o);

#endif
