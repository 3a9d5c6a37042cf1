/* SPDX-License-Identifier: MIT */
/*
 * batch: several files get their new contents together: all of them, or none.
 *
 * The new contents are written to nameless files beside their places, so that no space or
 * permission is missing later. Then each is put in its place by one rename, in the order of their
 * paths, inside an atomic recording: what is there is written to the journal before. The old file
 * is exchanged with the new one and set aside under a temporary name; so it is seen afterwards
 * whether it was the one that was read, and taking everything back needs no space. The files that
 * were set aside are removed when all is done. If this process dies before that, the next start
 * takes the change back from the journal (recording.h).
 *
 * Without a journal, and outside the workspace, everything is taken back as long as this process
 * lives.
 *
 * A file with several names, or whose owner cannot be given to another file, is written in place,
 * as in workspace/replace.h.
 */
#ifndef CHANGES_BATCH_H
#define CHANGES_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "changes/recording.h"
#include "changes/swap.h"

struct workspace;

struct batch {
	const struct workspace *ws;
	struct journal *journal;      /* NULL: only this process can take it back */
	struct recording_about about; /* CHANGE_ATOMIC is added */
	bool sync;		      /* everything is on disk before it is done */
	bool prune;		      /* directories that become empty are removed */
	struct swap_file *files;
	size_t count;
};

/*
 * Change the files. The caller has the lock of all files (ws_lock_all) since it read them. Returns
 * 0: *made is the change, its number 0 if there is no journal. -1 with FILE_CHANGED if a file is
 * not the one that was read, or with what else failed; everything is as it was then, unless the
 * sentence says that it could not be taken back.
 */
int batch_apply(struct batch *b, struct arena *a, struct change *made, struct err *e);

#endif
