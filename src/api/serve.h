/* SPDX-License-Identifier: MIT */
/*
 * serve: put the program together as a server: workspace, tools, listeners, front end.
 */
#ifndef API_SERVE_H
#define API_SERVE_H

#include "base/err.h"

struct config;

/* Serve until a signal ends it. A private server listens on a socket of its own, writes the path as
 * a line to standard output when calls can come, and also ends when its standard input does: the
 * program that started it holds the other end, and cannot leave it behind. Sockets taken over from
 * a service manager are noted in the configuration. Returns 0 after an orderly end, or -1 with one
 * sentence for the operator if it could not start. */
int serve(struct config *config, struct err *e);

#endif
