/* SPDX-License-Identifier: MIT */
/*
 * content: the bytes of a file before and after a change, to show what changed.
 */
#ifndef CHANGES_CONTENT_H
#define CHANGES_CONTENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "changes/journal.h"

/* Append the content to `out`. False if it is not there any more, or larger than fits: of a file
 * that has changed since, the content after the change is known only if a later change kept it. */
bool content_before(struct journal *j, const struct change_item *item, struct buf *out);
bool content_after(struct journal *j, const struct change_item *item, struct buf *out);

/* Set the hash of a file that a command has left, if it is still there as it was, and not large. */
void content_hash_after(struct journal *j, struct change_item *item);

#endif
