/* SPDX-License-Identifier: MIT */
/*
 * screen: what a command writes, as a terminal shows each line at its end.
 *
 * Escape sequences (CSI, OSC and other strings, character sets) are removed. A carriage return, a
 * backspace and the cursor sequences within a line (CSI C, D, G) say where the text after them
 * goes: it replaces what is there, column by column. CSI K and J erase. Other control characters
 * are removed; tabs stay. Wide characters have two columns and marks join the character before
 * them. What moves the cursor to another line is removed without effect: lines that have ended are
 * not taken back.
 *
 *	CLEANUP(screen_done) struct screen s = { 0 };
 *	show(screen_feed(&s, piece, &aside));		for each piece
 *	show(screen_end(&s, &aside));
 *
 * The pieces may be cut anywhere; the result is the same. A line goes out once it has ended: until
 * then it could be redrawn. Memory is that of one line: what a line has beyond LIMIT_SCREEN_LINE
 * bytes cannot change its beginning any more, which goes out as it stands. Apart from that, text
 * without control characters comes out byte for byte, also where it is not UTF-8.
 *
 * A string (OSC, DCS …) that is not ended ends with its line, so that no more than a line is lost.
 */
#ifndef TOOLS_SCREEN_H
#define TOOLS_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"

/* One stream. The zero value is ready for use; everything is private. */
struct screen {
	struct buf line;	/* the line that has not ended; a column that was erased is a NUL */
	size_t at;		/* the cursor: a character in the line, or its end … */
	size_t over;		/* … and columns to the right of where that begins */
	struct utf8_stream cut; /* a character of which only the beginning has come */

	enum screen_state {
		SCREEN_TEXT,
		SCREEN_C1, /* after the first byte of U+0080 to U+009F, or of another character */
		SCREEN_ESCAPE,	/* after ESC */
		SCREEN_CHARSET, /* after ESC and a byte that is not the last one */
		SCREEN_CSI,	/* in a control sequence */
		SCREEN_STRING,	/* in an OSC or another string */
	} state;
	unsigned number; /* the first number of a control sequence */
	bool second;	 /* it has more than one */
	bool foreign;	 /* it is private, or has a form that is not known here */

	size_t sampled, bad; /* of the first bytes: how many, and how many are not text */
	unsigned due;	     /* bytes that should follow to complete a character */
};

/* What can be shown now. It is `piece` itself if nothing in it needs cleaning and nothing was held
 * (nothing is copied), else the contents of aside, which is emptied first. Its maximum should be
 * LIMIT_SCREEN_ASIDE for pieces of up to LIMIT_OUTPUT_CHUNK bytes. If aside has failed, the result
 * is empty. */
struct str screen_feed(struct screen *s, struct str piece, struct buf *aside);

/* The output has ended: the last line, if it did not end. A sequence that is not complete is
 * dropped. The screen is ready for another stream, but screen_binary still speaks of this one. */
struct str screen_end(struct screen *s, struct buf *aside);

/* Whether the output is not text: too many of its first LIMIT_SCREEN_SAMPLE bytes are NULs or
 * not UTF-8. What was fed then has nothing to show. */
bool screen_binary(const struct screen *s);

void screen_done(struct screen *s);

#endif
