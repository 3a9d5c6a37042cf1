/* SPDX-License-Identifier: MIT */
/*
 * shell: what a shell would run, read off its text without running it.
 *
 * A text in the language of bash becomes the flat list of its simple commands, in the order in
 * which they end: those behind ; && || | & and newline, in subshells, groups, conditions, loops,
 * case branches and function bodies, and those in $(…), `…`, <(…) and >(…), wherever such a
 * substitution stands: in a word, in quotes, in an expansion ${…}, in arithmetic, in an array, in a
 * here-document. Keywords, operators, assignments, redirections and comments are gone.
 *
 * The words of a command are as the program would get them: quotes and escapes removed, braces
 * {a,b} expanded. What only the run can tell ($VAR, a substitution) is one NUL byte in the text;
 * $HOME is known well enough to be written ~.
 *
 * The reader is generous where bash is not: text that bash would refuse yields the commands that
 * could be made out. It never reads less than bash does. What it cannot follow (nesting beyond
 * LIMIT_SHELL_DEPTH, braces beyond LIMIT_BRACE_…) it reports instead of guessing.
 */
#ifndef POLICY_SHELL_H
#define POLICY_SHELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	SHELL_QUOTED = 1 << 0,	/* some of it was quoted: never a keyword */
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
	const struct str *input;	  /* its here-document or here-string, or NULL */
	const struct shell_command *from; /* the command whose output is piped in, or NULL */
	struct shell_command *next;
};

struct shell_script {
	struct shell_command *first;
	struct str chain; /* the first thing in it that makes it more than one command, or "" */
};

/* Read a text that already stands `depth` levels deep in another. 0; or -1 with COMMAND_BLOCKED
 * when it cannot be followed. Texts of words may point into `text`. */
int shell_read(struct str text, unsigned depth, struct arena *a, struct shell_script *ret,
	       struct err *e);

#endif
