/* SPDX-License-Identifier: MIT */
/*
 * sandbox_probe: what is in force, found by trying.
 *
 * A child enters the sandbox and attempts, harmlessly, what it must not be able to do. What a
 * protection of the floor does not stop is an error; what this kernel or the missing namespaces
 * cannot stop is listed as not in force, with the reason.
 */
#ifndef SANDBOX_SANDBOX_PROBE_H
#define SANDBOX_SANDBOX_PROBE_H

#include "sandbox/sandbox.h"

int sandbox_probe(const struct sandbox *sb, const struct sandbox_config *config, bool namespaces,
		  struct sandbox_report *report, struct err *e);

#endif
