/* SPDX-License-Identifier: MIT */
/*
 * redraw: a line of a terminal, and the cursor in it.
 *
 * Text goes where the cursor is and replaces what is there, column by column. A wide character has
 * two columns, a mark none: it joins the character before it. A tab reaches to the next stop; over
 * text it only moves the cursor. What is left of a wide character or a tab of which a part is
 * replaced is blank.
 *
 * The line is kept as bytes: as long as it is not redrawn, text is only added to it. It has at most
 * LIMIT_SCREEN_LINE bytes. When it would get longer, it is passed on to `out` as it stands, and
 * what follows is like a line of its own.
 */
#ifndef TOOLS_REDRAW_H
#define TOOLS_REDRAW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"

/* The zero value is an empty line. If there is no memory, line.failed is set. */
struct redraw {
	struct buf line; /* a column that was erased is a NUL */
	size_t at;	 /* the cursor: a character in the line, or its end … */
	size_t over;	 /* … and columns to the right of where that begins */
	size_t even;	 /* bytes from the start that are known to be one column each */
	bool erased;	 /* the line has NULs */

	struct utf8_stream cut; /* a character of which only the beginning has come */
};

/* Write text. It has no control characters except tabs, and may end within a character. */
void redraw_put(struct redraw *r, struct str text, struct buf *out);

/* To be called before the cursor is moved: what has come of a character is all of it. */
void redraw_settle(struct redraw *r, struct buf *out);

/* The column of the cursor, from 0. */
size_t redraw_column(struct redraw *r);

/* Put the cursor on a column. The space after the end of the line goes to the column
 * LIMIT_SCREEN_COLUMNS: there is the edge of the terminal. */
void redraw_move(struct redraw *r, size_t column);

/* As the numbers of CSI K say it. */
enum redraw_part {
	REDRAW_AFTER,  /* the cursor and everything after it */
	REDRAW_BEFORE, /* the cursor and everything before it */
	REDRAW_ALL,
};

/* Erase a part of the line; the cursor stays. Any other number means everything. */
void redraw_erase(struct redraw *r, enum redraw_part what, struct buf *out);

/* Add the line to out, and after it `end`. The line is empty then. */
void redraw_end(struct redraw *r, struct str end, struct buf *out);

bool redraw_is_empty(const struct redraw *r);

void redraw_done(struct redraw *r);

#endif
