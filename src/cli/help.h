/* SPDX-License-Identifier: MIT */
/* help: what the tables of the verbs say, for a person at a terminal. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

/* Write examples and the list of verbs to stdout or stderr. */
void help_all(const struct verb *const *verbs, int fd);

/* Print examples, usage and options of one verb. */
void help_verb(const struct verb *v);

/* Report that there is no such verb, and which one was probably meant. Returns EXIT_USAGE. */
int help_unknown(struct cli *c, const char *name);

#endif
