/* SPDX-License-Identifier: MIT */
/*
 * local: the executor that needs no sidecar: tools run in this process.
 *
 * It takes the requests a sidecar takes and gives the answers a sidecar gives, in the same words.
 * Commands are started by the sidecar program, which does nothing else here; without it they fail
 * with SPAWN_FAILED, and everything else works. Safe to use from several threads.
 */
#ifndef CLIENT_LOCAL_H
#define CLIENT_LOCAL_H

#include "base/err.h"
#include "client/request.h"
#include "sidecar.h"

struct local;

/* Open the workspace and start what starts commands. NULL with the reason. */
struct local *local_new(const struct sidecar_settings *settings, struct err *e);

/* End the commands that run. No call may be under way. Accepts NULL. */
void local_free(struct local *l);

/* "local:<root>" */
const char *local_address(const struct local *l);

/* Carry the request out. */
int local_call(struct local *l, const struct request *q, struct answer *ret, struct err *e);

#endif
