/* SPDX-License-Identifier: MIT */
/*
 * locks: the files of a workspace, locked against other calls that change them.
 *
 * A thread locks one place, and beside it the file if that has several places; or all files at
 * once. Within the process these are mutexes. Programs share files of which each lock is a range as
 * well (workspace/filelock.h): then they wait for each other, too, but not for ever. Those that
 * serve one workspace share one, with all its ranges. All programs of a user share another one, which
 * has only the ranges of places and files: workspaces may lie in each other, and a program that is
 * stopped while it has all files of its workspace holds up no other workspace.
 */
#ifndef WORKSPACE_LOCKS_H
#define WORKSPACE_LOCKS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "workspace/beneath.h"

enum { FILE_LOCKS = 64 }; /* two files may share a lock: then one waits for the other */

/* Its fields are for this module alone. */
struct file_locks {
	pthread_rwlock_t replacing; /* read: one file is replaced; write: several together */
	pthread_mutex_t places[FILE_LOCKS], files[FILE_LOCKS];
	int shared; /* the file that programs of this workspace share, or -1 */
	int user;   /* the one that all programs of this user share, or -1 */
};

/* The lock of one place or file. Zero is none. */
struct file_lock {
	pthread_mutex_t *mutex;
	int64_t at; /* its byte in the shared files */
};

void locks_init(struct file_locks *l);
void locks_done(struct file_locks *l);

/* From now on ranges of that file are locked as well. The descriptor of the one that programs of
 * this workspace share stays the caller's, and must outlive all locks; that of the user's becomes
 * theirs. */
void locks_share(struct file_locks *l, int fd);
void locks_share_with_user(struct file_locks *l, int fd);

/* Lock a place. Places may share a lock: a thread must not hold two. -1 with TOO_BUSY, and who has
 * it, if another program does not release it within LIMIT_SHARED_LOCK_MS. */
int locks_take_place(struct file_locks *l, const struct file_place *at, struct file_lock *ret,
		     struct err *e);
void locks_release_place(struct file_locks *l, struct file_lock *lock);

/* Lock a file that has several places (hard links), after one of its places; a thread may not hold
 * two of these either. */
int locks_take_file(struct file_locks *l, const struct stat *st, struct file_lock *ret,
		    struct err *e);
void locks_release_file(struct file_locks *l, struct file_lock *lock);

/* Lock all files, for a change of several; no thread that has a lock may do it. */
int locks_take_all(struct file_locks *l, struct err *e);
void locks_release_all(struct file_locks *l);

#endif
