/* SPDX-License-Identifier: MIT */
/*
 * dir: a directory of the tree that is being walked.
 *
 * A directory knows its name and the directory it is in, up to the root of the walk, so a path of
 * any length costs a name. It is counted: entries that are still to be visited hold it. It is
 * entered by descriptor, one component at a time and never through a link: whatever is renamed or
 * exchanged meanwhile, what is opened lies in the tree. Mount points are entered.
 *
 * Only LIMIT_WALK_DIRS descriptors stay open; a directory that lost its own opens the way from the
 * nearest one that still has it. This is the only file of search/ that opens anything.
 */
#ifndef SEARCH_DIR_H
#define SEARCH_DIR_H

#include <pthread.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "search/ignore.h"

struct dir {
	struct dir *up;		   /* NULL for the root */
	struct ignore *git;	   /* what .gitignore files say here, set when it is expanded */
	struct ignore *dot;	   /* what .ignore files say */
	bool ignored;		   /* it or a directory above is ignored */
	unsigned depth;		   /* 0 for the root */
	unsigned owners;	   /* under dirs.lock, as all below */
	unsigned users;		   /* who have entered it: its descriptor stays open */
	int fd;			   /* -1 when closed */
	struct dir *older, *newer; /* in the order they were opened */
	size_t name_n;
	char name[]; /* NUL behind it */
};

/* All directories of one walk. */
struct dirs {
	pthread_mutex_t lock;
	struct dir *root;
	struct dir *oldest, *newest; /* open ones, without the root */
	unsigned open;
};

/* Start at a directory; dirfd stays the caller's. 0, or -1 with errno. */
int dirs_init(struct dirs *all, int dirfd);
void dirs_done(struct dirs *all); /* every directory has been dropped */

/* A directory in `up`, not opened yet, with one owner; NULL when there is no memory. */
struct dir *dir_new(struct dirs *all, struct dir *up, struct str name);
void dir_hold(struct dirs *all, struct dir *d);
void dir_drop(struct dirs *all, struct dir *d);

/* A descriptor that stays open until dir_leave. -1 with errno when it cannot be opened: gone, not
 * allowed, or no longer a directory. The directory's position is not touched by others. */
int dir_enter(struct dirs *all, struct dir *d);
void dir_leave(struct dirs *all, struct dir *d);

/* Append the path from the root, "/" behind every component; nothing for the root. */
void dir_path(const struct dir *d, struct buf *out);

/* Open a file for reading, never through a link and without waiting for the writer of a pipe.
 * -1 with errno. The caller closes it. */
int dir_open_file(int dirfd, const char *name);

/* The type of an entry whose type the directory does not tell: a DT_ value. */
unsigned char dir_entry_type(int dirfd, const char *name);

/* The size of an entry itself (of a link: of the link), or -1. */
int64_t dir_entry_size(int dirfd, const char *name);

/* Read a small regular file, at most LIMIT_IGNORE_BYTES of it; nothing when it cannot be read.
 * `path` may have several components, none of which is followed if it is a link. */
void dir_read_small(int dirfd, const char *const path[], size_t components, struct buf *out);

/* Whether the directory's file system gives less than was asked for only at the end of a file. True
 * of the usual ones that keep files on a disk or in memory; then the last read of each file, which
 * would only tell that there is no more, can be saved. */
bool dir_reads_whole(int dirfd);

/* Whether there is an entry of that name. */
bool dir_has(int dirfd, const char *name);

#endif
