/* SPDX-License-Identifier: MIT */
/*
 * dial: connect to a server, by its Unix socket or by TCP: the other end of listen.
 *
 * A call makes one attempt. A failure's sentence is written to follow "Timed out waiting for …: ".
 * The caller also learns whether another attempt makes sense: a server may be about to start, but a
 * path that is not a socket will not become one.
 */
#ifndef NET_DIAL_H
#define NET_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"

enum { DIAL_PATH_SIZE = 108 }; /* of a Unix socket, with its NUL byte */

struct dial_target {
	const char *path; /* a Unix socket, shorter than DIAL_PATH_SIZE; NULL: use TCP */
	const char *host; /* a name or an address */
	int port;
};

/* What a failure means for another attempt. */
enum dial_failure {
	DIAL_REFUSED, /* it may succeed later */
	DIAL_ABSENT,  /* no server listens there; one may be about to start */
	DIAL_NEVER,   /* there is no use in trying again */
};

/*
 * Connect. Returns the descriptor, blocking and close-on-exec; or -1 with NOT_READY, or CANCELLED
 * when the cancel (or NULL) was asked, and *failure. If nothing exists at the path, the sentence is
 * empty. The resolver decides how long looking up a name takes: the deadline does not bound it.
 */
int dial(const struct dial_target *target, struct cancel *cancel, int64_t deadline_ms,
	 enum dial_failure *failure, struct err *e);

#endif
