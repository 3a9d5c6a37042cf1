/* SPDX-License-Identifier: MIT */
/*
 * proxy: carries a browser's requests to a sidecar.
 *
 * A browser can connect to a loopback port and to nothing else, and so can every page that it shows
 * and every user of this machine. So a request is carried only if
 *
 *	its Host is this port (a name that another site has made to point here is not),
 *	its Origin, if it has one, is this port,
 *	it is for a route of those who watch (registry_shows), and
 *	it has the secret as its bearer token; except for /ui, the page, which has no data.
 *
 * It is written anew, with the token that the sidecar wants, and has a connection of its own to the
 * sidecar. What comes back is carried as it is. Each connection has a thread; a client that does
 * not read stops only its own.
 */
#ifndef WATCH_PROXY_H
#define WATCH_PROXY_H

#include <stdatomic.h>

#include "watch/subject.h"

enum { PROXY_SECRET = 64 }; /* characters: 256 random bits */

struct proxy {
	struct subject target;
	int64_t port; /* that browsers connect to */
	char secret[PROXY_SECRET + 1];
	_Atomic int count; /* connections */
};

/* Set the secret. */
void proxy_init(struct proxy *p, const struct subject *t, int64_t port);

/* Serve a connection, in a thread of its own. The descriptor is the proxy's; *p must outlive the
 * process. If there are too many the client is told so. */
void proxy_take(struct proxy *p, int fd);

#endif
