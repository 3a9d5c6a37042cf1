/* SPDX-License-Identifier: MIT */
/*
 * changed: how clients and models are told of changes to files.
 */
#ifndef TOOLS_CHANGED_H
#define TOOLS_CHANGED_H

#include "base/buf.h"
#include "base/jw.h"
#include "changes/journal.h"
#include "changes/record.h"
#include "tools/tool.h"
#include "workspace/diff.h"

/* "created", "modified", "deleted", "renamed". */
const char *changed_kind(enum item_kind kind);

/* The members created, modified, deleted and renamed: how many paths each. */
void changed_write_counts(struct jw *w, const uint32_t counts[ITEM_KINDS]);

/* The object "changes" of an observation, with the first paths; and its fields. */
void changed_write(struct jw *w, const struct change *c);
extern const struct field changed_fields[];

/* The same as a line of text: "[changed: src/a.c, b.c (new), old.c (deleted); undo_change id=41]".
 * If `out` may not have more than max_bytes (0: any), it is as long as fits. */
void changed_show(struct buf *out, int64_t max_bytes, const struct change *c);

/* How many lines a change has added to a file, and removed from it. False if that is not known: it
 * is not a text, has more than max_bytes before or after, or its content is not kept. */
bool changed_size(struct journal *j, const struct change_item *item, int64_t max_bytes,
		  struct diff_size *ret);

#endif
