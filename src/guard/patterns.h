/* SPDX-License-Identifier: MIT */
/*
 * patterns: a list of patterns in gitignore's syntax, and which of them decides about a path.
 *
 * A rule for a directory is about everything in it. The deepest name about which a rule speaks
 * decides, and of several rules the last; so "!a/b" takes b out of a rule for a. Constant once it is
 * filled.
 */
#ifndef GUARD_PATTERNS_H
#define GUARD_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "search/ignore.h"

enum { PATTERNS_MOST = 256 };

/* The zero value has no rules. */
struct patterns {
	struct ignore *all; /* of all rules: most paths are about none */
	struct ignore *each[PATTERNS_MOST];
	struct str text[PATTERNS_MOST]; /* borrowed */
	size_t count;
};

/* Add one rule for each line of a text, which must outlive them. False if there are too many, or no
 * memory. */
bool patterns_add(struct patterns *r, struct str lines);
void patterns_done(struct patterns *r);

enum { PATTERNS_SILENT = -1, PATTERNS_FREE = -2 };

/* The number of the rule that says yes to a path, which is relative; PATTERNS_FREE if one with "!"
 * decides; PATTERNS_SILENT if none does. */
int patterns_match(const struct patterns *r, struct str path, bool is_dir);

/* The same if no rule says yes to a directory above it. */
int patterns_match_name(const struct patterns *r, struct str path, bool is_dir);

#endif
