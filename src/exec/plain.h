/* SPDX-License-Identifier: MIT */
/*
 * plain: a command line that needs no shell.
 *
 * "git status" means the same to every shell: words, of which the first names a program. All the
 * shell would do is to find it and become it, and starting the shell for that takes longer than
 * most programs do. So such a line is started directly, as make and perl do it, with the variables
 * the shell would have set. Whoever cannot start it lets the shell try: it knows what else to do,
 * and says what is wrong in the words users know.
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

/* Whether the line is plain in this environment, and its program is there. Then *p is what to hand
 * to execve: env is for mem_free, the rest in the arena. */
bool plain_prepare(struct plain *p, const char *line, char *const *env, const char *cwd,
		   struct arena *a);

#endif
