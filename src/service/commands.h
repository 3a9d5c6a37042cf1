/* SPDX-License-Identifier: MIT */
/*
 * commands: the configured runner of commands with its sandbox.
 */
#ifndef SERVICE_COMMANDS_H
#define SERVICE_COMMANDS_H

#include "base/err.h"
#include "config/config.h"
#include "exec/runner.h"
#include "sandbox/gitdir.h"
#include "service/history.h"
#include "workspace/workspace.h"

struct guard;
struct hidden;

/* The git directories outside the workspace that it and the directories of SIDECAR_SANDBOX_WRITE use.
 */
struct git_dirs {
	struct gitdir workspace;
	char path[2 * PATH_GITS][PATH_MAX]; /* own, common; own, common … */
	const char *item[2 * PATH_GITS];
	size_t count; /* of paths */
};

/* Look for them, unless that is turned off: changes there are kept from now on (ws_add_git). */
void commands_find_git(const struct config *c, struct workspace *ws, struct git_dirs *ret);

/*
 * Start the runner for this configuration. The sandbox that was asked for is in force, or this
 * fails with the remedy. A server can also serve files without running commands: if only read-only
 * mode needs a sandbox and this machine cannot give it, or if another program starts the commands
 * (config.program) and cannot, this returns 0, *ret is NULL, and *refused says why commands must be
 * refused. If only the best sandbox was wanted and none can be made, commands run without one, and
 * *refused says why. Otherwise *refused is left alone. The directory of the journal is hidden from
 * commands where there are namespaces; without a journal commands are not observed. The processes
 * that run commands keep its writer alive (changes/home.h).
 */
int commands_start(const struct config *c, const struct workspace *ws, const struct history *h,
		   const struct git_dirs *git, struct guard *guard, struct hidden *hidden,
		   struct runner **ret, struct err *refused, struct err *e);

/* Log each directory of SIDECAR_SANDBOX_WRITE and SIDECAR_SANDBOX_READ that the sandbox leaves out:
 * it does not exist, or a link leads to it out of the workspace. If commands have a private /tmp, also
 * each link there, which they do not see. */
void commands_log_left_out(const struct config *c, const struct workspace *ws, bool private_tmp);

/* The resource limits of every command. */
struct proc_limits commands_limits(const struct config *c);

#endif
