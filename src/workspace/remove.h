/* SPDX-License-Identifier: MIT */
/*
 * remove: take files and whole trees out of the workspace, or away from their name.
 */
#ifndef WORKSPACE_REMOVE_H
#define WORKSPACE_REMOVE_H

#include "workspace/workspace.h"

/*
 * Remove what the last name of the path stands for; of a link the link, never its target. A
 * directory that is not empty needs `tree`; without it: NOT_A_FILE. Of the workspace itself, and of
 * the other bases, only the content is removed. A tree is removed by descriptor, one level at a
 * time and never through a link: whatever other processes exchange meanwhile, nothing outside is
 * touched.
 */
int ws_remove(const struct workspace *ws, const struct witness *witness, const struct path *p,
	      bool tree, struct err *e);

/* Give what has one name (of a link the link itself) another name of the same base, whose missing
 * directories are made. FILE_EXISTS if something has it: nothing is replaced. Neither may be the
 * base itself. */
int ws_rename(const struct workspace *ws, const struct witness *witness, const struct path *from,
	      const struct path *to, struct err *e);

#endif
