/* SPDX-License-Identifier: MIT */
/*
 * tree: every name below a directory, level by level, so that what lies near the top is found first.
 *
 * Commands may have made the tree: it may be of any depth and size, and change meanwhile. No link is
 * followed at the end of a name. Names that are longer than a path can be are left out.
 */
#ifndef GUARD_TREE_H
#define GUARD_TREE_H

#include <stdbool.h>
#include <stddef.h>

/* Call for each name that there is, with `top` before it; its answer is whether to look into it, if
 * it is a directory. False: there are more than `most`, or there is no memory for them. */
bool tree_visit(const char *top, size_t most,
		bool (*visit)(void *arg, const char *name, bool is_dir), void *arg);

#endif
