/* SPDX-License-Identifier: MIT */
/*
 * serve: put the program together as a server: workspace, tools, listeners, front end.
 */
#ifndef API_SERVE_H
#define API_SERVE_H

#include "base/err.h"

/* Serve until a signal ends it. Sockets taken over from a service manager are noted in the
 * configuration. 0 after an orderly end; -1 with one sentence for the operator when it could not
 * start. */
struct config;

int serve(struct config *config, struct err *e);

#endif
