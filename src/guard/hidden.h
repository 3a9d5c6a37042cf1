/* SPDX-License-Identifier: MIT */
/*
 * hidden: what agents must not see: names whose content is kept from them.
 *
 * A pattern is in gitignore's syntax and about the workspace; with "~/" at its beginning about the
 * home directory, with "/" absolute. The names themselves are no secret.
 *
 * With namespaces each match is covered by something that cannot be read. All tools ask hidden_is
 * about what they have opened: a link or ".." does not help, nor another name of the same file.
 * The workspace is searched for matches when the server starts, and again before a command, but for
 * no more than a hundredth of the time. What is known, and what a pattern without wildcards names, is
 * looked at before each command, and a directory of such a name is watched while commands run.
 */
#ifndef GUARD_HIDDEN_H
#define GUARD_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "guard/patterns.h"

struct hidden;

struct hidden_options {
	const char *root; /* of the workspace, canonical */
	const char *home; /* or NULL */
	struct str own;	  /* the operator's patterns, one a line */
	bool own_alone;	  /* those of .sidecarignore do not count */
	bool defaults;	  /* also the table of what a home directory has */
};

/* The file .sidecarignore of the workspace adds patterns. */
int hidden_new(const struct hidden_options *o, struct hidden **ret, struct err *e);
void hidden_free(struct hidden *h); /* accepts NULL */

/* Can tools, which may use what lies outside the workspace or not, reach something that is hidden? */
bool hidden_is_here(const struct hidden *h, bool outside);

/* Is an absolute name without links hidden? And what a descriptor refers to? */
bool hidden_has(struct hidden *h, const char *name);
bool hidden_is(struct hidden *h, int fd);

/* The same with a path relative to the workspace. */
bool hidden_path(struct hidden *h, struct str path);

/* May a tool change, move or remove what has that absolute name? Not what is hidden, nor what
 * contains it: by another name it could be seen. PATH_HIDDEN. */
int hidden_permits(struct hidden *h, const char *name, struct err *e);

/* For the sandbox: add (strings_add) what is to be covered, which is remembered, and count it. Fails
 * if there is more than can be found and covered. And whether there is something else since. */
int hidden_covers(struct hidden *h, struct buf *names, uint32_t *count, struct err *e);
bool hidden_has_changed(struct hidden *h);

#endif
