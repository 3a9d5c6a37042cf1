/* SPDX-License-Identifier: MIT */
/* uninstall: what it asks of setup. */
#ifndef SETUP_UNINSTALL_H
#define SETUP_UNINSTALL_H

#include <stdbool.h>

#include "cli/cli.h"

/* Take back what setup has changed for an agent in a project, or, if that is NULL, for the user.
 * Returns an exit status. */
int setup_take_back(struct cli *c, const char *agent, const char *project, bool yes, bool dry_run);

#endif
