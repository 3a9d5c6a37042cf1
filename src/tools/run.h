/* SPDX-License-Identifier: MIT */
/* run: how the output of a command reaches a client while the command runs. */
#ifndef TOOLS_RUN_H
#define TOOLS_RUN_H

#include "base/utf8.h"
#include "exec/proc.h"
#include "tools/tool.h"

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
