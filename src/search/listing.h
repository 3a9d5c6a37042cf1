/* SPDX-License-Identifier: MIT */
/*
 * listing: the names in one directory, read as the kernel gives them, then put in order.
 *
 *	listing_reset(&l);
 *	while ((got = listing_more(&l, fd)) > 0)
 *		…
 *	… drop what is not wanted from l.list …
 *	listing_sort(&l);
 *
 * The memory is kept for the next directory.
 */
#ifndef SEARCH_LISTING_H
#define SEARCH_LISTING_H

#include "base/buf.h"
#include "search/dir.h"
#include "search/hits.h"

struct listed {
	uint64_t key; /* for sorting: the first bytes of the name, a directory's followed by "/" */
	size_t name;  /* offset in dir_listing.names */
	uint32_t name_n;
	enum hit_type type;
	bool ignored;	 /* for the walk … */
	unsigned wanted; /* … its WALK_ flags */
};

struct dir_listing {
	struct listed *list;
	size_t n, cap;
	struct buf names; /* each followed by a NUL */
	struct rule_files rules;
	char *dents; /* what the kernel wrote */
};

/* 0, or -1 when there is no memory. *l is zeroed. */
int listing_init(struct dir_listing *l);
void listing_done(struct dir_listing *l);

void listing_reset(struct dir_listing *l);

/* Read some more names: 1, 0 when there are no more, -1 when the directory cannot be read or there
 * is no memory. */
int listing_more(struct dir_listing *l, int fd);

/* Byte order of the paths in the directories: a directory's name counts with its "/". */
void listing_sort(struct dir_listing *l);

static inline struct str listing_name(const struct dir_listing *l, const struct listed *entry)
{
	return (struct str){ l->names.p + entry->name, entry->name_n };
}

#endif
