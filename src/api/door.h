/* SPDX-License-Identifier: MIT */
/*
 * door: who comes in.
 *
 * A new connection gets a slot, unless all are taken (503) or its user may not connect (403); then
 * it gets that answer and is closed.
 */
#ifndef API_DOOR_H
#define API_DOOR_H

#include <sys/types.h>

#include "api/slots.h"
#include "net/listen.h"

struct door {
	struct slots *slots;
	struct http_budget *budget;
	const uid_t *uids; /* who may connect to a Unix socket; empty: its mode decides */
	size_t uid_count;
};

/* Take the next connection of a listener. The slot is the caller's; NULL when there was none. */
struct slot *door_open(const struct door *d, const struct listener *l);

/* An error as the last answer on a connection: {"ok":false,"error":sentence}. */
void door_refuse(struct http *h, int status, const char *sentence);

#endif
