/* SPDX-License-Identifier: MIT */
/*
 * steps: what a change is about to do, written to the journal before it does it; and the way back.
 *
 * There is one way back (steps_take_back), whether a step of an atomic change failed or its process
 * died: the steps are those that were written down, as they are remembered or as they are read
 * again. They are gone through in reverse order, so that every path means what it meant then. A step
 * that was not carried out, or was put back already, does no harm.
 *
 * What lies outside the workspace, and everything if there is no journal, is only remembered: it is
 * put back by the same function, as long as this process lives.
 */
#ifndef CHANGES_STEPS_H
#define CHANGES_STEPS_H

#include <sys/stat.h>

#include "base/err.h"
#include "changes/journal.h"

/* Where a step is taken: a path of the journal; or one name in a directory that the journal cannot
 * have, which stays open as long as the steps are remembered. */
struct step_place {
	struct str path;
	int dir; /* -1: the path is one of the journal */
};

struct change_step {
	enum record_type type; /* TOUCH, MOVE or PUT */
	int dir;	       /* as in struct step_place */
	struct str content;    /* of its record */
	struct str text;       /* of a TOUCH: the content of the file, if it is in memory */
};

/* A change that is neither committed nor dropped. */
struct steps {
	struct journal *journal; /* NULL: all steps are only remembered */
	struct change about;	 /* as it was begun */
	struct store_part part;
	struct arena *memory; /* for steps to be taken back; NULL: the change is not atomic */
	struct change_step *list;
	size_t count, room;
	uint64_t written; /* to the journal */
	uint64_t back;	  /* a way back came down to this step; UINT64_MAX: there was none */
	size_t lost;	  /* of this many steps nothing is kept any more */
};

/* Something is about to happen to a name that has this state, in a directory with that time. All
 * these return 0, or -1 with errno: then it must not happen if it may have to be taken back. */
int steps_touch(struct steps *s, const struct step_place *at, const struct path_state *before,
		int64_t dir_mtime_ns);

/* A name is about to get the object `new` (NULL: none, or a directory that is made), and what is
 * there the name `aside` (empty: nothing is there). */
int steps_put(struct steps *s, const struct step_place *at, struct str aside,
	      const struct stat *new, int64_t dir_mtime_ns);

/* An object is about to be renamed; the number of *m is set. */
int steps_move(struct steps *s, struct move_record *m);

/* Remember a step that was read from the journal. False: there is no memory. */
bool steps_add(struct steps *s, const struct change_step *step);

/* Put everything back. 0 if all of it was; -1 with the first reason. In both cases everything that
 * could be put back was. */
int steps_take_back(const struct steps *s, struct err *e);

#endif
