/* SPDX-License-Identifier: MIT */
/*
 * store: the directory outside the workspace in which the journal lies.
 *
 *	workspace	the path of the workspace
 *	lock		held while a server uses the store
 *	00000001.log	segments of records (record.h), only ever appended to
 *	links/7		inodes of removed and replaced files
 *	stage/		what an undo is moving
 *
 * The store knows segments, positions and sizes; what a change is it does not know. It is bounded:
 * when it has more bytes than allowed the oldest segments are removed, with the links that belong
 *to them. A store that cannot be written any more says so and stays readable.
 *
 * All functions may be called from several threads.
 */
#ifndef CHANGES_STORE_H
#define CHANGES_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "changes/record.h"

struct store;

struct store_options {
	const char *dir;      /* of this workspace; made if missing, its parents too */
	struct str workspace; /* its canonical path */
	int64_t max_bytes;    /* of segments and links */
	int64_t max_age_ms;   /* 0: any */
	bool sync;	      /* what is appended with `sync` is on disk when that returns */
};

/* Open and lock the store. -1 with a sentence for the operator: it cannot be made or written, or
 * another server uses it. */
int store_open(const struct store_options *o, struct store **ret, struct err *e);

/* Close it. One that never got a record is removed again. */
void store_free(struct store *s);

/* Where a record begins: the number of its segment, and the offset in it. */
static inline uint64_t store_at(uint32_t segment, uint64_t offset)
{
	return (uint64_t)segment << 32 | offset;
}

/* Visit all records, oldest first, with their contents, except those of blobs: then content.p is
 * NULL and content.n its length. Damaged ones are left out. */
typedef void store_visit(void *arg, uint64_t at, const struct record_head *h, struct str content);
int store_scan(struct store *s, store_visit *visit, void *arg, struct err *e);

/* Append whole records (record_put); *at is the position of the first one. -1 if the store cannot
 * be written, and then it never can be again until the next start. */
int store_append(struct store *s, struct str records, bool sync, uint64_t *at);

/* Keep bytes as a blob of that change: with their hash if they are not kept already. -1 if they
 * cannot be kept. */
int store_keep(struct store *s, uint64_t change, struct str bytes, const uint8_t hash[SHA256_SIZE],
	       uint64_t *at);

/* The same for the first `size` bytes of a file, which are hashed on the way. -1 with errno if the
 * file cannot be read (ESTALE: it has fewer bytes), or the bytes cannot be kept. */
int store_keep_file(struct store *s, uint64_t change, int fd, int64_t size,
		    uint8_t hash[SHA256_SIZE], uint64_t *at);

/* Give the inode a name in the store. -1 with errno: EXDEV and others; then it must be copied. */
int store_link(struct store *s, int dir, const char *name, int64_t size, uint64_t *number);

/* Remove that name; one that is not there is fine. */
void store_unlink(struct store *s, uint64_t number);

/* Read the content of a record, whose type and change must be as given. -1 if the segment is gone
 * or the record damaged. With a `most`, only so many bytes, which are not checked. */
int store_read(struct store *s, uint64_t at, enum record_type type, size_t most, struct buf *out);

/* Copy a blob to a file, checking its hash. -1 with errno (EBADMSG: damaged, ENOENT: gone). */
int store_copy(struct store *s, uint64_t at, int to);

/* Whether the blob's segment, or the link, is still there. */
bool store_has(struct store *s, enum state_kept kept, uint64_t place);

/* The directories of links and of the stage, for renames out of and into the store. */
int store_links(const struct store *s);
int store_stage(const struct store *s);

/* The oldest segment that there is; changes whose commit lies before it are gone. */
uint32_t store_oldest(struct store *s);

/* Remove what is too much or too old. Returns whether something was removed. */
bool store_trim(struct store *s, int64_t now_ms);

struct store_facts {
	int64_t bytes, segments, links;
	bool writable;
};

struct store_facts store_facts(struct store *s);

#endif
