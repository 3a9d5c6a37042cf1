/* SPDX-License-Identifier: MIT */
/*
 * landlock: which files a command may touch, as a rule set made once and entered by each command.
 *
 * Every right that the running kernel knows is restricted, so what no rule grants is refused. Each
 * command enters a domain of its own: it can neither signal nor trace processes outside it, nor
 * connect to abstract sockets made there (from ABI 6 on).
 */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include <stdbool.h>

#include "base/err.h"

/* ABI versions that introduced something. */
enum {
	LANDLOCK_REFER = 2,
	LANDLOCK_TRUNCATE = 3,
	LANDLOCK_NET = 4,
	LANDLOCK_IOCTL = 5,
	LANDLOCK_SCOPE = 6,
	LANDLOCK_UNIX = 9, /* connecting to sockets by path, and sending to them */
};

/* What a rule grants on a file or on everything below a directory. */
enum landlock_grant {
	LANDLOCK_LIST,	 /* see the names in directories */
	LANDLOCK_READ,	 /* read, list, execute */
	LANDLOCK_WRITE,	 /* everything */
	LANDLOCK_DEVICE, /* read, write and control a device, make nothing */
	LANDLOCK_SOCKET, /* connect to sockets (from ABI 9 on; nothing before) */
};

/* The ABI of this kernel; 0 if it has no Landlock, or Landlock is turned off. */
int landlock_abi(void);

/* A new rule set without rules: a descriptor, or -1. With no_tcp, binding and connecting TCP
 * sockets is refused (from ABI 4 on). */
int landlock_new(bool no_tcp, struct err *e);

/* Add a rule for the file this descriptor refers to. For the descriptor -1 there is nothing to
 * grant, and that is not an error. */
int landlock_allow(int rules, int fd, enum landlock_grant grant, struct err *e);

/* Enter a new domain. Needs no_new_privs. 0, or -1 with errno. */
int landlock_enter(int rules);

#endif
