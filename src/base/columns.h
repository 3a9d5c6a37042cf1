/* SPDX-License-Identifier: MIT */
/*
 * columns: text for people on a terminal, which others have chosen: colours, and lines in columns.
 *
 * Nothing that is added here is obeyed by a terminal: control characters, and those that turn the
 * direction of writing around, are replaced. Widths are those of utf8.h.
 */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum log_colour { LOG_PLAIN, LOG_DIM, LOG_BOLD, LOG_RED, LOG_GREEN, LOG_YELLOW, LOG_CYAN };

/* Whether a terminal would obey the character instead of showing it; or show what comes after it
 * backwards. */
bool columns_is_control(uint32_t c);

/* How many columns the terminal at that descriptor has, at most as many as the eye can follow. */
size_t columns_of(int fd);

/* Add a text, as it is, in that colour if `coloured`. */
void columns_paint(struct buf *b, bool coloured, enum log_colour colour, struct str s);

/* Add as much of the text as fits the columns; "…" stands for the rest. Returns the columns that
 * are left. */
size_t columns_fit(struct buf *b, struct str s, size_t room);

/* The same, filled up with blanks. */
void columns_cell(struct buf *b, struct str s, size_t room);

/* Add text of our own, which begins after `indent` columns, and a newline. What does not fit goes on in
 * lines with that indentation; 0 columns: everything fits. */
void columns_wrap(struct buf *b, struct str text, size_t indent, size_t columns);

/* What a line says of a call. */
struct log_line {
	struct str name, subject, outcome, duration;
	enum log_colour colour; /* of the outcome */
};

/* Add it in that many columns, with its newline. The clock, "08:49:37", is left out if there is no
 * room for it; the subject is cut. */
void columns_line(struct buf *b, bool coloured, size_t columns, struct str clock,
		  const struct log_line *l);

/* Add what a line of a program's output shows: without escape sequences, and after the last return
 * to its beginning. Tabs become blanks. Other control characters stay, which the functions above
 * replace. A long line is cut to the room that `out` has. */
void columns_plain(struct str line, struct buf *out);

#endif
