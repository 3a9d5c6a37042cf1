/* SPDX-License-Identifier: MIT */
/*
 * undo: take changes back, all of it or nothing.
 *
 * The changes are undone newest first, as one change that can itself be undone. First everything is
 * checked: what the changes left must still be there as they left it, unless a later one of them
 * changed it. Every path where that is not so is a conflict. Then it is applied inside an atomic
 * recording, which takes everything back if a step fails, or at the next start.
 */
#ifndef CHANGES_UNDO_H
#define CHANGES_UNDO_H

#include "base/arena.h"
#include "base/err.h"
#include "changes/journal.h"

struct undo_request {
	const uint64_t *ids; /* in any order */
	size_t id_count;
	const struct str *paths; /* only these, and what is below them; of one change only */
	size_t path_count;
	bool dry_run; /* only check, and say what would be done */
	bool force;   /* overwrite what has changed since, and restore what was saved */
	bool sync;
	struct str tool, subject, session; /* for the undo's own entry */
};

struct undo_conflict {
	struct str path;
	const char *why; /* "has changed since", "is gone", "is in the way" … */
};

struct undo_result {
	uint64_t change; /* the undo's own number; 0: nothing was changed */
	const struct str *restored, *removed, *renamed, *unsaved;
	size_t restored_count, removed_count, renamed_count, unsaved_count;
	const struct undo_conflict *conflicts;
	size_t conflict_count;
	struct change made; /* what it did, if `change` is set */
};

/*
 * Undo. Returns 0, and the result in the arena. -1 with CONFLICT (the conflicts are in *ret),
 * NOT_SAVED (the paths are in ret->unsaved), CHANGE_NOT_FOUND, or why a step failed; then nothing
 * has changed. If it could not even be taken back the sentence says so, and the next start tries
 * again.
 */
int undo_changes(struct journal *j, const struct undo_request *q, struct arena *a,
		 struct undo_result *ret, struct err *e);

#endif
