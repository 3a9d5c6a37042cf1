/* SPDX-License-Identifier: MIT */
/*
 * edit_text: replace a piece of text by another, byte for byte.
 *
 * The old text must occur exactly once, unless all occurrences are asked for. Whatever stands
 * outside the match is copied as it is: encoding, line endings and byte-order marks are not looked
 * at. When the text is not found, the message says why if that is wanted and can be known: other
 * white space, tabs against spaces, CRLF, or case, and at which line.
 */
#ifndef TOOLS_EDIT_TEXT_H
#define TOOLS_EDIT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct edit {
	struct str old_text, new_text;
	bool replace_all;
	bool exact_words; /* a failure is said in the words of the existing API, without the reason
			   */
};

/* Append the edited content to out; returns the number of replacements, or -1 with TEXT_NOT_FOUND,
 * TEXT_NOT_UNIQUE or NO_CHANGE. `path` is only for messages. */
int64_t edit_apply(const struct edit *edit, struct str path, struct str content, struct arena *a,
		   struct buf *out, struct err *e);

/* NO_CHANGE: also for edits that together leave the content as it was. */
int edit_fail_same(struct str path, struct err *e);

#endif
