/* SPDX-License-Identifier: MIT */
/*
 * canonical: the one name of a directory or file that leads to it without links.
 *
 * What the operator names is made canonical once, when the server starts. A spawner that replaces
 * another opens it by that name again, and by then a command may have put a link somewhere into it:
 * to follow that link would open the sandbox to wherever it leads.
 */
#ifndef SANDBOX_CANONICAL_H
#define SANDBOX_CANONICAL_H

#include <limits.h>
#include <stdbool.h>

/* The canonical name of what is there now; NULL with errno if there is nothing. ELOOP: the path
 * lies in `home` (or NULL), but a link leads out of it, and commands can make links there. */
const char *canonical_name(const char *path, const char *home, char ret[PATH_MAX]);

/* The same of an absolute path whose last parts, behind links too, need not be there. */
bool canonical_lead(const char *path, char ret[PATH_MAX]);

/* Open by a canonical name (O_PATH). A descriptor, or -1 with errno: ELOOP for a link anywhere. */
int canonical_open(const char *name);

/* Is the path the directory, or below it, by name alone? */
bool canonical_is_in(const char *path, const char *dir);

/* The absolute name of a name in an open directory. False without /proc: then nothing can be named. */
bool canonical_in(int dir, const char *name, char ret[2 * PATH_MAX]);

#endif
