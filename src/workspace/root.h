/* SPDX-License-Identifier: MIT */
/*
 * root: a directory the operator named, made if missing, canonical, held open.
 *
 * Used at start for WORKSPACE_ROOT, DATA_DIR and ALLOWED_ROOT_DIRECTORY. Links in the operator's
 * own path are followed, once; after that only the descriptor and the canonical path are used. The
 * operator named a path, not an inode: root_look notices that another directory has that path. On
 * failure nothing on disk has changed: directories made on the way are removed again.
 */
#ifndef WORKSPACE_ROOT_H
#define WORKSPACE_ROOT_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

struct root {
	int fd;		      /* O_PATH; -1: not open */
	char path[PATH_MAX];  /* canonical, absolute */
	char alias[PATH_MAX]; /* as the operator wrote it, normalised; "" when that is the same */
	size_t existed;	      /* how many bytes of the path existed before root_open */
};

/* The canonical path that `path` has, or would have if it were made now: links are resolved as far
 * as it exists. `what` names the setting in messages. */
int root_canonical(const char *what, const char *path, char ret[PATH_MAX], struct err *e);

/* Open the directory; with `make`, make it and its parents if they are missing. The error says what
 * is wrong: not absolute, a file, a loop of links, unreadable, cannot be made … */
int root_open(const char *what, const char *path, bool make, struct root *ret, struct err *e);

/* What the path of a held directory leads to now. */
enum root_news {
	ROOT_SAME,     /* the held directory, or it cannot be told */
	ROOT_REPLACED, /* another directory, which is held from now on */
	ROOT_GONE,     /* nothing */
	ROOT_BLOCKED,  /* a link or a file is in its place, or above it */
};

/* Look at the path again, following no links: it is canonical, so a link in it is new and may lead
 * anywhere. With `make` a directory that is gone is made again. The number of the descriptor never changes: other threads may use it at any time, and
 * get the old directory or the new one. Only one thread may look at a time. */
enum root_news root_look(const struct root *r, bool make);

/* Remove the directories that root_open made, if they are still empty. */
void root_unmake(const struct root *r);

void root_done(struct root *r);

#endif
