/* SPDX-License-Identifier: MIT */
/*
 * xattrs: the extended attributes of an object as one text: for each its name, NUL, four bytes of
 * length, and its value.
 */
#ifndef CHANGES_XATTRS_H
#define CHANGES_XATTRS_H

#include "base/arena.h"
#include "base/str.h"

/* Those of a name, in the arena; links are not followed. Empty if there are none, or too many. */
struct str xattrs_take(int dir, const char *name, struct arena *a);

/* Remove those that are not in the text. */
void xattrs_drop(const char *path, struct str xattrs);

/* Set those in the text. -1 with errno if one that belongs to the user cannot be set. */
int xattrs_set(const char *path, struct str xattrs);

#endif
