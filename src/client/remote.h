/* SPDX-License-Identifier: MIT */
/*
 * remote: a sidecar that is reached through a socket.
 *
 * Connections are kept for the next call, and made when there is none to use. A call waits for a
 * sidecar that is not there yet. A kept connection that the server has closed is noticed before
 * anything is sent and is not an error. Several threads may use a remote at the same time.
 */
#ifndef CLIENT_REMOTE_H
#define CLIENT_REMOTE_H

#include "base/err.h"
#include "client/request.h"
#include "sidecar.h"

struct remote;

/* Check the settings; nothing is connected. NULL with INVALID_CONFIG. */
struct remote *remote_new(const struct sidecar_settings *settings, struct err *e);

/* Close the connections. Accepts NULL. */
void remote_free(struct remote *r);

/* "unix:<path>" or "tcp:<host>:<port>" */
const char *remote_address(const struct remote *r);

/* Wait until GET /health says ok. Fails with NOT_READY, UNAUTHORIZED, BAD_ANSWER or CANCELLED. */
int remote_ensure_ready(struct remote *r, struct err *e);

/*
 * Make the request. If the connection is lost, a request that was not sent completely, or that is
 * repeatable, is sent again, within the time to wait for readiness; any other one fails with
 * CONNECTION_LOST. An answer of any status is a success.
 */
int remote_call(struct remote *r, const struct request *q, struct answer *ret, struct err *e);

#endif
