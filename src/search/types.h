/* SPDX-License-Identifier: MIT */
/*
 * types: types of files by name: "c", "py", "js" …
 *
 * The names are those of ripgrep and the usual ones ("py" and "python").
 */
#ifndef SEARCH_TYPES_H
#define SEARCH_TYPES_H

#include <stdbool.h>

#include "base/str.h"

struct file_type;

/* The type with that name in any case, or NULL. */
const struct file_type *type_by_name(struct str name);

/* Whether a file, by the last component of its path, is of that type. */
bool type_has(const struct file_type *type, struct str name);

#endif
