/* SPDX-License-Identifier: MIT */
/* serve: `sidecar mcp`: the tools for an MCP client that starts us and talks through our pipes. */
#ifndef MCP_SERVE_H
#define MCP_SERVE_H

/* Serve until the client is done. Returns the exit status. It needs no server and no configuration:
 * the workspace is the current directory unless one is set. */
int mcp_serve(int argc, char **argv);

#endif
