/* SPDX-License-Identifier: MIT */
/*
 * edit: replace one text by another, byte for byte.
 *
 * The old text must occur exactly once, unless all occurrences are to be replaced. Everything
 * outside of it is copied as it is: encoding, line endings and byte-order marks do not matter. If
 * the text is not found, the message says why, where that is known: other white space, tabs instead
 * of spaces, CRLF, or case, and in which line.
 */
#ifndef TOOLS_EDIT_H
#define TOOLS_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "tools/tool.h"

struct edit {
	struct str old_text, new_text;
	bool replace_all;
	bool no_hints; /* the message does not say why the text is not found */
	bool insert; /* instead: new_text becomes lines of its own after this line; 0: before all */
	int64_t after_line;
};

/* Append the edited content to out. Returns the number of replacements; or -1 with TEXT_NOT_FOUND,
 * TEXT_NOT_UNIQUE, NO_CHANGE or FILE_TOO_LARGE. `path` is only for messages. */
int64_t edit_apply(const struct edit *edit, struct str path, struct str content, struct arena *a,
		   struct buf *out, struct err *e);

/* Do one edit of a file of the workspace, and show it to a model. */
int edit_run_one(struct call *c, struct str path, const struct edit *edit, struct result *ret,
		 struct err *e);

#endif
