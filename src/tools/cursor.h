/* SPDX-License-Identifier: MIT */
/*
 * cursor: where a search stopped, as a short text that a model hands back to go on.
 *
 * It is the last path and line that were given out, "120:src/a.c"; bytes of the path that are not
 * printable ASCII, and '%', are written %XX, so that it survives any client.
 */
#ifndef TOOLS_CURSOR_H
#define TOOLS_CURSOR_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/jw.h"
#include "base/str.h"

struct cursor {
	struct str path; /* empty: from the start */
	int64_t line;	 /* INT64_MAX: nothing more of that file */
};

/* An empty text is the start. INVALID_ARGUMENTS for one that cursor_write did not make. The path is
 * in the arena. */
int cursor_read(struct str text, struct arena *a, struct cursor *ret, struct err *e);

void cursor_write(struct jw *w, const char *name, const struct cursor *c);

#endif
