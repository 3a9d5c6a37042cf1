/* SPDX-License-Identifier: MIT */
/*
 * progress: a line on the terminal that says how far something has come and how long it has taken:
 * "main( … 12,345 files, 1.2 s".
 *
 * It appears on stderr after half a second, only when that is a terminal, and is erased in the end.
 * Everywhere else c->progress stays NULL, which the other functions accept.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli/cli.h"

struct progress;

/* Would there be a line? */
bool progress_is_wanted(const struct cli *c);

/* From now on c->progress says how it goes; `unit` is what is counted. */
void progress_begin(struct cli *c, const char *what, const char *unit);
void progress_end(struct cli *c);

/* So many so far. */
void progress_count(struct progress *p, int64_t count);

/* Erase the line, because something else is about to be printed; it comes back by itself. */
void progress_hide(struct progress *p);

#endif
