/* SPDX-License-Identifier: MIT */
/*
 * compare: what has become of everything that a change has touched.
 */
#ifndef CHANGES_COMPARE_H
#define CHANGES_COMPARE_H

#include "base/arena.h"
#include "changes/entry.h"
#include "changes/touches.h"

/*
 * Look at every touched name again, and list those whose state is another than before in c->items,
 * with c->counts and what they mean for c->flags. Names, states and texts are in the arena.  False if nothing has changed but the times of directories.
 * Content that was kept for nothing is removed from the store.
 */
bool compare_touches(const struct touches *t, const struct entry_store *s, struct arena *a,
		     struct change *c);

#endif
