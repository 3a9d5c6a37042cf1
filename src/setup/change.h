/* SPDX-License-Identifier: MIT */
/*
 * change: one row of the table, applied to the text of its file, looked for in it, or taken out.
 *
 * All but check_agent (check.c) is text to text; place.h reads and writes the files.
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
	char self[PATH_MAX]; /* the path of this program */
};

/* Change the text so that it has what the row says. CONFLICT if the name is taken by an MCP server
 * that does not run the sidecar. */
int change_apply(const struct agent_row *row, enum conf_form form, const struct change_names *names,
		 struct buf *text, struct err *e);

/* Take out of the text what the row has given it; `before` is the text before that. A value that
 * was changed since is left alone. */
int change_revert(const struct agent_row *row, enum conf_form form,
		  const struct change_names *names, struct str before, struct buf *text,
		  struct err *e);

/* What a text says about a row. */
enum change_state { CHANGE_ABSENT, CHANGE_DIFFERS, CHANGE_APPLIED };

int change_look(const struct agent_row *row, enum conf_form form, const struct change_names *names,
		struct str text, enum change_state *ret, struct err *e);

/* Whether the MCP server at these keys of a text runs the sidecar, by its name in PATH or by the path
 * of this program. */
bool change_runs_sidecar(enum conf_form form, const struct change_names *names, struct str text,
			 const struct key_path *server);

/* Whether a value is the text that a configuration has for the sidecar's program. */
bool change_is_program(const struct change_names *names, struct str value);

/* For agents whose other MCP servers are turned off one by one: the row that does so to the i-th
 * server of a text. False after the last. Its second key is the name, in `memory`. */
bool change_other_server(struct str text, size_t i, struct arena *memory, struct agent_row *ret);

/*
 * check: whether an agent is connected, and whether it has a way around the sidecar.
 *
 * It reads the configuration files that the agent would read here: the project's, then the user's;
 * and looks for all else that the agent would run when it starts: hooks, status lines, other MCP
 * servers, plugins. It cannot see what is given on the agent's command line.
 */

struct check {
	bool connected;	     /* a configuration has the sidecar as an MCP server */
	size_t ways;	     /* how many ways around there are … */
	size_t settable;     /* … and how many of them `setup --only` takes away */
	struct buf *reasons; /* one line for each */
};

/* Whether the agent reads a file with that text; else INVALID_CONFIG, and the sentence says why. */
int check_text(const struct agent_file *f, const char *path, struct str text, struct err *e);

/* Look at the agent's files. `reasons` must be given in ret. */
int check_agent(const struct agent *agent, const struct change_names *names, struct check *ret,
		struct err *e);

/* Add a line for each agent: installed, connected, held. */
void check_list(const struct change_names *names, struct buf *out);

#endif
