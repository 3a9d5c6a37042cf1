/* SPDX-License-Identifier: MIT */
/*
 * pending: temporary names that exist right now, in memory shared with a guardian process.
 *
 * Between making a temporary name and renaming it there are microseconds in which a kill -9 would
 * leave it behind. So the name is noted here first, in memory that another process can look at:
 * when the server dies, that process removes what is still noted. Noting costs no more than one
 * readlink. When the table is full or /proc is missing the name is simply not noted.
 *
 * The memory has no name. Whoever can write to it says what is removed with the server's rights, so
 * a command must not find it; its size is sealed, so that nobody can take it away under the server.
 */
#ifndef WORKSPACE_PENDING_H
#define WORKSPACE_PENDING_H

/* How every temporary name begins. */
#define PENDING_PREFIX ".sidecar-"

struct pending;
struct pending_slot;

/* NULL when there is no shared memory to be had; all functions accept that. */
struct pending *pending_new(void);
void pending_free(struct pending *p);

/* Its descriptor, to be handed to the guardian; -1 for NULL. It stays the table's. */
int pending_fd(const struct pending *p);

/* After the death of whoever noted them: remove the files noted in the table of that descriptor,
 * and empty it. Nothing but our own temporary names is ever removed. */
void pending_sweep(int fd);

/* Note a name in a directory; NULL when it could not be noted. */
struct pending_slot *pending_add(struct pending *p, int dir, const char *name);
void pending_remove(struct pending_slot *slot);

#endif
