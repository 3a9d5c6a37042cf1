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
 * caller, unless it is atomic: then the change must not be made if it could not be taken back. What
 * lies outside the workspace is not recorded.
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
	TOUCH_LAST,    /* the name goes away, or gets another object */
};

struct recording_about {
	struct str tool, subject, session;
	unsigned flags;		/* CHANGE_ATOMIC, CHANGE_COMMAND, CHANGE_UNDO */
	const uint64_t *undoes; /* newest first */
	size_t undo_count;
};

struct recorded;
struct touched_dir;

/* The zero value records nothing. */
struct recording {
	struct journal *journal; /* NULL: nothing is recorded */
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

/* An atomic recording is about to rename an object to a name that does not exist. The stage of the
 * store is one of the directories that may be given. */
int recording_move(struct recording *r, int from_dir, const char *from, int to_dir, const char *to,
		   struct err *e);

/* Compare, and commit to the journal. True if something has changed: *ret is the change, in the
 * arena. */
bool recording_finish(struct recording *r, struct arena *a, struct change *ret);

/* Put everything back as it was, for an atomic recording that failed. -1 if that failed as well:
 * the next start will try again. */
int recording_take_back(struct recording *r, struct err *e);

/* Finish or take back what an earlier server left. Returns how many changes that were. */
size_t recording_recover(struct journal *j);

#endif
