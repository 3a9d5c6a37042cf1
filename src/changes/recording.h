/* SPDX-License-Identifier: MIT */
/*
 * recording: a change that is being made.
 *
 *	AUTO_RECORDING r = recording_of(journal, &about);
 *	recording_touch(&r, dir, name, TOUCH_CONTENT, e);	before something may change
 *	… change it …
 *	if (recording_finish(&r, arena, &change))		compare
 *		… something has changed …
 *
 * A touch keeps the state of one name in one directory, the first time it is touched, and writes it
 * to the journal before it returns. So the state before is known even if this process dies. A
 * recording that touches nothing costs nothing.
 *
 * A recording belongs to one thread at a time. Nothing that goes wrong in it is an error for its
 * caller, unless it is atomic (undo, patches): then a step must not be taken that could not be taken
 * back, and all of them happen or none. What lies outside the workspace and its git directories is
 * not recorded; an atomic recording remembers it, for a way back in this process.
 *
 * The states of a change. Only the thread that has the recording moves it on; after its program's
 * death, whoever settles (settle.h).
 *
 * | state | begins with | in the journal | held |
 * |---|---|---|---|
 * | begun | recording_of | nothing; it has no number | nothing |
 * | recording | the first touch | BEGIN, and for each touch what was kept and TOUCH, before the file is changed | its segment, which is not removed (store_begin); each directory, open; a place is locked by who writes it |
 * | applying | the first step, if it is atomic | BEGIN, and for each step TOUCH, MOVE or PUT, before it is taken | the same; all files are locked (locks_take_all), and no other undo or patch runs (journal_lock_undo) |
 * | committed | recording_finish, recording_commit | COMMIT, with both states of each path | nothing |
 * | taken back | recording_take_back, or nothing differs at the end | BACK for each step that was put back, then DROP | nothing |
 *
 * | dies while it is | leaves | the next program that starts, lists or undoes |
 * |---|---|---|
 * | begun | nothing | – |
 * | recording | some files old, some new, no COMMIT | compares, as if the call had ended there: COMMIT or DROP (recording_finish_for); a command's change first waits for its processes and says `complete:false` |
 * | applying | the same | takes it back (steps_take_back): DROP |
 * | being taken back | BACK up to where it came | goes on there |
 * | committed, or taken back | what it was to be | – |
 *
 * If the way back fails, the change stays applying: the caller is told, and the next start tries
 * again. If COMMIT cannot be written, an atomic change is taken back; any other has happened, and
 * says that it is not kept.
 */
#ifndef CHANGES_RECORDING_H
#define CHANGES_RECORDING_H

#include "base/arena.h"
#include "base/err.h"
#include "base/own.h"
#include "changes/journal.h"

/* What is about to happen to a name, and so what has to be kept. */
enum touch_care {
	TOUCH_META,    /* its metadata may change, or the object moves to another name */
	TOUCH_CONTENT, /* its content may change in place */
	TOUCH_LAST,    /* the name gets another object, or goes away … */
	TOUCH_GONE,    /* … and no other object is to have it */
};

struct recording_about {
	struct str tool, subject, session;
	unsigned flags;		/* CHANGE_ATOMIC, CHANGE_COMMAND, CHANGE_UNDO */
	const uint64_t *undoes; /* newest first */
	size_t undo_count;
};

struct recorded;
struct stat;
struct steps;
struct touched_dir;

/* The zero value records nothing. */
struct recording {
	struct journal
		*journal; /* NULL: nothing is recorded, but an atomic one remembers its steps */
	struct recording_about about;
	bool missed;	       /* not everything is known that happened */
	struct recorded *kept; /* NULL: nothing was touched */
};

#define AUTO_RECORDING CLEANUP(recording_done) struct recording

/* The texts of `about` must outlive it. */
static inline struct recording recording_of(struct journal *j, const struct recording_about *about)
{
	return (struct recording){ .journal = j, .about = *about };
}

void recording_done(struct recording *r);

/* Its number; 0 as long as nothing was touched. */
uint64_t recording_id(const struct recording *r);

/* Something is about to happen to that name. -1 only if the recording is atomic and the state
 * cannot be kept. */
int recording_touch(struct recording *r, int dir, const char *name, enum touch_care care,
		    struct err *e);

/* The same, more quickly, for a recording that is not atomic: by a directory that it knows already.
 * recording_dir returns NULL if it lies outside the workspace, or there is no memory; it is known
 * as long as the recording lives. recording_touch_in returns whether a symbolic link may be there,
 * which the caller of it may want to follow. */
struct touched_dir *recording_dir(struct recording *r, int dir);
bool recording_touch_in(struct recording *r, struct touched_dir *d, const char *name,
			enum touch_care care);

/* The name has been given a file with this content: it need not be read again. */
void recording_note_content(struct recording *r, int dir, const char *name, struct str content);

/* A directory may have been moved: the paths of directories are asked again. */
void recording_note_move(struct recording *r);

/* An atomic recording is about to give a name the object `new` (NULL: nothing, or a directory that is
 * made), and what is there the name `aside` (NULL: nothing is there), both in one directory. What is
 * there is kept, and gets its name back if the change is taken back. -1 if it cannot be kept. */
int recording_put(struct recording *r, int dir, const char *name, const char *aside,
		  const struct stat *new, struct err *e);

/* What was set aside is about to be removed: from now on its content is put back from the journal.
 * Without one there is no way back from here. */
int recording_discard(struct recording *r, int dir, const char *aside, const char *name,
		      struct err *e);

/* An atomic recording is about to rename an object to a name that does not exist. The stage of the
 * store is one of the directories that may be given. */
int recording_move(struct recording *r, int from_dir, const char *from, int to_dir, const char *to,
		   struct err *e);

/* Compare, and commit to the journal. True if something has changed: *ret is the change, in the
 * arena. */
bool recording_finish(struct recording *r, struct arena *a, struct change *ret);

/* The same for an atomic recording; the number of *ret is 0 if nothing has changed. -1 if it could not
 * be written: then it has to be taken back. */
int recording_commit(struct recording *r, struct arena *a, struct change *ret, struct err *e);

/* An atomic recording failed, for the reason in *e: put everything back as it was (steps.h), and add
 * to the sentence that nothing was changed; or that this failed, too, and the next start will try
 * again. Returns -1. */
int recording_take_back(struct recording *r, struct err *e);

/* Continue a change of a dead program with what it had touched, and finish it. Its part is ended. */
void recording_finish_for(const struct steps *u, int root);

#endif
