/* SPDX-License-Identifier: MIT */
/*
 * history: the configured journal of changes, and the recording of one call.
 */
#ifndef SERVICE_HISTORY_H
#define SERVICE_HISTORY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/jw.h"
#include "changes/recording.h"
#include "config/config.h"
#include "tools/tool.h"
#include "workspace/witness.h"
#include "workspace/workspace.h"

/* The journal, or why there is none. */
struct history {
	struct journal *journal; /* NULL: changes are not kept … */
	char why[512];		 /* … for this reason */
};

/* Open the journal as configured. A directory that was asked for by name and cannot be used is an
 * error; otherwise the server does without a journal, and h->why says why. */
int history_open(const struct config *c, const struct workspace *ws, struct history *h,
		 struct err *e);
void history_done(struct history *h);

/* What one call changes. It must not be moved after history_record. */
struct call_record {
	struct recording recording;
	struct witness witness;
};

/* From now on what the call changes through its witness is recorded, as a change of that subject.
 */
void history_record(const struct history *h, const struct tool *t, struct str subject,
		    struct str session, struct call_record *r);

/* The call is over: true if it has changed something. */
bool history_end(struct call_record *r, struct arena *a, struct change *ret);

#endif
