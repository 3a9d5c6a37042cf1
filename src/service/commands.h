/* SPDX-License-Identifier: MIT */
/*
 * commands: what runs commands, as configured: a spawner with its sandbox.
 */
#ifndef SERVICE_COMMANDS_H
#define SERVICE_COMMANDS_H

#include "base/err.h"
#include "config/config.h"
#include "exec/spawner_client.h"
#include "workspace/workspace.h"

/*
 * Start the spawner for this configuration. The sandbox asked for is in force, or this fails with
 * the remedy. When nothing but read-only mode needs a sandbox and this machine cannot give it,
 * files can still be served: then *ret is NULL, *e says why, and commands are to be refused. So it
 * is with whatever goes wrong when another program starts the commands (config.program).
 */
int commands_start(const struct config *c, const struct workspace *ws, struct spawner **ret,
		   struct err *e);

/* The resource limits of every command. */
struct proc_limits commands_limits(const struct config *c);

#endif
