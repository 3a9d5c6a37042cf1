/* SPDX-License-Identifier: MIT */
/*
 * serve: put the program together as a server: workspace, tools, listeners, front end.
 */
#ifndef API_SERVE_H
#define API_SERVE_H

#include "base/err.h"

struct config;

/* Serve until a signal ends it. Sockets taken over from a service manager are noted in the
 * configuration. Returns 0 after an orderly end, or -1 with one sentence for the operator if it
 * could not start. */
int serve(struct config *config, struct err *e);

#endif
