/* SPDX-License-Identifier: MIT */
/*
 * plain: a command line that needs no shell.
 *
 * "git status" means the same to every shell: words, of which the first names a program. The shell
 * would only find the program and execute it, and starting the shell takes longer than most
 * programs run. So such a line is executed directly, as make and perl do it, with the variables
 * that the shell would have set. If it cannot be executed, the shell gets the line after all: it
 * knows what else to do, and reports what is wrong in words that users know.
 */
#ifndef EXEC_PLAIN_H
#define EXEC_PLAIN_H

#include <limits.h>
#include <stdbool.h>

#include "base/arena.h"

struct plain {
	char program[PATH_MAX]; /* absolute, or from the working directory */
	char **argv;
	char **env;
};

/* Can the words of such a line (exec/proc.h) be executed in this environment without a shell,
 * and does the program exist? Then *p is for execve: env must be freed by mem_free, the rest is in
 * the arena or points to the words. */
bool plain_prepare(struct plain *p, char *const *words, size_t count, char *const *env,
		   const char *cwd, struct arena *a);

#endif
