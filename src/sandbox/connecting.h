/* SPDX-License-Identifier: MIT */
/*
 * connecting: one connect of a sandboxed command, from its copied address to its answer
 * (sandbox/broker.h says what is allowed). It may block.
 */
#ifndef SANDBOX_CONNECTING_H
#define SANDBOX_CONNECTING_H

#include "sandbox/denials.h"
#include "sandbox/stopped.h"

struct connecting {
	struct denials *denials;
	/* From now on, or not any more, a signal interrupts what blocks now and then … */
	void (*interrupt)(void *arg, bool on);
	/* … and has done so: is it to go on? */
	bool (*is_wanted)(void *arg);
	void *arg;
};

/* Perform it. Returns 0, or the errno with which the call fails. */
int connecting_make(const struct connecting *c, const struct stopped_call *s);

/* A datagram is about to be sent to an address, where there is no network: name it. */
void connecting_note_send(struct denials *d, const struct stopped_call *s);

#endif
