/* SPDX-License-Identifier: MIT */
/*
 * wrapper: commands that run other commands.
 *
 * `timeout 5 env A=1 xargs sudo` runs sudo. Opening a command tells what it would run next: other
 * words of its own (env, nohup, xargs, find -exec …) or a text in the shell's language (bash -c,
 * eval, trap, a here-document that feeds a shell). It opens one layer; the caller opens the result
 * again.
 */
#ifndef POLICY_WRAPPER_H
#define POLICY_WRAPPER_H

#include "base/arena.h"
#include "policy/shell_command.h"

/* One thing a wrapper runs. */
struct wrapped {
	struct shell_command command; /* with words if it is a command */
	struct str text;	      /* otherwise: shell text */
	bool grows;		      /* words are added to it when it runs */
	struct wrapped *next;
};

/* What the command runs besides itself, in the arena; NULL if it runs nothing that is known. */
struct wrapped *wrapper_open(const struct shell_command *c, struct arena *a);

#endif
