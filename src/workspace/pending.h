/* SPDX-License-Identifier: MIT */
/*
 * pending: temporary names that exist right now, in memory shared with a guardian process.
 *
 * Between making a temporary name and renaming it there are microseconds in which a kill -9 would
 * leave the file there. So the name is noted here first, in memory that another process can read:
 * when the server dies, that process removes the files that are still noted. Noting a name costs
 * one readlink. If the table is full or /proc is missing, the name is not noted.
 *
 * The memory has no name. A process that can write to it decides what is removed with the server's
 * rights, so commands must not be able to find it. Its size is sealed: no process can truncate it
 * under the server.
 */
#ifndef WORKSPACE_PENDING_H
#define WORKSPACE_PENDING_H

/* How every temporary name begins. */
#define PENDING_PREFIX ".sidecar-"

struct pending;
struct pending_slot;

/* NULL if there is no shared memory; all functions accept that. */
struct pending *pending_new(void);
void pending_free(struct pending *p);

/* Its descriptor, for the guardian; -1 for NULL. The table keeps it. */
int pending_fd(const struct pending *p);

/* After the server's death: remove the files noted in the table of that descriptor, and empty it.
 * Only names with our prefix are ever removed. */
void pending_sweep(int fd);

/* Note a name in a directory; NULL if it could not be noted. */
struct pending_slot *pending_add(struct pending *p, int dir, const char *name);
void pending_remove(struct pending_slot *slot);

#endif
