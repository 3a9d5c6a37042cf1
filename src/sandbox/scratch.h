/* SPDX-License-Identifier: MIT */
/*
 * scratch: the private /tmp of one server, shared by its commands, made at start and removed at the
 * end by the keeper, also when the server was killed; by the server if there is no keeper.
 */
#ifndef SANDBOX_SCRATCH_H
#define SANDBOX_SCRATCH_H

#include "base/err.h"

/* Make a directory only its owner can enter, below $TMPDIR or /tmp; its name goes to path. */
int scratch_new(char *path, size_t size, struct err *e);

/* Hold it against programs that remove what has not been used for days: they pass by a directory
 * with a lock. A descriptor that has the lock until it is closed; or -1. */
int scratch_hold(const char *path);

/* Remove the directory and everything in it: links are removed, never followed; another file
 * system mounted inside is left alone. What cannot be removed stays. */
void scratch_remove(const char *path);

#endif
