/* SPDX-License-Identifier: MIT */
/*
 * content: the bytes of a file before and after a change, to show what changed.
 */
#ifndef CHANGES_CONTENT_H
#define CHANGES_CONTENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "changes/journal.h"
#include "workspace/diff.h"

/* Append the content to `out`. False if it is not there any more, or larger than fits: of a file
 * that has changed since, the content after the change is known only if a later change kept it. */
bool content_before(struct journal *j, const struct change_item *item, struct buf *out);
bool content_after(struct journal *j, const struct change_item *item, struct buf *out);

/* How many lines a change has added to a file, and removed from it. False if that is not known: it
 * is not a text, has more than max_bytes before or after, or its content is not kept. */
bool content_diff_size(struct journal *j, const struct change_item *item, int64_t max_bytes,
		       struct diff_size *ret);

/* The SHA-256 of a file before or after the change, for people and programs; the journal itself has
 * another hash. False if the content is not known, or the file is large. */
bool content_digest(struct journal *j, const struct change_item *item, bool after,
		    uint8_t digest[SHA256_SIZE]);

#endif
