/* SPDX-License-Identifier: MIT */
/* print_tools: the command "sidecar tools": definitions for a model's request, or a page to read.
 */
#ifndef PRINT_TOOLS_H
#define PRINT_TOOLS_H

/* [--format F] [--set core|full] [--markdown]; returns the exit status. */
int print_tools(int argc, char **argv);

#endif
