/* SPDX-License-Identifier: MIT */
/*
 * observer: sees what a command is about to change, before it happens.
 *
 * The command runs under a seccomp filter that stops every system call which can change a file
 * (observer_filter), until this process has looked at it. A thread receives these calls through the
 * listener, finds out which file is meant, touches it in the recording, and lets the call go on. It
 * never answers with anything but "go on", and never learns how the call ended.
 *
 * The observer is a witness and not a wall: a command that exchanges its arguments while it looks
 * can hide a change from the receipt. It gains nothing else by that.
 */
#ifndef CHANGES_OBSERVER_H
#define CHANGES_OBSERVER_H

#include <stdbool.h>

#include "base/err.h"
#include "changes/recording.h"

struct observer;

/* Watch through the listener, which becomes the observer's, with a thread of its own. The recording
 * belongs to that thread until observer_end. */
int observer_start(int listener, struct recording *r, struct observer **ret, struct err *e);

/* The command and everything it left is gone: wait for the thread, and give the recording back.
 * Whatever still calls is let go on. */
void observer_end(struct observer *o);

#endif
