/* SPDX-License-Identifier: MIT */
/*
 * ignore: the rules of .gitignore and its kin.
 *
 * A set of rules is one file's lines. It is constant once made and may be used by many threads. It
 * is reference-counted: a set holds the set of the enclosing directory (`up`), so the rules for a
 * directory are a chain from its own file to the outermost one. The innermost file with a rule that
 * matches decides, and in it the last such rule, as in git:
 *
 *	name	in this directory and below	/name, a/name	only here
 *	name/	directories only		!name		not ignored
 *	# …	a comment			"\ " at the end	a blank that counts
 *
 * As in git, rules are not applied within an ignored directory, so "!" cannot bring back anything
 * in it. Literal names and "*.ext" are found by hashing, however many there are.
 */
#ifndef SEARCH_IGNORE_H
#define SEARCH_IGNORE_H

#include <stdbool.h>

#include "base/str.h"

struct ignore;

enum ignore_verdict {
	IGNORE_SILENT, /* no rule matches */
	IGNORE_YES,
	IGNORE_NO, /* a rule with "!" matches */
};

/*
 * Rules from the text of an ignore file in the directory whose path, with a "/" at the end, is
 * `depth` bytes long (0 for the outermost). Takes over the caller's reference to `up`, which may be
 * NULL. When the text has no rules, or there is no memory for them, the result is `up` itself.
 */
struct ignore *ignore_new(struct str text, size_t depth, struct ignore *up);

/* Add or drop a reference; set may be NULL. */
struct ignore *ignore_hold(struct ignore *set);
void ignore_drop(struct ignore *set);

/* What the chain says about a path, relative to the outermost directory and without a "/" at the
 * end; its last component starts at name_at. An empty chain (NULL) is silent. */
enum ignore_verdict ignore_match(const struct ignore *set, struct str path, size_t name_at,
				 bool is_dir);

#endif
