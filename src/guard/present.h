/* SPDX-License-Identifier: MIT */
/*
 * present: the guarded names that are there at one moment, as the server sees them.
 *
 * Names are absolute and, but for their last part, without links. A directory that is guarded as a whole is one name to be
 * covered; what is in the directory of hooks is listed besides, so that a change of it is seen.
 */
#ifndef GUARD_PRESENT_H
#define GUARD_PRESENT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "guard/sinks.h"

enum { PRESENT_MOST = 2048, PRESENT_GITS = 512, PRESENT_WAYS = 256 };

struct present_item {
	size_t at; /* of its name in `text` */
	struct stat st;
	bool covered; /* it is to be covered by itself */
};

/* A guarded name, or the directory of one, is a link, or git's configuration names another place:
 * what lies there is what the name would be. */
struct present_way {
	size_t to, from; /* where the names are */
};

/* The zero value is empty. */
struct present {
	struct buf text; /* all names, each with its NUL */
	struct present_item items[PRESENT_MOST];
	size_t count;
	size_t gits[PRESENT_GITS]; /* git directories: where their names are */
	size_t git_count;
	struct present_way ways[PRESENT_WAYS];
	size_t way_count;
	bool has_git; /* there is a .git at the top */
	bool full;    /* there is more than this can hold */
};

/* Look. `outside` are git directories of the workspace that lie elsewhere. `first` is what was found
 * when the server started (NULL: this is that): a repository that has come into being since, with
 * its hooks, is an agent's as well as a person's, and is not guarded. */
void present_scan(struct present *p, const char *root, const struct sinks *sinks,
		  const char *const *outside, size_t outside_count, const struct present *first);
void present_done(struct present *p);

static inline const char *present_name(const struct present *p, size_t i)
{
	return p->text.p + p->items[i].at;
}

/* Read a small file, not through a link at its end. */
bool present_read(const char *name, struct buf *out);

/* The item of that name, or NULL. */
const struct present_item *present_find(const struct present *p, const char *name);

#endif
