/* SPDX-License-Identifier: MIT */
/*
 * record: what the journal knows of a change, and its form on disk.
 *
 * A segment of the journal is a sequence of records. Each begins at a multiple of RECORD_ALIGN with
 * a head of RECORD_HEAD bytes, which has a checksum of its own, so that a reader can hop from head
 * to head and find its way after a damaged one. Numbers are little-endian. docs/design/changes.md
 * lists the types of records and says when each is written.
 *
 * Everything here but record_scan is pure: bytes in memory to structs and back. Bytes that come from
 * disk may be anything; what is read from them points into them or into the arena.
 */
#ifndef CHANGES_RECORD_H
#define CHANGES_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum {
	RECORD_ALIGN = 8,
	RECORD_HEAD = 40,
	RECORD_HASH = 16, /* of a content: 128 bits of XXH3 with the store's seed */
};

enum record_type {
	RECORD_BEGIN = 1, /* a change has begun */
	RECORD_TOUCH,	  /* the state of a path before the change */
	RECORD_MOVE,	  /* an atomic change is about to rename something */
	RECORD_BLOB,	  /* the bytes of an old content, then their hash */
	RECORD_COMMIT,	  /* the change as it is when it is over */
	RECORD_DROP,	  /* the change came to nothing, or was taken back */
	RECORD_BACK,	  /* an atomic change is taken back down to this touch */
	RECORD_LOSE,	  /* nothing of what was kept before it is kept */
	RECORD_PUT,	  /* an atomic change is about to give a name another object */
	RECORD_TYPES,
};

struct record_head {
	enum record_type type;
	uint64_t change;   /* its number */
	uint64_t length;   /* of the content, without padding */
	uint64_t checksum; /* of the content */
};

/* How many bytes a record with so much content has, padding included. */
static inline uint64_t record_size(uint64_t length)
{
	return RECORD_HEAD + ((length + RECORD_ALIGN - 1) & ~(uint64_t)(RECORD_ALIGN - 1));
}

/* Checksums are seeded with a secret of the store: an old content that looks like a record is not
 * taken for one. */
uint64_t record_checksum(uint64_t seed, struct str content);

/* Write a head. */
void record_put_head(uint64_t seed, const struct record_head *h, char to[RECORD_HEAD]);

/* Read a head; false if these bytes are not one. */
bool record_get_head(uint64_t seed, const char from[RECORD_HEAD], struct record_head *ret);

/* Append a whole record: head, content, padding. */
void record_put(struct buf *out, uint64_t seed, enum record_type type, uint64_t change,
		struct str content);

/* The hash of a content. */
void record_hash_of(uint64_t seed, struct str content, uint8_t ret[RECORD_HASH]);

/* A part of a segment, and what was found in it. */
struct record_range {
	uint32_t segment;
	uint64_t from, to;
	uint64_t gap; /* from here on something is missing; at least `to` if nothing is */
	uint64_t end; /* of the last record, padding included even if it is missing */
	bool failed;  /* not all of it could be read */
};

/* Visit the records of that range of a file with their contents, except those of BLOB: then
 * content.p is NULL and content.n its length. `at` has the segment in its upper half. Damaged ones
 * are left out. */
typedef void record_visit(void *arg, uint64_t at, const struct record_head *h, struct str content);
void record_scan(int fd, uint64_t seed, struct record_range *r, record_visit *visit, void *arg);

enum state_type {
	STATE_NONE, /* there is nothing */
	STATE_FILE,
	STATE_DIR,
	STATE_LINK,
	STATE_FIFO,
	STATE_SOCKET,
	STATE_DEVICE, /* of characters */
	STATE_BLOCK_DEVICE,
	STATE_TYPES,
};

/* Where the content of a file is kept. */
enum state_kept {
	KEPT_NOT,      /* it is lost, or was not needed yet */
	KEPT_NEEDLESS, /* the state has no content but what is in this struct */
	KEPT_BLOB,     /* in a record: `place` is its position (store.h) */
	KEPT_LINK,     /* as an inode in the store: `place` is its number */
	KEPTS,
};

