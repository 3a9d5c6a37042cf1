/* SPDX-License-Identifier: MIT */
/*
 * touches: the names that a change has touched, by directory and name.
 *
 * A directory is known by device and inode and held open, so that its number is not given to
 * another one. Memory is in the arena that the caller gives; a set belongs to one thread.
 */
#ifndef CHANGES_TOUCHES_H
#define CHANGES_TOUCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/str.h"
#include "changes/record.h"
#include "workspace/path.h"

struct touched_dir {
	struct touched_dir *chain, *next; /* in a bucket; in the order in which they came */
	dev_t dev;
	ino_t ino;
	int fd;		  /* O_PATH */
	int64_t mtime_ns; /* when it was first seen */
	bool is_new;	  /* it did not exist before the change */
	bool is_outside;  /* the journal cannot have it: only an atomic change knows it */
	struct str path;  /* before the change, relative to the workspace */
	struct str text;  /* where it was when there had been so many moves: */
	uint64_t moves;

	/* Set at the end, by compare.h: */
	bool is_there;	/* it is in the workspace … */
	struct str now; /* … by this path */
	bool is_listed; /* the change has an item for the directory itself */
};

/* A content that a file was given. */
struct left_content {
	int64_t size;
	uint8_t hash[RECORD_HASH];
	struct str text; /* of a small one */
};

struct touched {
	struct touched *chain, *next;
	struct touched *object_chain; /* of those whose object has this number */
	struct touched_dir *dir;
	const char *name;
	struct path_state before;
	struct left_content *left; /* what a tool has written there; NULL: not known */
	bool gone; /* the object may have been removed: its number may belong to another one now */
};

/* The zero value is an empty set, of which `rules` and `has_outside` are set. */
struct touches {
	struct touched_dir **dirs, *first_dir, *last_dir;
	struct touched **names, **objects, *first, *last;
	size_t dir_count, dir_room, count, room;
	uint64_t moves;			/* how often a directory may have got or lost a name */
	const struct path_rules *rules; /* of the workspace; NULL: every directory is outside */
	bool has_outside;		/* directories outside are known, too */
};

/* Close the directories. */
void touches_done(struct touches *t);

/* The directory that this descriptor refers to, or NULL if it is not in the set. */
struct touched_dir *touches_find_dir(const struct touches *t, int dir);
struct touched_dir *touches_find_inode(const struct touches *t, dev_t dev, ino_t ino);

/* The same, which is added if it is new. NULL with errno: ENOMEM, or EXDEV if it is outside.
 *
 * Where it was when the change began, if it has been moved or made since, is found by looking
 * upwards for one that is known: a moved one is, because it was touched. The names below it have not
 * changed, unless one was touched when another object had it: then it is new there, and so is
 * everything in it. */
struct touched_dir *touches_dir(struct touches *t, struct arena *a, int dir);

/* Find out where it is now; `ask` although no move is known. False if that is outside. */
bool touches_find_text(const struct touches *t, struct arena *a, struct touched_dir *d, bool ask);

struct touched *touches_find(const struct touches *t, const struct touched_dir *d, struct str name);
struct touched *touches_add(struct touches *t, struct arena *a, struct touched_dir *d,
			    const char *name);

/* The state of a new one is known: from now on its object is found. */
void touches_note_object(struct touches *t, struct touched *n);

/* The name at which this object was, before the change; or NULL. */
struct touched *touches_find_object(const struct touches *t, dev_t dev, ino_t ino);

/* The path of another name than this one that the file had before the change, and has now; or "". */
struct str touches_find_other(const struct touches *t, struct arena *a, int dir, const char *name,
			      const struct path_state *file);

/* The file of that name has been given this content; with `whole` it is kept in memory as well. */
void touches_note_left(const struct touches *t, struct arena *a, int dir, const char *name,
		       struct str content, uint64_t seed, bool whole);

#endif
