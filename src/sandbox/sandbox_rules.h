/* SPDX-License-Identifier: MIT */
/* sandbox_rules: the table in docs/security.md of what may be read and written, as file rules. */
#ifndef SANDBOX_SANDBOX_RULES_H
#define SANDBOX_SANDBOX_RULES_H

#include "sandbox/sandbox.h"

/* The Landlock rule set for a settled configuration: a descriptor, or -1. */
int sandbox_rules(const struct sandbox_config *config, bool namespaces, struct err *e);

#endif
