/* SPDX-License-Identifier: MIT */
/*
 * run: a model's command.
 */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "tools/receipt.h"
#include "tools/tool.h"

/* What a model wants to run. Strings that are empty and pointers that are NULL were not given. */
struct run_order {
	struct str command;	 /* for the shell … */
	const struct json *argv; /* … or a program and its arguments */
	struct str cwd;		 /* empty: the root of the workspace */
	const struct json *env;	 /* variables: "NAME=value", or an object */
	int64_t timeout_ms;	 /* 0: as long as models' commands usually may */
	struct str script;	 /* what is run for `command`, which is what is judged … */
	const int *input_fd;	 /* … and its standard input (exec/proc.h) */
	bool diverted;		 /* policy_diverts of a variable that the script sets */
};

/* Run it to its end, as every command of a model is run: judged, in the sandbox, watched, in its
 * time; what it leaves becomes a job. In a call whose result the model itself reads, stderr goes
 * where stdout goes. 0 and its receipt however it ended; or -1 if it did not run. */
int run_order(struct call *c, const struct run_order *o, struct receipt *receipt, struct err *e);

#endif
