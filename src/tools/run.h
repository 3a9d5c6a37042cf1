/* SPDX-License-Identifier: MIT */
/*
 * run: a model's command, and how the output of a command reaches a client while it runs.
 */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "base/utf8.h"
#include "exec/proc.h"
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
 * time; what it leaves becomes a job. In a call whose result is text, stderr goes where stdout
 * goes. 0 and *ret however it ended; or -1 if it did not run. */
int run_order(struct call *c, const struct run_order *o, const struct proc_sink *sink,
	      struct proc_result *ret, struct err *e);

/* Passes output on as it comes. Only `stream` is set at the start. Each piece it emits ends with a
 * whole character. */
struct relay {
	const struct call_stream *stream;
	struct utf8_stream texts[2]; /* by enum proc_stream */
};

/* The write function of a proc_sink (exec/proc.h). -1 if the front end does not want more. */
int relay_write(void *relay, enum proc_stream which, struct str piece);

/* The command has ended: emit the characters that it left unfinished. */
void relay_end(struct relay *r);

#endif
