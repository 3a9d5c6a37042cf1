/* SPDX-License-Identifier: MIT */
/*
 * stdin_text: what a command will read from its standard input, where the text itself tells.
 *
 * That is a here-document, a here-string, or what `echo`, `printf` or a `cat` of one of these
 * writes into its pipe.
 */
#ifndef POLICY_STDIN_TEXT_H
#define POLICY_STDIN_TEXT_H

#include "policy/shell.h"

/* The text, in the arena or in the script; "" when it is not known. Of printf the format and the
 * arguments follow each other on lines of their own. */
struct str stdin_text(const struct shell_command *c, struct arena *a);

#endif
