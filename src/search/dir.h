/* SPDX-License-Identifier: MIT */
/*
 * dir: a directory of the tree that is being walked, and the ignore rules in it.
 *
 * A directory knows its name and its parent, up to the root of the walk, so a path of any length
 * costs only a name. It is reference-counted: work that is still to be done holds it. It is entered
 * by descriptor, one component at a time and never through a link: even if entries are renamed or
 * exchanged in the meantime, what is opened lies in the tree. Mount points are entered.
 *
 * Only LIMIT_WALK_DIRS descriptors stay open; a directory that lost its own opens the way from the
 * nearest one that still has one. This is the only file of search/ that opens anything.
 */
#ifndef SEARCH_DIR_H
#define SEARCH_DIR_H

#include <pthread.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "search/hits.h"
#include "search/ignore.h"

struct dir {
	struct dir *up;		   /* NULL for the root */
	struct ignore *git;	   /* the rules of .gitignore files, set by dir_read_rules */
	struct ignore *dot;	   /* the rules of .ignore files */
	bool ignored;		   /* it or a directory above is ignored */
	unsigned depth;		   /* 0 for the root */
	unsigned owners;	   /* under dirs.lock, as all below */
	unsigned users;		   /* threads that have entered it: its descriptor stays open */
	int fd;			   /* -1 when closed */
	struct dir *older, *newer; /* in the order they were opened */
	size_t name_n;
	char name[]; /* followed by a NUL */
};

/* All directories of one walk. */
struct dirs {
	pthread_mutex_t lock;
	struct dir *root;
	struct dir *oldest, *newest; /* open ones, without the root */
	unsigned open;
};

/* Start at a directory; dirfd stays the caller's. 0, or -1 with errno. Before dirs_done every other
 * directory has been dropped. */
int dirs_init(struct dirs *all, int dirfd);
void dirs_done(struct dirs *all);

/* A directory in `up`, not opened yet, with one owner; NULL when there is no memory. */
struct dir *dir_new(struct dirs *all, struct dir *up, struct str name);
void dir_hold(struct dirs *all, struct dir *d);
void dir_drop(struct dirs *all, struct dir *d);

/* A descriptor that stays open until dir_leave. -1 with errno when it cannot be opened: gone, not
 * allowed, or no longer a directory. Nothing else moves the descriptor's position. */
int dir_enter(struct dirs *all, struct dir *d);
void dir_leave(struct dirs *all, struct dir *d);

/* Append the path from the root, a "/" after every component; nothing for the root. */
void dir_path(const struct dir *d, struct buf *out);

/* Open a file for reading, never through a link and without waiting for the writer of a pipe.
 * Returns a descriptor that the caller closes, or -1 with errno. */
int dir_open_file(int dirfd, const char *name);

/* The size of an entry itself (of a link: of the link), or -1. */
int64_t dir_entry_size(int dirfd, const char *name);

/* Whether the directory has such an entry; with `in`, whether the directory of that name in it has. */
bool dir_has(int dirfd, const char *in, const char *name);

/* Add to *files how many entries there are below a directory, without directories. False when not all
 * are counted: *files has reached `most`, or there are too many directories. */
bool dir_count(int dirfd, const char *name, int64_t most, int64_t *files);

/* Whether a read on the directory's file system returns less than was asked for only at the end of
 * a file. True of the usual ones that keep files on a disk or in memory; there the last read of
 * each file, which would only say that there is no more, can be saved. */
bool dir_reads_whole(int dirfd);

/* Which of these a directory has. */
struct rule_files {
	bool git, gitignore, ignore;
};

/* The rules for the root: those of the directories above it, outermost first. `path` leads from the
 * first of them to the root, a "/" after every component. */
void dirs_read_rules(struct dirs *all, const int *parents, size_t count, struct str path,
		     struct str excludes);

/* The rules for a directory that has been entered as fd: its parent's and its own. Its path from
 * the outermost parent is `depth` bytes long. */
void dir_read_rules(struct dir *d, int fd, const struct rule_files *has, size_t depth,
		    struct str excludes);

/* What the rules of the directory say of an entry of it. `path` is from the outermost parent; its
 * last component starts at name_at. */
enum ignore_verdict dir_hides(const struct dir *d, struct str path, size_t name_at, bool is_dir);

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

struct listed {
	uint64_t key; /* for sorting: the first bytes of the name, a directory's followed by "/" */
	size_t name;  /* offset in dir_listing.names */
	uint32_t name_n;
	enum hit_type type;
	bool ignored;	 /* for the walk: by a rule … */
	bool filled;	 /* … by a tool (filled.h) … */
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
