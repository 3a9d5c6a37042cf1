/* SPDX-License-Identifier: MIT */
/* plain: a line of a program's output without what it says to the terminal. */
#ifndef WATCH_PLAIN_H
#define WATCH_PLAIN_H

#include "base/buf.h"
#include "base/str.h"

/* Add what the line shows: without escape sequences, and after the last return to its beginning.
 * Tabs become blanks. Other control characters stay: columns.h replaces them. A long line is cut to
 * the room that `out` has. */
void plain_line(struct str line, struct buf *out);

#endif
