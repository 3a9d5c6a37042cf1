/* SPDX-License-Identifier: MIT */
/*
 * batch: several files get their new contents together: all of them, or none.
 *
 * The new contents are written to nameless files beside their places, so that no space or
 * permission is missing later. Then each is put in its place by one rename, in the order of their
 * paths, inside an atomic recording: what is about to happen is written to the journal before. The
 * old file is exchanged with the new one and set aside under a temporary name; so it is seen
 * afterwards whether it was the one that was read, and the way back needs no space and brings the
 * same file back. The files that were set aside are removed when all is done.
 *
 * If a step fails, the recording takes everything back (steps.h); if this process dies, the next
 * start does the same from the journal. What lies outside the workspace, and everything if there is
 * no journal, is taken back only as long as this process lives.
 *
 * A file with several names, or whose owner cannot be given to another file, is written in place,
 * as in workspace/replace.h.
 */
#ifndef CHANGES_BATCH_H
#define CHANGES_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "changes/recording.h"
#include "workspace/path.h"

struct workspace;

/* One file. There is one before, or after, or both. */
struct batch_file {
	const struct path *path; /* without links (ws_canonical); no two are equal */
	struct str shown;	 /* what messages call it */
	bool was, stays;	 /* there is a file before; and after */
	struct stat st;		 /* of the file that was read */
	struct str new;		 /* its new content */
	unsigned mode;		 /* it gets the executable bits of this one; 0: those it has */
	const struct path *like; /* of a new file: has the mode of this one; or NULL */
};

struct batch {
	const struct workspace *ws;
	struct journal *journal;      /* NULL: only this process can take it back */
	struct recording_about about; /* CHANGE_ATOMIC is added */
	bool sync;		      /* everything is on disk before it is done */
	bool prune;		      /* directories that become empty are removed */
	struct batch_file *files;
	size_t count;
};

/*
 * Change the files. The caller has the lock of all files (locks_take_all) since it read them. Returns
 * 0: *made is the change, its number 0 if there is no journal. -1 with FILE_CHANGED if a file is
 * not the one that was read, or with what else failed; everything is as it was then, unless the
 * sentence says that it could not be taken back.
 */
int batch_apply(struct batch *b, struct arena *a, struct change *made, struct err *e);

#endif
