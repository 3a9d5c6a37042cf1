/* SPDX-License-Identifier: MIT */
/*
 * listen: the sockets a server waits on.
 *
 * A Unix socket is created under a restrictive umask, so that it never has more permissions than it
 * should. A socket file left by a dead server is removed; one on which a server answers, or a path
 * that is not a socket, is an error and stays. All sockets are non-blocking and close-on-exec.
 */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

struct listener {
	int fd;		/* -1: not open */
	uint16_t port;	/* of TCP; else 0 */
	bool tcp;	/* browsers can reach it, so Origin and Host are checked */
	bool local;	/* only this machine can reach it */
	char path[108]; /* the socket file; "" if there is none */
	mode_t mode;	/* its permissions */
	bool made;	/* we made the file: listener_done removes it */
	dev_t dev;	/* the identity of that file: another server may have replaced it */
	ino_t ino;
	bool alone; /* so is its directory, which goes with it */
};

/* Listen on a Unix socket; its directory is created. */
int listen_unix(const char *path, mode_t mode, struct listener *ret, struct err *e);

/* Listen on a Unix socket for this user alone, in a new directory below $TMPDIR or /tmp. */
int listen_private(struct listener *ret, struct err *e);

/* Listen on a numeric address ("127.0.0.1", "::1", "localhost"). Port 0 means any free port; *port
 * becomes the one in use. */
int listen_tcp(const char *host, int64_t *port, struct listener *ret, struct err *e);

/* Take the i-th socket that systemd has passed (LISTEN_PID, LISTEN_FDS). Returns 1 and the
 * listener, 0 if there is none, or -1. listen_forget_activation removes the variables. */
int listen_activated(int i, struct listener *ret, struct err *e);
void listen_forget_activation(void);

/* Close it, and remove the socket file if it is still ours, with a directory that was made for it.
 */
void listener_done(struct listener *l);

/* Send systemd a message ("READY=1"); does nothing without NOTIFY_SOCKET. */
void listen_notify(const char *message);

#endif
