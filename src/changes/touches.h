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

struct touched_dir {
	struct touched_dir *chain, *next; /* in a bucket; in the order in which they came */
	dev_t dev;
	ino_t ino;
	int fd;		  /* O_PATH */
	int64_t mtime_ns; /* when it was first seen */
	bool is_new;	  /* it did not exist before the change */
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
	uint8_t hash[SHA256_SIZE];
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

/* The zero value is an empty set. */
struct touches {
	struct touched_dir **dirs, *first_dir, *last_dir;
	struct touched **names, **objects, *first, *last;
	size_t dir_count, dir_room, count, room;
	uint64_t moves; /* how often a directory may have got or lost a name */
};

/* Close the directories. */
void touches_done(struct touches *t);

/* The directory that this descriptor refers to, or NULL if it is not in the set. */
struct touched_dir *touches_find_dir(const struct touches *t, int dir);

/* Add it. NULL if there are too many, or there is no memory. */
struct touched_dir *touches_add_dir(struct touches *t, struct arena *a, int dir);

struct touched *touches_find(const struct touches *t, const struct touched_dir *d, struct str name);
struct touched *touches_add(struct touches *t, struct arena *a, struct touched_dir *d,
			    const char *name);

/* The state of a new one is known: from now on its object is found. */
void touches_note_object(struct touches *t, struct touched *n);

/* The name at which this object was, before the change; or NULL. */
struct touched *touches_find_object(const struct touches *t, dev_t dev, ino_t ino);

/*
 * Find out where a directory, which is at `now`, was when the change began, if it has been moved or
 * made since. Look upwards for one that is known: a moved one is, because it was touched. The names
 * below it have not changed, unless one was touched when another object had it: then it is new
 * there, and so is everything in it.
 */
void touches_find_origin(const struct touches *t, struct arena *a, int dir, struct str now,
			 struct touched_dir *d);

#endif
