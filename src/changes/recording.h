/* SPDX-License-Identifier: MIT */
/*
 * recording: a change that is being made.
 *
 *	struct recording r = recording_of(journal, &about);
 *	recording_touch(&r, dir, name, TOUCH_CONTENT);	before something may change
 *	… change it …
 *	recording_finish(&r, arena, &change);		compare; true: something has changed
 *	recording_done(&r);
 *
 * A touch keeps the state of one name in one directory, the first time it is touched, and writes it
 * to the journal before it returns. So the state before is known even if this process dies. A
 * recording that touches nothing costs nothing.
 *
 * A recording belongs to one thread at a time. Nothing that goes wrong in it is an error for its
 * caller, unless it is atomic: then the change must not be made if it could not be taken back. What
 * lies outside the workspace is not recorded.
 */
#ifndef CHANGES_RECORDING_H
#define CHANGES_RECORDING_H

#include "base/arena.h"
#include "base/err.h"
#include "changes/journal.h"

/* What is about to happen to a name, and so what has to be kept. */
enum touch_care {
	TOUCH_META,    /* its metadata may change, or it is moved elsewhere */
	TOUCH_CONTENT, /* its content may change in place */
	TOUCH_LAST,    /* the name goes away, or gets another object */
};

struct recording_about {
	struct str tool, subject, session;
	unsigned flags; /* CHANGE_ATOMIC, CHANGE_COMMAND */
	const uint64_t *undoes;
	size_t undo_count;
};

struct record_node;
struct record_touch;

/* Its fields are for this module alone. The zero value records nothing. */
struct recording {
	struct journal *journal;
	struct recording_about about;
	uint64_t id; /* 0: not begun */
	int64_t time_ms;
	unsigned flags;
	uint64_t steps;
	struct record_node **nodes; /* directories, by device and inode */
	struct record_touch **touches, *first, **last;
	size_t node_count, node_room, touch_count, touch_room;
	size_t movable; /* touches whose object may be elsewhere now, with its content unsaved */
	bool strangers; /* a directory was touched itself, or a name that did not exist */
	bool lost;	/* something could not be written to the journal */
	struct arena memory;
};

#define AUTO_RECORDING CLEANUP(recording_done) struct recording

/* The texts of `about` must outlive it. A journal that is NULL records nothing. */
struct recording recording_of(struct journal *j, const struct recording_about *about);

/* Something is about to happen to that name. -1 only if the recording is atomic and the state
 * cannot be kept. */
int recording_touch(struct recording *r, int dir, const char *name, enum touch_care care,
		    struct err *e);

/* An atomic recording is about to rename an object. The names are touched, and nothing is copied.
 */
int recording_move(struct recording *r, int from_dir, const char *from, int to_dir, const char *to,
		   struct err *e);

/* Not everything is known that happened. */
void recording_miss(struct recording *r);

/* Compare, and commit to the journal. True if something has changed: *ret is the change, in the
 * arena. */
bool recording_finish(struct recording *r, struct arena *a, struct change *ret);

/* Put everything back as it was, for an atomic recording that failed. -1 if that failed as well:
 * the next start will try again. */
int recording_take_back(struct recording *r, struct err *e);

void recording_done(struct recording *r);

/* Finish or take back what an earlier server left. */
void recording_recover(struct journal *j);

#endif
