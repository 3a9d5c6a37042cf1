/* SPDX-License-Identifier: MIT */
/*
 * shell: which commands a shell would run, found by reading its text.
 *
 * A text in the language of bash becomes the flat list of its simple commands, in the order in
 * which they end: those after ; && || | & and newline, in subshells, groups, conditions, loops,
 * case branches and function bodies, and those in $(…), `…`, <(…) and >(…), wherever such a
 * substitution is: in a word, in quotes, in an expansion ${…}, in arithmetic, in an array, in a
 * here-document. Keywords, operators, assignments, redirections and comments are removed.
 *
 * The reader accepts more than bash: of a text that bash would refuse it returns the commands that
 * it could make out. It never finds fewer commands than bash does. Nesting beyond LIMIT_SHELL_DEPTH,
 * which it cannot follow, it reports instead of guessing.
 */
#ifndef POLICY_SHELL_H
#define POLICY_SHELL_H

#include "base/arena.h"
#include "base/err.h"
#include "policy/limits.h"
#include "policy/shell_command.h"

struct shell_script {
	struct shell_command *first;
	struct str chain; /* the first thing in it that makes it more than one command, or "" */
};

/* Read a text that is `depth` levels deep in another. 0; or -1 with COMMAND_BLOCKED if it cannot be
 * followed. Texts of words may point into `text`. */
int shell_read(struct str text, unsigned depth, struct arena *a, struct shell_script *ret,
	       struct err *e);

/* The last part of a command's name: sudo for /usr/bin/sudo. */
struct str shell_basename(struct str name);

#endif
