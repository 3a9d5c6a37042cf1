/* SPDX-License-Identifier: MIT */
/*
 * shell_command: one simple command of a shell text, as a list of words.
 *
 * The words of a command are as the program would get them, without quotes and escapes; only braces
 * {a,b} and patterns are as they are written. What is only known at run time ($VAR, a substitution)
 * is one NUL byte in the text; $HOME is known well enough to be written ~.
 */
#ifndef POLICY_SHELL_COMMAND_H
#define POLICY_SHELL_COMMAND_H

#include <stddef.h>

#include "base/str.h"

enum {
	SHELL_QUOTED = 1 << 0,	/* part of it was quoted: not a keyword */
	SHELL_UNKNOWN = 1 << 1, /* parts are known only at run time */
	SHELL_ASSIGN = 1 << 2,	/* has the form NAME=…, NAME+=… or NAME[…]=… */
};

struct shell_word {
	struct str text;
	unsigned flags;
};

struct shell_command {
	struct shell_word *words; /* never empty */
	size_t n;
	const struct str *input; /* its here-document or here-string, or NULL */
	struct shell_command *next;
};

#endif
