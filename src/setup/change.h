/* SPDX-License-Identifier: MIT */
/*
 * change: one row of the table, applied to the text of its file, looked for in it, or taken out.
 *
 * Everything here is text to text; place.h reads and writes the files.
 */
#ifndef SETUP_CHANGE_H
#define SETUP_CHANGE_H

#include <limits.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "setup/agents.h"

/* What the table's "@" stands for. */
struct change_names {
	char program[PATH_MAX], project[PATH_MAX];
};

/* Add the text with the row applied. CONFLICT if the name is taken by an MCP server that does not
 * run the sidecar. */
int change_apply(const struct agent_row *row, enum agent_form form,
		 const struct change_names *names, struct str text, struct buf *out, struct err *e);

/* Add the text without what the row has given it; `before` is the text before that. A value that
 * was changed since is left alone. */
int change_revert(const struct agent_row *row, enum agent_form form,
		  const struct change_names *names, struct str before, struct str text,
		  struct buf *out, struct err *e);

/* What a text says about a row. */
enum change_state { CHANGE_ABSENT, CHANGE_DIFFERS, CHANGE_APPLIED };

int change_look(const struct agent_row *row, enum agent_form form, const struct change_names *names,
		struct str text, enum change_state *ret, struct err *e);

/* The keys of a row, with dots between them, for people. */
void change_add_keys(struct buf *out, const struct agent_row *row);

/* The name of the i-th MCP server of a text, other than the sidecar, that is not turned off; for
 * agents whose servers are turned off one by one. False after the last. */
bool change_other_server(struct str text, size_t i, struct arena *memory, struct str *name);

/* Add the text with that server turned off; or with all of them as they were before. */
int change_disable(struct str text, struct str server, struct buf *out, struct err *e);
int change_enable(struct str before, struct str text, struct buf *out, struct err *e);

#endif
