/* SPDX-License-Identifier: MIT */
/*
 * facts: what is in force, for everybody who asks: the start of the log, and GET /health.
 */
#ifndef SERVICE_FACTS_H
#define SERVICE_FACTS_H

#include "base/buf.h"
#include "config/config.h"
#include "sandbox/sandbox.h"
#include "workspace/workspace.h"

struct facts {
	const struct config *config;
	const struct workspace *ws;
	const struct sandbox_report *sandbox;
	const char *socket; /* the Unix socket, or "" */
	mode_t socket_mode;
	int64_t tcp_port; /* in use, when there is a TCP listener */
};

/* As members of a JSON object, without its braces. */
void facts_write(const struct facts *f, struct buf *out);

/* As a few lines of the log. */
void facts_log(const struct facts *f);

#endif
