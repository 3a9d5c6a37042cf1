/* SPDX-License-Identifier: MIT */
/*
 * walk_list: the work of a walk, in the order of the tree.
 *
 * An item is a directory to be read, some files to be scanned, or the hits of finished work. Lists
 * do not lock; the walk does.
 */
#ifndef SEARCH_WALK_LIST_H
#define SEARCH_WALK_LIST_H

#include "search/dir.h"
#include "search/hits.h"

enum item_state {
	ITEM_DIR,   /* a directory to be read */
	ITEM_FILES, /* files to be scanned */
	ITEM_TAKEN, /* a thread is working on it */
	ITEM_DONE,  /* hits only */
};

struct walk_item {
	struct walk_item *prev, *next;
	enum item_state state;
	struct dir *dir; /* the directory itself, or the one the files are in; held */
	struct hits hits;
	unsigned group; /* of a walk that spreads: the entry of its directory, else 0 */
	size_t files;
	size_t names_n;
	char names[]; /* of the files, each followed by a NUL */
};

struct walk_list {
	struct walk_item *first, *last;
};

/* An item that holds the directory (which may be NULL), with room for names; NULL when there is no
 * memory. */
struct walk_item *walk_item_new(struct dirs *dirs, enum item_state state, struct dir *d,
				size_t names_n);
void walk_item_free(struct dirs *dirs, struct walk_item *item);

void walk_list_add(struct walk_list *l, struct walk_item *item);

void walk_list_remove(struct walk_list *l, struct walk_item *item);

/* Remove the first item from the list, which is not empty. */
struct walk_item *walk_list_shift(struct walk_list *l);

/* Put the items of `in` in the place of this one, which is then in no list. */
void walk_list_replace(struct walk_list *l, struct walk_item *item, struct walk_list *in);

/* Join neighbours that are done, from this item up to `end`. */
void walk_list_merge(struct walk_list *l, struct dirs *dirs, struct walk_item *item,
		     const struct walk_item *end);

#endif
