/* SPDX-License-Identifier: MIT */
/*
 * listen: the sockets a server waits on.
 *
 * A Unix socket is created under a restrictive umask, so that it never exists with more rights than
 * it is meant to have. A socket file nobody answers on is removed; one that somebody answers on, or
 * a path that is no socket, is an error and stays. All sockets are non-blocking and close-on-exec.
 */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

struct listener {
	int fd;		/* -1 when not open */
	bool tcp;	/* browsers can reach it: Origin and Host count */
	bool local;	/* only this machine can reach it */
	char path[108]; /* the socket file; "" when there is none */
	mode_t mode;	/* its permissions */
	bool made;	/* by us, so that listener_done removes it */
	dev_t dev;
	ino_t ino; /* which file that was: another server may have replaced it */
};

/* Listen on a Unix socket; its directory is created. */
int listen_unix(const char *path, mode_t mode, struct listener *ret, struct err *e);

/* Listen on a numeric address ("127.0.0.1", "::1", "localhost"); port 0 is any free port, and
 * *port becomes the one in use. */
int listen_tcp(const char *host, int64_t *port, struct listener *ret, struct err *e);

/* Whether the host is a loopback address. */
bool listen_is_loopback(const char *host);

/* A socket handed over by systemd (LISTEN_PID, LISTEN_FDS): the i-th, or 0 when there is none.
 * Returns 1 and the listener; the variables are removed by listen_forget_activation. */
int listen_activated(int i, struct listener *ret, struct err *e);
void listen_forget_activation(void);

/* Close it, and remove the socket file if it is still ours. */
void listener_done(struct listener *l);

/* Tell systemd something ("READY=1"); does nothing without NOTIFY_SOCKET. */
void listen_notify(const char *message);

#endif
