/* SPDX-License-Identifier: MIT */
/*
 * client: struct sidecar: where a host's calls are carried out.
 *
 * Both kinds take the same requests, those of the HTTP API, and give the same answers: one sends
 * them to a sidecar (remote.h), the other carries them out in this process (local.h). What is made
 * of requests and answers (operation.h, bash.c) does not know which it is.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "base/err.h"
#include "client/exchange.h"
#include "sidecar.h"

struct local;
struct remote;

/* One of both. */
struct sidecar {
	struct remote *remote;
	struct local *local;
	char *session;				    /* or NULL */
	void (*progress)(void *arg, int64_t files); /* or NULL */
	void *progress_arg;
};

/* Make the request. An answer of any status is a success. */
int client_call(struct sidecar *s, const struct request *q, struct answer *ret, struct err *e);

/* Hand an error to a caller, who may not want it. */
void client_tell(struct sidecar_error *error, const struct err *e);

#endif
