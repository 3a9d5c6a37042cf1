/* SPDX-License-Identifier: MIT */
/*
 * wrapper: commands that run other commands.
 *
 * `timeout 5 env A=1 xargs sudo` runs sudo. Opening a command tells what it would run next: other
 * words of its own (env, nohup, xargs, find -exec …) or a text in the shell's language (bash -c,
 * eval, trap, a here-document that feeds a shell, literal text piped into one). One layer at a
 * time: the one who opens opens again.
 */
#ifndef POLICY_WRAPPER_H
#define POLICY_WRAPPER_H

#include "policy/shell.h"

/* One thing a wrapper runs. */
struct wrapped {
	struct shell_command command; /* with words, when it is a command */
	struct str text;	      /* else: shell text */
	struct wrapped *next;
};

/* What the command runs besides itself, in the arena; NULL when nothing is known of it. */
struct wrapped *wrapper_open(const struct shell_command *c, struct arena *a);

#endif
