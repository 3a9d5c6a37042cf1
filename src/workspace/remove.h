/* SPDX-License-Identifier: MIT */
/*
 * remove: take a file or directory away.
 *
 * What the last name of the path stands for is removed: of a link the link, never what it leads to.
 * A tree is removed by descriptor, one level at a time and never through a link: whatever is
 * exchanged meanwhile, nothing outside of it is touched.
 */
#ifndef WORKSPACE_REMOVE_H
#define WORKSPACE_REMOVE_H

#include "workspace/workspace.h"

/* A directory that is not empty needs `tree`; without it: NOT_A_FILE. Of the workspace itself, and
 * the other bases, only the content is removed. */
int ws_remove(const struct workspace *ws, const struct path *p, bool tree, struct err *e);

#endif
