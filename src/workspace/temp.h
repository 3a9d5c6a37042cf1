/* SPDX-License-Identifier: MIT */
/*
 * temp: the file that gets a new content, before it has its place.
 *
 * It is nameless where the file system has nameless files, else it has a temporary name beside its
 * place. All functions here return 0, or -1 with errno.
 */
#ifndef WORKSPACE_TEMP_H
#define WORKSPACE_TEMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct pending;
struct pending_slot;

struct temp {
	int fd;			   /* -1: there is none */
	char name[64];		   /* its temporary name; "": it has none */
	struct pending_slot *slot; /* where that is noted; or NULL */
};

#define TEMP_NONE ((struct temp){ .fd = -1 })

/* Open a nameless file in the directory. */
int temp_open(struct temp *t, int dir);

/* Whether errno says that the file system has no nameless files. */
bool temp_needs_name(void);

/* Choose a name that no other file has. */
void temp_choose_name(struct temp *t);

/* Make a file of the chosen name; it is noted in `pending`, which may be NULL. On failure the name
 * is forgotten. */
int temp_make(struct temp *t, struct pending *pending, int dir, mode_t mode);

/* Give a nameless file a name that does not exist. */
int temp_link(const struct temp *t, int dir, const char *name);

/* Make it look like the old file that `from` refers to: owner, permissions, extended attributes. */
int temp_resemble(const struct temp *t, int from, const struct stat *st);

/* Give a file in which nothing more is to be done back: its name, if it has one, goes away. */
void temp_discard(struct temp *t, int dir);

/* The marks of a file or directory that restrict even its owner (STATX_ATTR_APPEND and
 * STATX_ATTR_IMMUTABLE); 0 if it has none, or cannot have any. */
uint64_t temp_marks(int dir, const char *name);

/* In an append-only directory files can be made, but neither renamed nor removed: a temporary name
 * would stay forever. */
bool temp_stays(int dir);

#endif
