/* SPDX-License-Identifier: MIT */
/*
 * health: what is in force: for GET /health, and for the first lines of the log.
 */
#ifndef SERVICE_HEALTH_H
#define SERVICE_HEALTH_H

#include <sys/types.h>

#include "base/buf.h"
#include "config/config.h"
#include "service/service.h"

/* Where the service can be reached. Zero: only by the process that it serves. */
struct listening {
	const char *socket; /* the Unix socket; NULL or "": none */
	mode_t socket_mode;
	int64_t tcp_port; /* in use, if there is a TCP listener */
};

/* Record what is in force, for health_write. */
int health_record(struct service *s, const struct config *c, const struct listening *at,
		  struct err *e);

/* Whose commands are observed: "all", "models" or "none", and then *why; else *why is NULL. */
const char *health_observed(const struct service *s, const char **why);

/* The answer to GET /health. */
void health_write(struct service *s, struct buf *out);

/* Log what is not in force, and an operator may not expect. */
void health_warn(const struct service *s, const struct config *c);

/* Log what is in force, in a few lines, and what is not. */
void health_log(const struct service *s, const struct config *c, const struct listening *at);

#endif
