/* SPDX-License-Identifier: MIT */
/*
 * scratch: the private /tmp of one server, shared by its commands. The server makes it when it
 * starts. The keeper removes it at the end, also after a killed server; without a keeper the server
 * does. Both hold a lock on it: one that nobody holds was left by a server that was killed with its
 * keeper.
 */
#ifndef SANDBOX_SCRATCH_H
#define SANDBOX_SCRATCH_H

#include <stdbool.h>

#include "base/err.h"

/* The directory in which they are made: $TMPDIR or /tmp. */
const char *scratch_parent(void);

/* Whether the first part of a path below that directory is the name of one. */
bool scratch_is_name(const char *path);

/* Make a directory that only its owner can enter, and write its name to path. Returns a descriptor
 * that has the lock until it is closed, or -1. */
int scratch_new(char *path, size_t size, struct err *e);

/* Protect it from programs that remove what has not been used for days: they leave a locked
 * directory alone. A descriptor that has the lock until it is closed, or -1. */
int scratch_hold(const char *path);

/* Remove those beside this one that nobody holds. */
void scratch_tidy(const char *path);

/* Remove the directory and everything in it: links are removed, never followed; another file
 * system mounted inside is left alone. What cannot be removed stays. */
void scratch_remove(const char *path);

#endif
