/* SPDX-License-Identifier: MIT */
/*
 * store: what is kept of changes, in the home of a workspace (home.h).
 *
 * A segment is a sequence of records (record.h) that is only ever appended to. A change is in one
 * segment as a whole: its records, the contents that were copied for it, and the inodes that were
 * linked for it (links/<segment>/<number>). So a segment that is removed takes whole changes with
 * it, and no other change needs any of it.
 *
 * The store is bounded, by bytes that were copied, by bytes that are linked (a tenth of what is
 * free on the file system, and nothing while less than a twentieth is), and by age. While a change
 * is made nothing is removed for it. When it is over, the oldest segments go until the rest fits, but
 * never its own. A change that alone is larger than 15/16 of that is refused on the way (ENOSPC) and
 * gives back what it has: nothing is lost for what cannot be kept. The last sixteenth is for what
 * its segment has already.
 *
 * A position (`at`) is the number of a segment, and an offset in it or the number of a link. All
 * functions may be called from several threads; a part belongs to one.
 */
#ifndef CHANGES_STORE_H
#define CHANGES_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "changes/record.h"

struct store;

struct store_options {
	const char *dir;      /* of this workspace; made if missing, its parents too */
	struct str workspace; /* its canonical path */
	int64_t max_bytes;    /* of what is copied */
	int64_t max_age_ms;   /* 0: any */
	bool sync;	      /* commits are on disk when store_append returns */
	bool is_guest;	      /* others say how much is kept: nothing is removed */
};

/* Open the store. -1 with a sentence for the operator: it cannot be made or written. */
int store_open(const struct store_options *o, struct store **ret, struct err *e);

/* Close it. One that has no record is removed again. */
void store_free(struct store *s);

/* The seed of its checksums and hashes. */
uint64_t store_seed(const struct store *s);

/* The number of a new change, unique and greater than all others in this home; 0 with errno. Later
 * ones are greater than `last`, too. */
uint64_t store_number(struct store *s);
void store_raise_number(struct store *s, uint64_t last);

/* For runner_new: who has it open vouches for this program (home.h). */
int store_writer(const struct store *s);

/* For locks_share. */
int store_turns(const struct store *s);

static inline uint64_t store_at(uint32_t segment, uint32_t offset)
{
	return (uint64_t)segment << 32 | offset;
}

static inline uint32_t store_segment(uint64_t at)
{
	return (uint32_t)(at >> 32);
}

/* What one change has in the store. Zero: nothing yet. */
struct store_part {
	uint32_t segment;
	uint64_t change;	 /* its number */
	int64_t written, linked; /* bytes of its contents, and what its steps need; of its links */
};

/* Choose the segment of a change. 0, or -1 with errno. */
int store_begin(struct store *s, uint64_t change, struct store_part *ret);

/* Continue one that a dead program has begun, in a segment that was adopted (below) or that nobody
 * owns. 0, or -1 with errno. */
int store_resume(struct store *s, uint64_t change, uint32_t segment, struct store_part *ret);

/* The change is over: from now on its segment may be removed, and what is too much or too old is.
 */
void store_end(struct store *s, struct store_part *p);

/* Append whole records (record_put); *at is the position of the first one. With is_end, and `sync`
 * in the options, they are on disk then. -1 with errno. */
int store_append(struct store *s, const struct store_part *p, struct str records, bool is_end,
		 uint64_t *at);

/* Bytes at the end of a change's segment, for a content: its record is written head last, because
 * until then the bytes are not a record. */
struct reserved {
	int fd; /* the segment's; open until it is released */
	uint64_t at;
};

/* -1 with errno: ENOSPC if the change becomes too large. */
int store_reserve(struct store *s, struct store_part *p, uint64_t need, struct reserved *ret);

/* It is written (rc is 0) or could not be (-1 with errno). Returns rc, or -1 if it did not reach
 * the disk and should. */
int store_release(struct store *s, const struct reserved *r, bool sync, int rc);
int store_write_at(int fd, struct str bytes, uint64_t offset);

/* Several changes need the content of a BLOB. */
void store_share(struct store *s, uint64_t at);

/* Give back the bytes of the content of a BLOB that is not needed after all. Unless the caller
 * knows that only one change needed it, only where no content is shared. */
void store_punch(struct store *s, uint64_t at, bool is_alone);

/* For links.h: the directory of the links; the position of a change's next link of a file of that
 * size, or 0 with ENOSPC; how many bytes more it has; and the newest segments that have links. */
int store_links(const struct store *s);
uint64_t store_next_link(struct store *s, const struct store_part *p, int64_t size);
void store_count_link(struct store *s, uint64_t at, int64_t bytes);
size_t store_segments(struct store *s, uint32_t *to, size_t max);

/* Whether there is a segment of that position. */
bool store_has(struct store *s, uint64_t at);

/* Append the content of a record of that type to `out`. -1 with errno: ENOENT if it is gone,
 * EBADMSG if it is damaged. If `most` is not 0, at most that many bytes, which are not checked. */
int store_read(struct store *s, uint64_t at, enum record_type type, size_t most, struct buf *out);

/* For records that are read in pieces: a descriptor of the segment, which the caller closes, and
 * the head. */
int store_open_segment(struct store *s, uint64_t at);
int store_read_head(const struct store *s, int fd, uint64_t at, enum record_type type,
		    struct record_head *ret);

/*
 * Look at the home again: forget segments that others have removed, and visit all records that were
 * not visited before, of other programs and of earlier ones, in the order of their segments, with
 * their contents; except those of BLOB: then content.p is NULL and content.n its length. Damaged
 * ones are left out. A record may be visited twice.
 */
typedef record_visit store_visit;
void store_refresh(struct store *s, store_visit *visit, void *arg);

/* Visit the records of one segment again. */
void store_scan(struct store *s, uint32_t segment, store_visit *visit, void *arg);

/* Take over the segments of programs that are dead, after their records have been visited. What they
 * left unfinished is for the caller to resume; then store_adopted gives the others free. */
void store_adopt(struct store *s, store_visit *visit, void *arg);
void store_adopted(struct store *s);

/* Whether another program owns that segment; and whether no process of the commands of dead programs
 * lives, so that nothing happens to the changes of these commands any more. */
bool store_is_foreign(struct store *s, uint32_t segment);
bool store_is_quiet(const struct store *s);

/* How often a segment has gone: what was known of its changes is to be forgotten. */
uint64_t store_removals(struct store *s);

/* A directory for objects that an undo moves, or -1. */
int store_stage(const struct store *s);

struct store_facts {
	int64_t bytes, linked; /* of what is copied and of what is linked */
	int64_t max_bytes, max_linked;
	int failed; /* errno of the last write, 0 if it succeeded */
	char path[4096];
};

void store_get_facts(struct store *s, struct store_facts *ret);

#endif