/* Everything that undo restores of one path. */
struct path_state {
	enum state_type type;
	enum state_kept kept;
	uint32_t mode; /* as in st_mode, without the type */
	uint32_t uid, gid, nlink;
	uint64_t dev, ino, rdev;
	int64_t size;	  /* of a file */
	int64_t mtime_ns; /* since 1970 */
	uint64_t place;
	bool hashed;
	uint8_t hash[RECORD_HASH]; /* of a file's content, if `hashed` */
	struct str link;   /* the text of a symbolic link; another name of a file with several */
	struct str xattrs; /* for each: name, NUL, four bytes of length, value */
	struct str text;   /* the content of a small file, if it is in memory; not stored */
};

enum item_kind {
	ITEM_CREATED,
	ITEM_MODIFIED,
	ITEM_DELETED,
	ITEM_RENAMED, /* and possibly modified */
	ITEM_TIMES,   /* a directory whose time alone differs: restored, but not shown */
	ITEM_KINDS,
};

/* "created", "modified", "deleted", "renamed". */
const char *item_kind_name(enum item_kind kind);

/* A path whose states before and after the change differ. Paths are relative to the workspace,
 * whose root is ".". */
struct change_item {
	enum item_kind kind;
	struct str path; /* after the change; of a deleted one before it */
	struct str from; /* where it was before, if that is another path; else empty */
	struct path_state before, after;
};

/* Whether the old content of a file was not kept. What was only moved, or got other metadata, was in
 * no danger: its hash, or size and time, are the same. */
bool item_is_lost(const struct change_item *i);

/* Where it was before the change. */
static inline struct str item_was(const struct change_item *i)
{
	return i->from.n ? i->from : i->path;
}

enum {
	CHANGE_ATOMIC = 1 << 0,	    /* taken back if it is not finished: undo, patches */
	CHANGE_INCOMPLETE = 1 << 1, /* it may have changed more than is known */
	CHANGE_UNSAVED = 1 << 2,    /* some old content was not saved */
	CHANGE_COMMAND = 1 << 3,    /* a command made it */
	CHANGE_UNDO = 1 << 4,	    /* it undid others */
	CHANGE_OPEN = 1 << 5, /* it goes on: a process of its command still runs; not stored */
};

/* A change. Of one that is only listed, the items are not read. */
struct change {
	uint64_t id;
	int64_t time_ms; /* since 1970 */
	unsigned flags;
	struct str tool, subject, session;
	const uint64_t *undoes; /* the changes that it undid, newest first */
	size_t undo_count;
	uint32_t counts[ITEM_KINDS];
	struct change_item *items;
	size_t item_count;
};

/* The content of BEGIN and COMMIT; BEGIN has no items. */
void record_put_change(struct buf *out, const struct change *c);

/* Read it. With `whole` unset, a beginning of the content is enough and the items are left out.
 * False if these bytes are not that, or the arena is full. */
bool record_get_change(struct str content, bool whole, struct arena *a, struct change *ret);

/* The most of a content that is needed to read a change without its items. */
enum { RECORD_SUMMARY = 16 << 10 };

/* The content of TOUCH: where, and what was there. `number` counts the steps of its change. */
struct touch_record {
	uint64_t number;
	int64_t dir_mtime_ns; /* of its directory */
	struct str path;      /* at that moment */
	struct path_state before;
};

void record_put_touch(struct buf *out, const struct touch_record *t);
bool record_get_touch(struct str content, struct touch_record *ret);

/* The content of MOVE. */
struct move_record {
	uint64_t number;
	struct str from, to; /* empty: in the stage, by the number of its inode */
	uint64_t dev, ino;
	int64_t from_mtime_ns, to_mtime_ns; /* of the directories */
};

void record_put_move(struct buf *out, const struct move_record *m);
bool record_get_move(struct str content, struct move_record *ret);

/* The content of PUT: a name is about to get a new object, and what is there the name `aside`. */
struct put_record {
	uint64_t number;
	int64_t dir_mtime_ns; /* of the directory of both names */
	struct str path;
	struct str aside;  /* one name; empty: nothing is there */
	uint64_t dev, ino; /* of the new object; 0: a directory that is made, or nothing */
};

void record_put_put(struct buf *out, const struct put_record *p);
bool record_get_put(struct str content, struct put_record *ret);

#endif
