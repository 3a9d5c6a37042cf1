/* SPDX-License-Identifier: MIT */
/*
 * edited: how a model is told of a change to a file.
 *
 * A diff that is too long for the answer is cut at a hunk, and a line in square brackets says what
 * is not shown. Everything is written before the change is made: an answer that fails afterwards
 * would hide it.
 */
#ifndef TOOLS_EDITED_H
#define TOOLS_EDITED_H

#include "base/str.h"
#include "tools/tool.h"
#include "workspace/diff.h"

/* The member "diff" of an observation. */
void edited_write(struct call *c, struct str diff);

/* The text of a result: "[edited src/a.c, +3 -1]" and the diff, which may be empty. `done` is the
 * word for what was done; `more` is added after the numbers. */
void edited_show(struct call *c, const char *done, struct str path, struct str diff,
		 const char *more);

/* The same for one file of several, whose lines are counted already. */
void edited_show_part(struct call *c, const char *done, struct str path, struct diff_size size,
		      struct str diff, const char *more);

/* FILE_TOO_LARGE or TOO_BUSY if the answer could not take what was written. */
int edited_check(const struct call *c, struct err *e);

#endif
