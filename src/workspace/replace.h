/* SPDX-License-Identifier: MIT */
/*
 * replace: change a file so that every reader sees the old content or the new, never a mix.
 *
 *	AUTO_REPLACE r = REPLACE_NONE;
 *	if (replace_begin(ws, witness, &path, REPLACE_MAKE_DIRS, &r, e) < 0)
 *		return -1;
 *	… look at r.old, r.st …
 *	return replace_commit(&r, content, e);
 *
 * From begin to done the file is locked against every other replace, in this process and (with
 * locks_share) in others, so that two read-change-write calls never lose an update. The new content is written to a nameless file, then
 * put in place by one rename; mode, owner and extended attributes are those of the old file. A
 * symbolic link is followed to its target inside the workspace.
 *
 * Three kinds of file are written in place instead, because replacing them would break something:
 * one with further hard links (they would keep the old content), one whose owner we cannot give to
 * another file, and one in a directory where we may not make or rename files. A crash may leave
 * such a file half written.
 */
#ifndef WORKSPACE_REPLACE_H
#define WORKSPACE_REPLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "base/str.h"
#include "workspace/locks.h"
#include "workspace/workspace.h"

enum {
	REPLACE_MAKE_DIRS = 1 << 0,  /* make missing directories */
	REPLACE_MUST_EXIST = 1 << 1, /* FILE_NOT_FOUND for a new file; the old one is readable */
	REPLACE_SYNC = 1 << 2,	     /* on disk before commit returns */
	REPLACE_MODE = 1 << 3,	     /* the file gets the permissions in `mode` */
};

struct pending;

struct replace {
	const struct workspace *ws;
	const struct witness *witness; /* or NULL */
	const struct path *path;
	unsigned flags;
	mode_t mode; /* set by the caller, between begin and commit, for REPLACE_MODE */
	struct file_place at;
	int old;	/* the existing file, open for writing (and reading); -1 for a new file */
	struct stat st; /* of the existing file */
	struct file_lock lock;	    /* of its place */
	struct file_lock file_lock; /* of the file, when it has several places */
};

#define AUTO_REPLACE CLEANUP(replace_done) struct replace

/* Holds nothing: what a replace is before replace_begin and after replace_done. */
#define REPLACE_NONE ((struct replace){ .at = { .dir = -1 }, .old = -1 })

/* Find and lock the file. NOT_A_FILE when something else has that name, PERMISSION_DENIED when it
 * may not be written. `path` must outlive the replace. */
int replace_begin(const struct workspace *ws, const struct witness *witness,
		  const struct path *path, unsigned flags, struct replace *ret, struct err *e);

/* Append the content of the existing file. FILE_TOO_LARGE when it does not fit below out->max.
 * After a failure out may hold a part of it. */
int replace_read(const struct replace *r, struct buf *out, struct err *e);

/* Write the new content. On failure the file has its old content, with two exceptions: a write in
 * place may fail half way, and with REPLACE_SYNC the new content may not have reached the disk. */
int replace_commit(struct replace *r, struct str content, struct err *e);

/* Release the locks and the descriptors. */
void replace_done(struct replace *r);

/* temp: an object on its way to its place; all that puts one below the workspace does it by these.
 *
 * A file is nameless where the file system has nameless files, else it has a temporary name beside
 * its place, as objects of other types do. All functions here return 0, or -1 with errno.
 */
struct temp {
	int fd;			   /* of a file; -1: there is none */
	int dir;		   /* where it is; the caller's */
	char name[64];		   /* its temporary name; "": it has none */
	struct pending_slot *slot; /* where that is noted; or NULL */
};

#define TEMP_NONE ((struct temp){ .fd = -1, .dir = -1 })

/* Open a nameless file in the directory. */
int temp_open(struct temp *t, int dir);

/* Whether errno says that the file system has no nameless files. */
bool temp_needs_name(void);

/* Choose a name in the directory that no other file has, and note it in `pending` (or NULL). */
void temp_choose_name(struct temp *t, struct pending *pending, int dir);

/* Make a file of the chosen name. On failure the name is forgotten. */
int temp_make(struct temp *t, mode_t mode);

/* Give a nameless file the chosen name. On failure that is forgotten. */
int temp_link(struct temp *t);

/* Make it look like the old file that `from` refers to: owner, permissions, extended attributes. */
int temp_resemble(const struct temp *t, int from, const struct stat *st);

/* What becomes of the object that has the final name. */
enum temp_way {
	TEMP_NEW,      /* there must be none: EEXIST */
	TEMP_OVER,     /* it is replaced */
	TEMP_EXCHANGE, /* it gets the temporary name; EINVAL if the file system cannot do that */
};

/* Give it its final name. Only TEMP_NEW can do that with a nameless one. */
int temp_put(struct temp *t, int dir, const char *name, enum temp_way way);

/* Give an object in which nothing more is to be done back: its name, if it has one, goes away. */
void temp_discard(struct temp *t);

/* Give an open file another content in place, which `fill` writes at its position. The space is
 * reserved first: a disk that fills up half way would leave neither the old content nor the new. */
typedef int temp_fill(const void *arg, int fd);
int temp_overwrite(int fd, int64_t old_size, int64_t size, temp_fill *fill, const void *arg);

/* A fill that writes a struct str. */
temp_fill temp_fill_text;

/* The marks of a file or directory that restrict even its owner (STATX_ATTR_APPEND and
 * STATX_ATTR_IMMUTABLE); 0 if it has none, or cannot have any. */
uint64_t temp_marks(int dir, const char *name);

/* In an append-only directory files can be made, but neither renamed nor removed: a temporary name
 * would stay forever. */
bool temp_stays(int dir);

#endif
