/* SPDX-License-Identifier: MIT */
/*
 * wild: one wildcard pattern, compiled once, matched in bounded time.
 *
 * A compiled pattern is constant and may be used by many threads. Most patterns are a literal, or a
 * literal with one "*" in it, and cost two comparisons. All others run as a set of states over the
 * text: the time is at most pattern × text, so "*a*a*a*b" is as harmless as "*".
 *
 *	*	any number of characters, but no "/"
 *	**	between slashes or at an end: also across "/"; "**" and "/" together may match
 *		nothing, so that "a/" "**" "/b" finds a/b
 *	?	one character, but no "/"
 *	[a-z]	one of these, [!a-z] and [^a-z] one of the others, never "/"; [[:alpha:]] too
 *	{a,b}	one of these patterns, may be nested (not in a .gitignore)
 *	@(a|b)	the same; ?(a|b) one or none of them, *(a|b) any number, +(a|b) at least one, and
 *		!(a|b) what none of them matches, within a component (not in a .gitignore); without
 *		a closing parenthesis they are plain text
 *	\x	x itself
 *
 * There are two dialects. The ordinary one is for patterns in requests: characters are UTF-8 (a
 * byte that is not UTF-8 is a character of its own) and a mistake is an error. The other is exactly
 * that of .gitignore: characters are bytes, braces are plain text, and a malformed pattern matches
 * nothing.
 */
#ifndef SEARCH_WILD_H
#define SEARCH_WILD_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct wild;

enum {
	WILD_GIT = 1 << 0,    /* the dialect of .gitignore */
	WILD_NOCASE = 1 << 1, /* ASCII letters match in either case */
};

/* Compile. INVALID_GLOB says what is wrong and where; in the .gitignore dialect only a lack of
 * memory is an error. The pattern need not outlive the call. */
int wild_new(struct str pattern, unsigned flags, struct wild **ret, struct err *e);
void wild_free(struct wild *w);

/* The byte that every match begins or ends with, or -1 when it may be any. */
int wild_first(const struct wild *w);
int wild_last(const struct wild *w);

/* Whether the pattern matches the whole text. */
bool wild_match(const struct wild *w, struct str text);

#endif
