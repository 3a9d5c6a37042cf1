/* SPDX-License-Identifier: MIT */
/*
 * dial: reach a server, by its Unix socket or by TCP: the other end of listen.
 *
 * One attempt a call. Why it failed is told in words that fit behind "Timed out waiting for …: ",
 * and whether it could be otherwise in a moment: a server may be about to start, but a path that
 * is no socket will not become one.
 */
#ifndef NET_DIAL_H
#define NET_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"

enum { DIAL_PATH_SIZE = 108 }; /* of a Unix socket, with its NUL byte */

struct dial_target {
	const char *path; /* a Unix socket, shorter than DIAL_PATH_SIZE; or NULL: … */
	const char *host; /* … a name or an address */
	int port;
};

/*
 * Connect. Returns the descriptor, blocking and close-on-exec; or -1 with NOT_READY, or CANCELLED
 * when the cancel (or NULL) was asked. *later tells whether to try again. When there is nothing
 * at all at the path the sentence is empty. The time that looking up a name takes is the
 * resolver's and not bounded here.
 */
int dial(const struct dial_target *target, struct cancel *cancel, int64_t deadline_ms, bool *later,
	 struct err *e);

#endif
