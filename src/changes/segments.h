/* SPDX-License-Identifier: MIT */
/*
 * segments: which segments a home has, whose they are, and which of them go.
 *
 * Nothing here locks anything: the store does (store.h).
 */
#ifndef CHANGES_SEGMENTS_H
#define CHANGES_SEGMENTS_H

#include "changes/home.h"

struct segment {
	uint32_t number;
	uint64_t owner;	  /* a writer (home.h); 0: nobody */
	int fd;		  /* of one of ours; else -1 */
	uint64_t size;	  /* of one of ours: where the next record goes */
	uint64_t visited; /* up to here its records have been visited, without a gap … */
	uint64_t end;	  /* … and this is the end of the last one … */
	uint64_t scanned; /* … in what was read of it: behind this nothing is known */
	bool is_whole;	  /* there is no gap, and nothing behind the last one */
	int64_t bytes, linked;
	int64_t begun_ms, newest_ms; /* when it was made (0: not known), and last written to */
	uint32_t links, records; /* of one of ours: the last number of a link; how many there are */
	uint32_t changes;	 /* of one of ours: those that are not over */
	bool is_shared;		 /* of one of ours: several changes need one of its contents */
	bool is_listed;		 /* while the home is looked at */
};

struct segments {
	struct home home;
	int64_t max_bytes, max_age_ms; /* as in struct store_options */
	bool is_guest;		       /* as well */
	int64_t segment_bytes;	       /* from this size on no change begins in it */
	struct segment *list;	       /* oldest first */
	size_t count, room;
	uint32_t current;  /* the one in which changes begin, or 0 */
	uint64_t removals; /* how often one of them has gone */
};

/* The segment of that number; NULL with ENOENT. */
struct segment *segments_find(struct segments *s, uint32_t number);

/* Look which there are now. */
void segments_look(struct segments *s);

/* Open one by its name, with these flags. -1 with errno. */
int segments_open(const struct segments *s, const struct segment *g, int flags);

/* How many bytes they have on disk, and linked; and how many may be linked: a tenth of what is free
 * there, and none while less than a twentieth is. */
void segments_sum(const struct segments *s, int64_t *bytes, int64_t *linked);
int64_t segments_most_linked(const struct segments *s);

/* Remove what is too much or too old, first those whose last change is the oldest. What has an owner
 * stays; and, unless they are too old, the one of that number (0: none) and the newest of all. */
void segments_trim(struct segments *s, uint32_t keep);

/* The one in which a change can begin, ours; or NULL with errno. */
struct segment *segments_current(struct segments *s);

/* Whether no change begins in it any more: it has its share of what may be kept, or is so old that
 * its first changes would outlast the others. */
bool segments_is_full(const struct segments *s, const struct segment *g);

/* Make one ours, to append to it. 0, or -1 with errno. */
int segments_take(struct segments *s, struct segment *g);

/* The same for one that is nobody's, if all that is in it has been visited. */
int segments_continue(struct segments *s, struct segment *g);

/* Nothing is appended to it any more: it is nobody's. */
void segments_retire(struct segments *s, struct segment *g);

#endif
