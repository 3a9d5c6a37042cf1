/* SPDX-License-Identifier: MIT */
/*
 * cache: where sandboxed commands keep what they can fetch again, from one session to the next.
 *
 * Each workspace has a directory of its own in one of the user: what the commands of one workspace
 * leave there would otherwise run in another. No program outside a sandbox is pointed to it. A
 * server holds a lock on the one that it uses. When a server ends, those that were unused for the
 * longest time go until all together are small enough.
 */
#ifndef SANDBOX_CACHE_H
#define SANDBOX_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* The bytes of everything below a directory; 0 if it is not there. For a process with one thread. */
int64_t cache_measure(const char *path);

/* The directory for a workspace, in `parent`; it is made if it is missing. Returns a descriptor
 * that has the lock until it is closed, or -1. */
int cache_open(const char *parent, struct str workspace, char ret[PATH_MAX], struct err *e);

/* Is that the name of such a directory, or of something in it, as seen from `parent`? */
bool cache_is_name(const char *name);

/* Remove this one if it is empty; then the oldest, this one among them, that nobody uses, until all
 * together have at most that many bytes. For a process with one thread. */
void cache_tidy(const char *path, int64_t most);

#endif
