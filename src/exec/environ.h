/* SPDX-License-Identifier: MIT */
/*
 * environ: which variables a command sees.
 *
 * The server's own settings and secrets never reach a command: SIDECAR_*, the sockets and
 * credentials that systemd hands over, and the address the server listens on.
 */
#ifndef EXEC_ENVIRON_H
#define EXEC_ENVIRON_H

#include <stddef.h>

/* A list like environ, with a NULL at its end: the variables of base that are not private, with
 * those of extra added or in their place (the last one of a name counts). The list is for mem_free;
 * the strings stay where they are. NULL if there is no memory. */
char **environ_merge(char *const *base, char *const *extra, size_t extra_count);

#endif
