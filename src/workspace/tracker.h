/* SPDX-License-Identifier: MIT */
/*
 * tracker: which version of which file a session has seen.
 *
 * A session is a name the client gives. For every file it read or wrote the tracker remembers the
 * canonical path (so that a link is no way round it) and the version: size and hash of the content.
 * Neither inode nor time is part of it: a file that was touched, or replaced by an equal one, has
 * not changed, and one that was rewritten within a tick of the clock has.
 *
 * Of small files the content itself is kept, too, as long as there is room, so that a session can
 * be told what changed.
 *
 * Memory is bounded: the file that was looked at longest ago is forgotten first, which makes a
 * session read it again, never trust it. Safe for many threads.
 */
#ifndef WORKSPACE_TRACKER_H
#define WORKSPACE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct tracker;

enum tracker_verdict {
	TRACKER_UNSEEN,	 /* this session has not read the file */
	TRACKER_SAME,	 /* its content is what the session saw */
	TRACKER_CHANGED, /* it has other content now */
};

/* Remembers at most `max` files over all sessions; NULL when there is no memory. */
struct tracker *tracker_new(size_t max);
void tracker_free(struct tracker *t);

/* The session has seen this content of the file. */
void tracker_saw(struct tracker *t, struct str session, struct str path, struct str content);

/* The same when only the content's size and its hash (tracker_hash) are at hand. */
void tracker_saw_hash(struct tracker *t, struct str session, struct str path, int64_t size,
		      uint64_t hash);

/* Append the content of the file as the session last saw it. False when it is not known any more.
 */
bool tracker_recall(struct tracker *t, struct str session, struct str path, struct buf *out);

/* What the session knows of the file, which has this content now. */
enum tracker_verdict tracker_check(struct tracker *t, struct str session, struct str path,
				   struct str content);

/* Hash content that comes in pieces. */
struct tracker_hash;
struct tracker_hash *tracker_hash_new(void);
void tracker_hash_add(struct tracker_hash *h, struct str piece);
uint64_t tracker_hash_end(struct tracker_hash *h); /* frees it */

#endif
