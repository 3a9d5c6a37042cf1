/* SPDX-License-Identifier: MIT */
/*
 * keys: the way to a value in a configuration: the names of the tables or objects around it, from
 * the outside in, and its own name. The names are seen, not owned.
 */
#ifndef SETUP_KEYS_H
#define SETUP_KEYS_H

#include <stddef.h>

#include "base/str.h"

enum { KEYS_MAX = 4 };

struct keys {
	struct str key[KEYS_MAX];
	size_t n;
};

/* The same way without its last name. */
static inline struct keys keys_parent(const struct keys *k)
{
	struct keys parent = *k;

	parent.n -= parent.n > 0;
	return parent;
}

#endif
