/* SPDX-License-Identifier: MIT */
/*
 * remove: take files and whole trees out of the workspace.
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

#endif
