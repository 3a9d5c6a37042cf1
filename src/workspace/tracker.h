/* SPDX-License-Identifier: MIT */
/*
 * tracker: which version of which file a session has seen.
 *
 * A session is a name that the client gives. For every file that the session read or wrote, the
 * tracker remembers the canonical path (so that a link cannot bypass it) and the version: size and
 * hash of the content. Neither inode nor time is part of the version: a file that was touched, or
 * replaced by an equal one, has not changed; one that was rewritten within a tick of the clock has.
 *
 * The content of small files is kept as well, as long as there is room, so that a session can be
 * told what changed.
 *
 * Memory is bounded: the file used longest ago is forgotten first. A forgotten file must be read
 * again; it is never trusted. Many threads may use one tracker.
 */
#ifndef WORKSPACE_TRACKER_H
#define WORKSPACE_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "workspace/limits.h"

struct tracker;

enum tracker_verdict {
	TRACKER_UNSEEN,	 /* this session has not read the file */
	TRACKER_PART,	 /* its content is what the session saw a part of */
	TRACKER_SAME,	 /* its content is what the session saw */
	TRACKER_CHANGED, /* its content is different now */
};

/* Remembers at most `max` files over all sessions; NULL if there is no memory. */
struct tracker *tracker_new(size_t max);
void tracker_free(struct tracker *t);

/* Lines of a file, counted from 1. Ranges that follow each other from the first line to the last
 * are the whole file. */
struct tracker_lines {
	int64_t first, last, total;
};

/* The session has seen these lines, or (NULL) all, of the file, which has this content. */
void tracker_saw(struct tracker *t, struct str session, struct str path, struct str content,
		 const struct tracker_lines *lines);

/* The same for a caller that has only the content's size and its hash (tracker_hash). */
void tracker_saw_hash(struct tracker *t, struct str session, struct str path, int64_t size,
		      uint64_t hash, const struct tracker_lines *lines);

/* Append the content of the file as the session last saw it. False if it is not known. */
bool tracker_recall(struct tracker *t, struct str session, struct str path, struct buf *out);

/* What the session knows of the file, which has this content now. */
enum tracker_verdict tracker_check(struct tracker *t, struct str session, struct str path,
				   struct str content);

/* Hash content that comes in pieces; NULL if there is no memory. */
struct tracker_hash;
struct tracker_hash *tracker_hash_new(void);
void tracker_hash_add(struct tracker_hash *h, struct str piece);
uint64_t tracker_hash_end(struct tracker_hash *h); /* frees it */

#endif
