/* SPDX-License-Identifier: MIT */
/*
 * apply: the steps that undo one change, inside an atomic recording.
 */
#ifndef CHANGES_APPLY_H
#define CHANGES_APPLY_H

#include "base/err.h"
#include "changes/entry.h"
#include "changes/recording.h"

/* Undo the change below `root`. What is overwritten is touched first. With `force`, what is not as
 * expected is passed over if it cannot be changed. -1 with the reason; the caller takes the
 * recording back. */
int apply_backwards(struct recording *r, const struct entry_store *s, int root,
		    const struct change *c, bool force, struct err *e);

#endif
