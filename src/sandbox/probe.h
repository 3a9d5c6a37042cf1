/* SPDX-License-Identifier: MIT */
/*
 * probe: find out what is in force by trying.
 *
 * A child enters the sandbox and attempts, harmlessly, what it must not be able to do. If such an
 * attempt succeeds although its protection was asked for, that is an error. What this kernel cannot
 * stop, or cannot stop without namespaces, is listed as not in force, with the reason.
 */
#ifndef SANDBOX_PROBE_H
#define SANDBOX_PROBE_H

#include "sandbox/sandbox_config.h"

/* Complete the report with a fact for every attempt. `rules` is the Landlock rule set that commands
 * enter, or -1; everything else is already in force in the calling process. */
int probe_run(int rules, const struct sandbox_config *config, bool namespaces,
	      struct sandbox_report *report, struct err *e);

#endif
