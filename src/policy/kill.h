/* SPDX-License-Identifier: MIT */
/*
 * kill: does a command signal processes that it has not named one by one?
 *
 * Where commands see the processes of others, "all node processes" includes the client of the
 * sidecar itself, and kill -1 means everything that the user runs.
 */
#ifndef POLICY_KILL_H
#define POLICY_KILL_H

#include <stdbool.h>

#include "policy/shell_command.h"

/* A kill whose target is 0 or -1, in any spelling: its own group, or everything. */
bool kill_is_broad(const struct shell_command *c);

/* A kill whose targets are not in the text; `grows`: words are added to it when it runs. */
bool kill_is_blind(const struct shell_command *c, bool grows);

/* Does the command look processes up by their names? */
bool kill_looks_up(const struct shell_command *c);

#endif
