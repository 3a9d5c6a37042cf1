/* SPDX-License-Identifier: MIT */
/*
 * intent: what a stopped system call is about to do, and to which paths: the one table of calls
 * that can change a file or reach another program.
 *
 * It is a copy of the caller's memory at one moment. The kernel will read that memory again, so an
 * intent is good for telling, and for deciding only if the call is then made from the copy.
 */
#ifndef SUPERVISE_INTENT_H
#define SUPERVISE_INTENT_H

#include "supervise/stopped.h"

enum intent_verb {
	INTENT_WRITE, /* open for writing, or make, a file */
	INTENT_TRUNCATE,
	INTENT_MKDIR,
	INTENT_MKNOD,
	INTENT_UNLINK,
	INTENT_RMDIR,
	INTENT_RENAME,
	INTENT_LINK,
	INTENT_SYMLINK,
	INTENT_CHMOD,
	INTENT_CHOWN,
	INTENT_TIMES,
	INTENT_ATTRIBUTE,
	INTENT_BIND, /* make a socket */
	INTENT_CONNECT,
	INTENT_SEND,
	INTENT_SOCKET, /* make a socket of a kind that commands do not get */
};

struct intent_path {
	int dir;     /* a descriptor of the caller, or AT_FDCWD */
	bool follow; /* a link at the end is followed */
	char text[PATH_MAX];
};

struct intent {
	enum intent_verb verb;
	bool creates;	/* INTENT_WRITE: a file that does not exist is made */
	bool exclusive; /* and must not exist */
	bool exchange;	/* INTENT_RENAME: both stay */
	bool in_place;	/* … the second one gets the content of the first (guardian.h) */
	size_t count;
	struct intent_path path[2]; /* with two: from and to */
};

/* 1: *ret is filled. 0: the call changes no file by its path (it works on a descriptor, or only
 * reads). -1 with errno: its arguments cannot be read. */
int intent_read(const struct stopped_call *s, struct intent *ret);

#endif
