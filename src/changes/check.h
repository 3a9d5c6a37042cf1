/* SPDX-License-Identifier: MIT */
/*
 * check: whether changes can be undone as things are.
 *
 * The items of a change say what it left at each path. A path that is otherwise now is a conflict;
 * so is something in the place of what is to be restored, and a directory that is to be removed and
 * contains something else. If several changes are undone, an older one is checked against what
 * undoing the newer ones will leave.
 */
#ifndef CHANGES_CHECK_H
#define CHANGES_CHECK_H

#include "base/arena.h"
#include "base/err.h"
#include "changes/entry.h"
#include "changes/record.h"

struct undo_conflict {
	struct str path;
	const char *why; /* "has changed since", "is gone", "is in the way" … */
};

struct undo_move {
	struct str from, to; /* where it is, and where it was */
};

/* Lists in the arena, each grown as needed. */
struct undo_check {
	struct undo_conflict *conflicts;
	struct str *unsaved;  /* what cannot be restored */
	struct str *restored; /* what gets its old state */
	struct str *removed;
	struct undo_move *renamed;
	size_t conflict_count, unsaved_count, restored_count, removed_count, renamed_count;
	size_t conflict_room, unsaved_room, restored_room, removed_room, renamed_room;
};

/* Check the changes, newest first, in the tree below `root`. -1 with TOO_BUSY if there is no
 * memory; what was found is in *ret. */
int check_changes(const struct entry_store *s, int root, const struct change *changes, size_t count,
		  struct arena *a, struct undo_check *ret, struct err *e);

/* Whether undoing the item needs old content that is not there any more. */
bool check_is_lost(const struct entry_store *s, const struct change_item *item);

#endif
