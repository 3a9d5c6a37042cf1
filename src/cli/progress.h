/* SPDX-License-Identifier: MIT */
/*
 * progress: a line on the terminal that shows how far something has come and how long it has taken:
 * "main( … 12,345 files, 1.2 s".
 *
 * It appears on stderr after half a second without output and is erased at the end. All functions
 * accept NULL.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress;

/* `what` is shown at the start of the line, `unit` is what is counted. NULL when there is no memory
 * or no thread for it. */
struct progress *progress_new(const char *what, const char *unit);

/* Erase the line and end the thread. Returns whether there was a line. */
bool progress_free(struct progress *p);

/* Set the count. */
void progress_count(struct progress *p, int64_t count);

/* Erase the line, because something else is about to be printed. It comes back by itself when that
 * was half a second ago; with `stay` it does not. */
void progress_hide(struct progress *p);
void progress_pause(struct progress *p, bool stay);

#endif
