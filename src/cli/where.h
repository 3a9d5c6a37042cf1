/* SPDX-License-Identifier: MIT */
/*
 * where: which sidecar a command of the command line speaks to.
 *
 * In this order: the one that an option, a variable or a file of settings names; the running one
 * whose workspace holds the current directory (or that of --workspace) most closely; otherwise none.
 * Never one of another workspace. What was changed in a workspace can be looked at and taken back
 * without one.
 */
#ifndef CLI_WHERE_H
#define CLI_WHERE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "config/config.h"
#include "sidecar.h"

/* A running sidecar of this user, as it has entered itself. */
struct running_at {
	struct running_at *next;
	pid_t pid;
	struct str workspace, since; /* empty for an MCP server */
	const char *socket;	     /* or NULL: … */
	const char *host;	     /* … it has a port only */
	int port;
	bool is_mcp, needs_token;
};

/* All of them, in the arena, by pid. */
struct running_at *where_list(struct arena *a);

/* How many bytes of the directory's path the workspace covers; 0: it does not hold it. */
size_t where_holds(struct str workspace, struct str directory);

/* What is asked for. */
struct where_asked {
	bool is_named;	       /* by an option */
	const char *directory; /* NULL: the current one */
	bool history;	       /* the journal of the workspace is enough */
};

enum where { WHERE_SERVER, WHERE_USUAL, WHERE_HISTORY };

/* Find it. With WHERE_SERVER *config has its address. With WHERE_USUAL none has entered itself, and
 * one may be at the usual address, whose workspace is still to be compared (where_check). With
 * WHERE_HISTORY `workspace` has the directory whose journal is to be used. -1 with a sentence that
 * names those that run. */
int where_find(const struct where_asked *q, struct config *config, struct arena *a,
	       char workspace[SIDECAR_PATH_MAX], enum where *ret, struct err *e);

/* Whether it serves the directory that is meant; -1 with a sentence. */
int where_check(const struct where_asked *q, struct sidecar *s, struct sidecar_error *error);

#endif
