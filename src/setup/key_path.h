/* SPDX-License-Identifier: MIT */
/*
 * key_path: the way to a value in a configuration: the names of the tables or objects around it,
 * from the outside in, and its own name. The names are seen, not owned.
 */
#ifndef SETUP_KEY_PATH_H
#define SETUP_KEY_PATH_H

#include <stddef.h>

#include "base/str.h"

enum { KEY_PATH_MAX = 4 };

struct key_path {
	struct str key[KEY_PATH_MAX];
	size_t n;
};

/* The same way without its last name. */
static inline struct key_path key_path_parent(const struct key_path *k)
{
	struct key_path parent = *k;

	parent.n -= parent.n > 0;
	return parent;
}

#endif
