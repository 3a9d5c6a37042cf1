/* SPDX-License-Identifier: MIT */
/*
 * undo: take changes back, all of it or nothing.
 *
 * The changes are undone newest first, as one change that can itself be undone. First everything is
 * checked: what the changes left must still be there as they left it, unless a later one of them
 * changed it (check.h). Then it is applied inside an atomic recording, which takes everything back
 * if a step fails, or at the next start.
 */
#ifndef CHANGES_UNDO_H
#define CHANGES_UNDO_H

#include "base/arena.h"
#include "base/err.h"
#include "changes/check.h"
#include "changes/journal.h"

struct undo_request {
	const uint64_t *ids; /* in any order */
	size_t id_count;
	const struct str *paths; /* only these and what is below them; none: everything */
	size_t path_count;
	bool dry_run; /* only check, and say what would be done */
	bool force;   /* overwrite what has changed since, and restore what was saved */
	struct str tool, subject, session; /* for the undo's own entry */
};

struct undo_result {
	uint64_t change;	/* the undo's own number; 0: nothing was changed */
	bool incomplete;	/* one of the changes may have been more than is known */
	struct change made;	/* what it did, if `change` is set */
	struct undo_check said; /* what was found, and what is or would be done */
};

/*
 * Undo. Returns 0, and the result in the arena. -1 with CONFLICT or NOT_SAVED (the paths are in
 * ret->said), CHANGE_NOT_FOUND, or why a step failed; then nothing has changed. If it could not
 * even be taken back the sentence says so, and the next start tries again.
 */
int undo_changes(struct journal *j, const struct undo_request *q, struct arena *a,
		 struct undo_result *ret, struct err *e);

#endif
