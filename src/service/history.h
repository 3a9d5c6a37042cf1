/* SPDX-License-Identifier: MIT */
/*
 * history: the configured journal of changes, and the recording of one call.
 */
#ifndef SERVICE_HISTORY_H
#define SERVICE_HISTORY_H

#include <limits.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/jw.h"
#include "changes/homes.h"
#include "changes/recording.h"
#include "config/config.h"
#include "tools/tool.h"
#include "workspace/beneath.h"
#include "workspace/workspace.h"

/* The journal, or why there is none. */
struct history {
	struct journal *journal; /* NULL: changes are not kept … */
	int64_t days;		 /* how long they are */
	char why[512];		 /* … for this reason */
	char place[PATH_MAX];	 /* the directory of all journals of this user; or "" */
};

/* Open the journal as configured. A directory that was asked for by name and cannot be used is an
 * error; otherwise the server does without a journal, and h->why says why. */
int history_open(const struct config *c, const struct workspace *ws, struct history *h,
		 struct err *e);

/* Visit all journals that this configuration knows (changes/homes.h); `place` is where each lies. */
typedef bool history_visitor(void *arg, const char *place, const struct home_facts *f);
void history_visit(const struct config *c, history_visitor *visit, void *arg);

/* Whether a journal of that workspace is where this configuration keeps it. */
bool history_exists(const struct config *c, struct str workspace);

/* False: a recording still uses the journal and the workspace (journal_free). */
bool history_done(struct history *h);

/* Whether tools or commands can write at that canonical path: what they can reach they could
 * forge. */
bool history_is_reachable(const struct config *c, const struct workspace *ws, const char *path);

/* What one call changes. The recording begins with the first change; most calls have none. */
struct call_record {
	struct journal *journal; /* not NULL when something is recorded */
	const struct tool *tool;
	struct str subject, session;
	struct recording recording; /* its journal is NULL as long as nothing was touched */
};

/* What a witness is told. */
void history_before(struct call_record *r, int dir, const char *name, enum witness_act act);
void history_wrote(struct call_record *r, int dir, const char *name, struct str content);

/* The call is over, and something was touched: true if that has changed. */
bool history_end(struct call_record *r, struct arena *a, struct change *ret);

#endif
