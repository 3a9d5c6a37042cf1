/* SPDX-License-Identifier: MIT */
/*
 * beneath_walk: the walking resolver behind beneath.h; nobody else uses it.
 *
 * The path is a text that is walked from the held directory, one component at a time, with
 * O_NOFOLLOW. Where a component is a link, its target takes its place in the text and the walk
 * begins again from the top; so what has been walked is always a chain of real directories, and
 * ".." in a link's target simply removes the last of them. Leaving is possible only in the text,
 * where it is seen. Links are followed by their text alone: the magic ones of procfs have no magic.
 */
#ifndef WORKSPACE_BENEATH_WALK_H
#define WORKSPACE_BENEATH_WALK_H

#include "workspace/beneath.h"

int beneath_walk_open(const struct beneath *b, const char *name, int flags, struct err *e);
int beneath_walk_place(const struct beneath *b, const char *name, bool make_dirs, struct place *ret,
		       struct err *e);
int beneath_walk_canonical(const struct beneath *b, const char *name, char ret[PATH_MAX],
			   struct err *e);

/* Turn errno into the error for a name; returns -1. */
int beneath_fail(const struct beneath *b, const char *name, struct err *e);

#endif
