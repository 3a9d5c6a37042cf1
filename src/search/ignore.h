/* SPDX-License-Identifier: MIT */
/*
 * ignore: the rules of .gitignore and its kin.
 *
 * A set of rules is one file's lines. It is constant once made and may be used by many threads. It
 * is counted: a set holds the set of the enclosing directory (`up`), so the rules for a directory
 * are a chain from its own file to the outermost one. The last rule that fits in the innermost file
 * decides, as in git:
 *
 *	name	in this directory and below	/name, a/name	only here
 *	name/	directories only		!name		not ignored after all
 *	# …	a comment			"\ " at the end	a blank that counts
 *
 * As in git, what lies in an ignored directory is not asked about, so nothing in it can be taken
 * back. Literal names and "*.ext" are found by hashing, however many there are.
 */
#ifndef SEARCH_IGNORE_H
#define SEARCH_IGNORE_H

#include <stdbool.h>

#include "base/str.h"

struct ignore;

enum ignore_verdict {
	IGNORE_SILENT, /* no rule fits */
	IGNORE_YES,
	IGNORE_NO, /* a rule with "!" fits */
};

/*
 * Rules from the text of an ignore file in the directory whose path is `depth` bytes long with its
 * "/" behind (0 for the outermost). Takes over the caller's count of `up`, which may be NULL. When
 * the text has no rules, or there is no memory for them, the result is `up` itself.
 */
struct ignore *ignore_new(struct str text, size_t depth, struct ignore *up);

struct ignore *ignore_hold(struct ignore *set); /* counts one more owner; NULL stays NULL */
void ignore_drop(struct ignore *set);

/* What the chain says about a path, relative to the outermost directory and without "/" behind;
 * name_at is where its last component starts. An empty chain (NULL) is silent. */
enum ignore_verdict ignore_match(const struct ignore *set, struct str path, size_t name_at,
				 bool is_dir);

#endif
