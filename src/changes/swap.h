/* SPDX-License-Identifier: MIT */
/*
 * swap: one file of a batch on its way from its old content to the new one (batch.h).
 *
 *	swap_find, swap_prepare	nothing that others can see has changed
 *	swap_carry_out		the new file is in its place, the old one set aside
 *	swap_undo		the old one is in its place again, also after a failure half way
 *	swap_finish		what was set aside is gone; there is no way back
 *	swap_release		in any case
 *
 * What is about to change is touched in the recording first.
 */
#ifndef CHANGES_SWAP_H
#define CHANGES_SWAP_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/str.h"
#include "changes/recording.h"
#include "workspace/beneath.h"
#include "workspace/path.h"
#include "workspace/replace.h"

struct workspace;

/* One file. There is one before, or after, or both. */
struct swap_file {
	const struct path *path; /* without links (ws_canonical); no two are equal */
	struct str shown;	 /* what messages call it */
	bool was, stays;	 /* there is a file before; and after */
	struct stat st;		 /* of the file that was read */
	struct str old, new;	 /* its contents */
	unsigned mode;		 /* it gets the executable bits of this one; 0: those it has */
	const struct path *like; /* of a new file: has the mode of this one; or NULL */
};

/* What the files of a batch share. */
struct swap_room {
	const struct workspace *ws;
	struct recording *r;
	bool sync;
	int held; /* nameless files that are open */
};

enum swap_way { SWAP_MAKE, SWAP_REPLACE, SWAP_REMOVE, SWAP_IN_PLACE };

struct swap {
	const struct swap_file *f;
	enum swap_way way;
	struct file_place at; /* its dir is -1 while the directory is still to be made */
	bool borrowed;	      /* the dir is another step's */
	int beside;	      /* the directory in which the new file is, if that is another: */
	size_t above;	      /* the nearest one that exists, so many bytes of the path */
	struct temp temp;     /* the new file */
	char aside[64];	      /* the name of the old file when it is out of its place */
	bool done;	      /* the file is in its place */
};

struct swap swap_of(const struct swap_file *f);

/* Find the place of the file, which must be as it was when it was read. `last` is the step before,
 * or NULL: files of one directory share its descriptor. */
int swap_find(struct swap *s, struct swap_room *room, const struct swap *last, struct err *e);

/* Write the new content, except of a file that has to be written in place. */
int swap_prepare(struct swap *s, struct swap_room *room, struct err *e);

int swap_carry_out(struct swap *s, struct swap_room *room, struct err *e);

/* 0, or -1 with errno: something resisted. */
int swap_undo(struct swap *s, const struct swap_room *room);

void swap_finish(struct swap *s, bool sync);
void swap_release(struct swap *s);

#endif
