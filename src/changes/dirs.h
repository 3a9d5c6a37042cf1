/* SPDX-License-Identifier: MIT */
/*
 * dirs: directories of the workspace by the text of their path, and the text by the directory.
 *
 * A path here is one that the journal knows: relative to the workspace's root, without links, dots
 * and empty components; "" is the root. In a git directory outside, which the rules of the workspace
 * name, it is absolute. It is opened without following any link, so it leads to the
 * directory of that name or nowhere.
 */
#ifndef CHANGES_DIRS_H
#define CHANGES_DIRS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "workspace/path.h"

/* Open a directory beneath the root, with O_PATH. -1 with errno. */
int dirs_open(int root, struct str path);

/* Open the parent of a path; `name` is its last component. -1 with errno. */
int dirs_open_parent(int root, struct str path, char name[NAME_MAX + 1]);

/* Where an open directory is now, by the rules of the workspace. False if it is elsewhere, or
 * removed. */
bool dirs_text(int dir, const struct path_rules *rules, char out[PATH_MAX], struct str *ret);

/* The path of a name in a directory, in dir.n + name.n + 2 bytes. */
struct str dirs_join_to(char *to, struct str dir, struct str name);

/* The same in the arena; a NULL pointer if that is full. */
struct str dirs_join(struct arena *a, struct str dir, struct str name);

/* The modification time of an open directory; 0 if it cannot be told. */
int64_t dirs_mtime(int dir);

#endif
