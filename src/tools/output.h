/* SPDX-License-Identifier: MIT */
/*
 * output: what a command has written, for a model.
 *
 * A receipt takes it as it comes: cleans it as a terminal would (screen.h), takes secrets out, then
 * remembers both ends of it (ends.h), has all of it kept (kept.h) and tells of progress. When the
 * command has ended, it says how, what it cost, and what it left running; what is too long to be
 * shown stays kept. Its write function is that of a proc_sink (exec/proc.h).
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/proc.h"
#include "scrub/scrub.h"
#include "tools/ends.h"
#include "tools/kept.h"
#include "tools/screen.h"
#include "tools/tool.h"

struct receipt_stream {
	struct screen screen;
	struct scrubber scrubber;
	struct ends ends;
	struct buf plain, clean; /* a piece as a terminal shows it, and without secrets */
	int64_t bytes;		 /* that the command has written */
};

struct receipt {
	const struct call *call;
	struct receipt_stream streams[2]; /* by enum proc_stream; a text has all in the first */
	struct keeping keeping;
	int64_t room; /* bytes of output that are shown at most */
	bool failed;  /* there was no memory for some of it */
};

/* What receipt_show writes. */
extern const struct field receipt_fields[];

#define RECEIPT_NONE                                                                               \
	{                                                                                          \
		.keeping = {.fd = -1 }                                                             \
	}

enum { RECEIPT_ROOM = -1 }; /* as many bytes as the result of the call may have */

int receipt_init(struct receipt *r, const struct call *c, int64_t room, struct err *e);
void receipt_done(struct receipt *r);

int receipt_write(void *receipt, enum proc_stream which, struct str piece);

/* The command has ended: write stdout and stderr as members, and nothing else. What a text would
 * say besides how it ended is at the end of stderr, if there is room. */
int receipt_write_streams(struct receipt *r, struct call *c, const struct proc_result *end,
			  struct err *e);

/* The command has ended: write the result of the call. */
int receipt_show(struct receipt *r, struct call *c, const struct proc_result *end, struct err *e);

#endif
