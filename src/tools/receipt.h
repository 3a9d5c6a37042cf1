/* SPDX-License-Identifier: MIT */
/*
 * receipt: what became of a command of a model: both ends of its output (ends.h), all of it for
 * later (kept.h), how it ended, what it left running, what the sandbox refused.
 *
 * A receipt lives in the arena of its call and belongs to the call's result (result.h).
 */
#ifndef TOOLS_RECEIPT_H
#define TOOLS_RECEIPT_H

#include "exec/proc.h"
#include "tools/ends.h"
#include "tools/kept.h"
#include "tools/sink.h"

struct receipt {
	struct receipt *next; /* of the call's next command */
	struct sink sink;     /* which has the output while it comes */
	struct sink_taker taker;
	bool merged;		/* both outputs are in the first of the ends */
	struct ends ends[2];	/* by enum proc_stream */
	struct ends_limit most; /* that is remembered of each */
	struct keeping keeping;
	struct proc_result end;
	const struct denied *denied; /* or NULL */
	const char *not_run;	     /* why the command did not run; NULL: it did */
	bool in_time;		     /* that was not for lack of time */
	bool time_cut;		     /* it had less time than was asked for */
	const char *note;	     /* what else is to be said; or NULL */
};

enum { RECEIPT_ROOM = -1 }; /* as many bytes as the result of the call may have */

/* A receipt for a command that is about to run, after those in the list. So many bytes of its
 * output are remembered. NULL and TOO_BUSY if there is no memory. */
struct receipt *receipt_new(struct receipt **list, const struct call *c, int64_t bytes,
			    struct err *e);
void receipts_free(struct receipt *list);

/* What a model is told of one. */
extern const struct field receipt_fields[];

#endif
