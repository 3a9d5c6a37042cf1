/* SPDX-License-Identifier: MIT */
/*
 * store: the directory outside the workspace in which the journal lies.
 *
 *	workspace	the path of the workspace
 *	key		the seed of all checksums
 *	lock		held while a server uses the store
 *	00000001.log	segments of records (record.h), only ever appended to
 *	links/1/7	inodes of removed and replaced files, by segment
 *	stage/		what an undo is moving
 *
 * The store knows segments, positions and sizes; what a change is it does not know. It is bounded:
 * when it has more bytes than allowed the oldest segments are removed, with the links that belong
 * to them. If nothing can be written, keeping fails and everything else goes on.
 *
 * All functions may be called from several threads.
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
	int64_t max_bytes;    /* of segments and links */
	int64_t max_age_ms;   /* 0: any */
	bool sync;	      /* commits are on disk when store_append returns */
};

/* Open and lock the store. -1 with a sentence for the operator: it cannot be made or written, or
 * another server uses it. */
int store_open(const struct store_options *o, struct store **ret, struct err *e);

/* Close it. One that has no record is removed again. */
void store_free(struct store *s);

/* The seed of its checksums. */
uint64_t store_seed(const struct store *s);

/* Where a record or a link is: the number of its segment, and the offset or number in it. */
static inline uint64_t store_at(uint32_t segment, uint32_t offset)
{
	return (uint64_t)segment << 32 | offset;
}

static inline uint32_t store_segment(uint64_t at)
{
	return (uint32_t)(at >> 32);
}

/* Visit all records, oldest first, with their contents, except those of blobs: then content.p is
 * NULL and content.n its length. Damaged ones are left out. Before anything is appended. */
typedef void store_visit(void *arg, uint64_t at, const struct record_head *h, struct str content);
void store_scan(struct store *s, store_visit *visit, void *arg);

/* Append whole records (record_put); *at is the position of the first one. -1 with errno. */
int store_append(struct store *s, struct str records, bool sync, uint64_t *at);

/* From now on no segment is removed that is there now or comes later, until it is released: an
 * unfinished change needs what it has kept. Returns what to release. */
uint32_t store_pin(struct store *s);
void store_unpin(struct store *s, uint32_t segment);

/* Room at the end of the store, for a record that is written in pieces: head last, because until
 * then the bytes are not a record. */
struct reserved {
	int fd; /* the segment's; open until it is released */
	uint64_t at;
};

int store_reserve(struct store *s, uint64_t need, struct reserved *ret);

/* It is written (rc is 0) or could not be (-1 with errno). Returns rc, or -1 if it did not reach
 * the disk and should. */
int store_release(struct store *s, const struct reserved *r, bool sync, int rc);
int store_write_at(int fd, struct str bytes, uint64_t offset);

/* Give the inode another name, in the store. -1 with errno: EXDEV, ENOSPC … */
int store_link(struct store *s, int dir, const char *name, int64_t size, uint64_t *at);

/* The status of a link. -1 with errno. */
struct stat;
int store_stat_link(struct store *s, uint64_t at, struct stat *st);

/* Any link of the inode of that number; false if there is none. It looks at all of them. */
bool store_find_inode(struct store *s, uint64_t ino, uint64_t *at);

/* Open a link for reading, or -1 with errno. */
int store_open_link(struct store *s, uint64_t at);

/* Give the inode a name in the workspace as well. -1 with errno. */
int store_link_out(struct store *s, uint64_t at, int dir, const char *name);

/* Remove a link; or rename it to a name in the workspace, replacing what is there. */
void store_unlink(struct store *s, uint64_t at);
int store_move_out(struct store *s, uint64_t at, int dir, const char *name);

/* Append the content of a record of that type to `out`. -1 with errno: ENOENT if it is gone,
 * EBADMSG if it is damaged. If `most` is not 0, at most so many bytes, which are not checked. */
int store_read(struct store *s, uint64_t at, enum record_type type, size_t most, struct buf *out);

/* For records that are read in pieces: a descriptor of the segment, which the caller closes, and
 * the head. */
int store_open_segment(struct store *s, uint64_t at);
int store_read_head(const struct store *s, int fd, uint64_t at, enum record_type type,
		    struct record_head *ret);

/* A directory for objects that an undo moves, or -1. */
int store_stage(const struct store *s);

/* The oldest segment that there is: what lay in older ones is gone. */
uint32_t store_oldest(struct store *s);

/* The one in the middle: older ones go first, and should not be relied upon. */
uint32_t store_middle(struct store *s);

/* Remove what is too much or too old. */
void store_trim(struct store *s);

struct store_facts {
	int64_t bytes;
	int64_t max_bytes;
	int failed; /* errno of the last write, 0 if it succeeded */
	char path[4096];
};

void store_get_facts(struct store *s, struct store_facts *ret);

#endif
