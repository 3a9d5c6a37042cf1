/* SPDX-License-Identifier: MIT */
/*
 * commands: the configured runner of commands with its sandbox.
 */
#ifndef SERVICE_COMMANDS_H
#define SERVICE_COMMANDS_H

#include "base/err.h"
#include "config/config.h"
#include "exec/runner.h"
#include "workspace/workspace.h"

/*
 * Start the runner for this configuration. The sandbox that was asked for is in force, or this
 * fails with the remedy. A server can also serve files without running commands: if only read-only
 * mode needs a sandbox and this machine cannot give it, or if another program starts the commands
 * (config.program) and cannot, this returns 0, *ret is NULL, and *refused says why commands must be
 * refused. If only the best sandbox was wanted and none can be made, commands run without one, and
 * *refused says why. Otherwise *refused is left alone. The directory of the journal, if it is not
 * "", is hidden from commands where there are namespaces; without one commands are not observed.
 */
int commands_start(const struct config *c, const struct workspace *ws, const char *journal,
		   struct runner **ret, struct err *refused, struct err *e);

/* Log each directory of SIDECAR_SANDBOX_WRITE and SIDECAR_SANDBOX_READ that the sandbox leaves out:
 * it does not exist, or a link leads to it out of the workspace. */
void commands_log_left_out(const struct config *c, const struct workspace *ws);

/* The resource limits of every command. */
struct proc_limits commands_limits(const struct config *c);

#endif
