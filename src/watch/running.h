/* SPDX-License-Identifier: MIT */
/*
 * running: the sidecars of this user that run, what they say of themselves, and which one is meant.
 */
#ifndef WATCH_RUNNING_H
#define WATCH_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "watch/subject.h"

/* One that runs. Everything is in the arena. */
struct running {
	struct running *next;
	struct subject target;
	pid_t pid;
	struct str kind, workspace; /* "serve" or "mcp" */
	struct str client;	    /* of MCP; or empty */
	struct str since;	    /* "2026-05-04T09:13:02Z" */
	int64_t calls, under_way;   /* -1: it does not tell without its token */
};

/* All of them, by pid. `token` is what those that want one are sent; or NULL. */
struct running *running_list(struct arena *a, const char *token);

/* Add a table for people. */
void running_show(const struct running *list, struct buf *out);

/* The one that is meant: the one that options or the environment name; --pid; the only one; the one
 * whose workspace holds the current directory. Returns EXIT_OK; or another exit status after it has
 * said what to do. */
int running_choose(struct cli *c, int64_t pid, struct subject *ret);

#endif
