/* SPDX-License-Identifier: MIT */
/*
 * way: an absolute path as a caller sees it, and the links in /proc by which a process reaches what it
 * has itself.
 *
 * Only text is changed here; the resolver opens what it means. Functions that fail return -1 with
 * errno.
 */
#ifndef SUPERVISE_WAY_H
#define SUPERVISE_WAY_H

#include <limits.h>

#include "base/str.h"

/* An absolute path as the caller sees it, with links and dots in it; longer ones do not exist. */
struct caller_path {
	char text[2 * PATH_MAX];
	size_t n;
};

/* Make a path of a directory and what is in it. The directory may be its own beginning, what is in it
 * may not. ENAMETOOLONG. */
int way_join(struct caller_path *ret, struct str start, struct str rest);

/* Without slashes at its beginning. */
struct str way_below(struct str s);

/* What a link in the caller's directory in /proc leads to. ENOTDIR: that has no name. */
int way_link(int proc, const char *what, char to[PATH_MAX]);

/* If the path begins with such a link of its own (/proc/self/cwd, /dev/fd/3), put in what that leads
 * to; a thread's directory is found by its number alone. */
int way_replace_magic(int proc, struct caller_path *p);

#endif
