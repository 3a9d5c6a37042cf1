/* SPDX-License-Identifier: MIT */
/*
 * remote: a sidecar that is reached by a socket.
 *
 * Connections are kept for the next call and made when there is none; a sidecar that is not there
 * is waited for. A connection that was closed meanwhile is noticed before anything is sent, and is
 * no error. Safe to use from several threads.
 */
#ifndef CLIENT_REMOTE_H
#define CLIENT_REMOTE_H

#include "base/err.h"
#include "client/exchange.h"
#include "sidecar.h"

struct remote;

/* Check the settings; nothing is connected. NULL with INVALID_CONFIG. */
struct remote *remote_new(const struct sidecar_settings *settings, struct err *e);

/* Close the connections. Accepts NULL. */
void remote_free(struct remote *r);

/* "unix:<path>" or "tcp:<host>:<port>" */
const char *remote_address(const struct remote *r);

/* Wait until GET /health says ok. NOT_READY, UNAUTHORIZED, BAD_ANSWER, CANCELLED. */
int remote_ensure_ready(struct remote *r, struct err *e);

/*
 * Make the request. It is made anew, within the time to wait for readiness, when it was not sent or
 * is repeatable; else a lost connection is CONNECTION_LOST. An answer of any status is a success.
 */
int remote_call(struct remote *r, const struct request *q, struct answer *ret, struct err *e);

#endif
