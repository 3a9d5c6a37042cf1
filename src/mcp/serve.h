/* SPDX-License-Identifier: MIT */
/* serve: `sidecar mcp`: the tools for an MCP client that starts us and talks through our pipes. */
#ifndef MCP_SERVE_H
#define MCP_SERVE_H

#include <stdbool.h>

#include "base/err.h"

struct service;
struct watchable;

/* How others of this user can watch what happens (api/watchable.h). */
struct mcp_watching {
	struct watchable *(*open)(struct service *s, struct err *e);
	bool (*close)(struct watchable *w);
};

/* Serve until the client is done. Returns the exit status. It needs no server and no configuration:
 * the workspace is the current directory unless one is set. */
int mcp_serve(int argc, char **argv, const struct mcp_watching *watching);

#endif
