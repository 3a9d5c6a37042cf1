/* SPDX-License-Identifier: MIT */
/*
 * journal: the changes that are known, by number.
 *
 * A change has a number from 1 on, in the order in which calls began to change something, whichever
 * program made them. It appears when it is committed. The index of all changes is in memory, some
 * 100 bytes each; the rest is read from the store when it is asked for. What undid what is kept as
 * well: a change that was undone names the undo, until that is undone itself.
 *
 * Other programs may use the same store. What they have done is known after journal_refresh.
 *
 * All functions may be called from several threads.
 */
#ifndef CHANGES_JOURNAL_H
#define CHANGES_JOURNAL_H

#include "base/arena.h"
#include "base/err.h"
#include "changes/blobs.h"
#include "changes/record.h"
#include "changes/store.h"

struct journal;
struct workspace;

/* Open the store and read the index. What dead programs left unfinished is for settle_all.
 * The workspace must outlive the journal. */
int journal_open(const struct store_options *o, const struct workspace *ws, int64_t max_file,
		 struct journal **ret, struct err *e);

/* Close it, once all who hold it have released it. False if one of them does not within
 * LIMIT_WATCHED_MS: then nothing is released, and the workspace must stay, too. */
bool journal_free(struct journal *j);

/* A recording that does not end with its call uses the journal. */
void journal_hold(struct journal *j);
void journal_release(struct journal *j);

struct store *journal_store(struct journal *j);
struct blobs *journal_blobs(struct journal *j);
const struct workspace *journal_workspace(const struct journal *j);

/* The largest file whose content is kept. */
int64_t journal_max_file(const struct journal *j);

/* Learn what other programs have done. */
void journal_refresh(struct journal *j);

/* From now on `tell` is called with each change of another program that becomes known, without its
 * items. It must not use the journal. NULL: not any more. */
typedef void journal_teller(void *arg, const struct change *c);
void journal_tell(struct journal *j, journal_teller *tell, void *arg);

/* The change of a command, which may last: it is listed while it goes on, with CHANGE_OPEN. */
struct open_change {
	struct open_change *next;
	struct change about; /* without items; its texts stay as long as it is open */
};

void journal_add_open(struct journal *j, struct open_change *o);
void journal_remove_open(struct journal *j, const struct open_change *o);

/* Add a finished change. -1 if it could not be written. */
int journal_commit(struct journal *j, const struct store_part *p, const struct change *c);

/* The change came to nothing, or was taken back. */
void journal_drop(struct journal *j, const struct store_part *p);

/* A change as it is listed. */
struct change_entry {
	uint64_t id, at; /* at: of its COMMIT; 0: it is open */
	int64_t time_ms;
	unsigned flags;
	uint32_t counts[ITEM_KINDS];
	uint64_t undone_by; /* 0: it was not undone */
	uint64_t redone_by; /* it was undone alone, and this one undid that; else 0 */
	uint64_t session;   /* a hash of its name */
};

/* Changes with greater numbers than `since`, oldest first, at most `max` of them. Returns how many
 * there are in all after `since`. */
size_t journal_list(struct journal *j, uint64_t since, struct change_entry *to, size_t max);

/* The hash of a session's name, as in struct change_entry. */
uint64_t journal_session(struct str name);

/* The entry of a number. -1 with CHANGE_NOT_FOUND. */
int journal_find(struct journal *j, uint64_t id, struct change_entry *ret, struct err *e);

/* Read a change into the arena; without `whole` its items are left out. If one that was open has
 * ended meanwhile, *at becomes what it is now. */
int journal_read(struct journal *j, struct change_entry *at, bool whole, struct arena *a,
		 struct change *ret, struct err *e);

/* One undo at a time. */
void journal_lock_undo(struct journal *j);
void journal_unlock_undo(struct journal *j);

/* A change that a dead program has begun, and that has no end. */
struct orphan {
	struct change about; /* as it was begun */
	uint32_t segment;
};

/* Learn what other programs have done, and take over the segments of dead ones. Returns the changes
 * that they left without an end, oldest first, in the arena; the caller settles them (settle.h). */
size_t journal_orphans(struct journal *j, struct arena *a, struct orphan **ret);

/* One of them could not be settled: it is found again when this is tried the next time. */
void journal_leave(struct journal *j, const struct orphan *o);

#endif
