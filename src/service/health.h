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

/* The answer to GET /health. */
void health_write(struct service *s, struct buf *out);

/* Log what is in force, in a few lines, and what is not, though an operator may expect it. */
void health_log(const struct service *s, const struct config *c, const struct listening *at);

/* The same for a person at a terminal: what is served, where it can be reached and how, and what
 * holds commands; the last line can be copied. */
void health_show(const struct service *s, const struct config *c, const struct listening *at);

#endif
