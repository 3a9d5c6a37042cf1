/* SPDX-License-Identifier: MIT */
/*
 * check: whether an agent is connected, and whether it has a way around the sidecar.
 *
 * It reads the configuration files that the agent would read here: the project's, then the user's.
 * It cannot see what is given on the agent's command line.
 */
#ifndef SETUP_CHECK_H
#define SETUP_CHECK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "setup/agents.h"
#include "setup/change.h"

struct check {
	bool connected;	     /* a configuration has the sidecar as an MCP server */
	bool in_project;     /* what holds the agent is in the project, where it can change it */
	size_t ways;	     /* how many ways around there are */
	struct buf *reasons; /* one line for each */
};

/* Look at the agent's files. `reasons` must be given in ret. */
int check_agent(const struct agent *agent, const struct change_names *names, struct check *ret,
		struct err *e);

#endif
