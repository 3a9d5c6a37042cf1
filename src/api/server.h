/* SPDX-License-Identifier: MIT */
/*
 * server: a front end that listens, from its start to its orderly end.
 *
 * Workers serve the connections (workers.h). The main thread waits for a signal to stop and, while
 * there are connections, looks at their deadlines a few times a second; without any it sleeps, and
 * costs nothing.
 */
#ifndef API_SERVER_H
#define API_SERVER_H

#include "base/err.h"

struct config;

/* Serve until a signal ends it. A private server listens on a socket of its own, writes the path as
 * a line to standard output when calls can come, and also ends when its standard input does: the
 * program that started it holds the other end, and cannot leave it behind. Sockets taken over from
 * a service manager are noted in the configuration. Returns 0 after an orderly end, or -1 with one
 * sentence for the operator if it could not start. */
int serve(struct config *config, struct err *e);

#endif
