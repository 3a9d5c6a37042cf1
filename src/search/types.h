/* SPDX-License-Identifier: MIT */
/*
 * types: kinds of files by name: "c", "py", "js" …
 *
 * The names of the kinds are those of ripgrep and of what people say ("py" and "python").
 */
#ifndef SEARCH_TYPES_H
#define SEARCH_TYPES_H

#include <stdbool.h>

#include "base/str.h"

struct file_type;

/* The kind with that name in any case, or NULL. */
const struct file_type *type_by_name(struct str name);

/* Whether a file, by the last component of its path, is of that kind. */
bool type_has(const struct file_type *type, struct str name);

#endif
