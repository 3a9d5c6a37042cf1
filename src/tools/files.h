/* SPDX-License-Identifier: MIT */
/*
 * files: whole files as bytes, for front ends that move files and not text.
 *
 * Paths are read as by every tool of the call, and opened beneath the workspace. What the entries
 * of a listing say is about what a link leads to; a link that leads nowhere, or out, is left out.
 */
#ifndef TOOLS_FILES_H
#define TOOLS_FILES_H

#include <sys/stat.h>

#include "tools/tool.h"

struct file_entry {
	struct str name;
	struct stat st;
};

struct file_list {
	struct file_entry *entries; /* in the call's arena, in byte order of their names */
	size_t count, room;
};

/* What the path leads to. */
int files_stat(const struct call *c, struct str path, struct stat *st, struct err *e);

/* Open a regular file for reading. The descriptor is the caller's. */
int files_open(const struct call *c, struct str path, struct stat *st, struct err *e);

int files_list(const struct call *c, struct str path, struct file_list *ret, struct err *e);

/* Replace a file, or make it with its directories. `mode` is -1 to keep what it has. */
int files_put(const struct call *c, struct str path, struct str content, int mode, struct err *e);

/* Remove what has that name; a directory that is not empty only as a tree, else NOT_A_FILE. */
int files_remove(const struct call *c, struct str path, bool tree, struct err *e);

#endif
