/* SPDX-License-Identifier: MIT */
/*
 * visit: what a walk (walk.h) is asked for, what its visitor gets to see, and what was found.
 */
#ifndef SEARCH_VISIT_H
#define SEARCH_VISIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/str.h"
#include "search/filled.h"
#include "search/hits.h"

enum walk_stop {
	WALK_COMPLETE,
	WALK_LIMIT, /* `limit` hits were found; there may be more */
	WALK_TIMEOUT,
	WALK_CANCELLED,
};

/* What was searched, and what was left out and why. */
struct walk_account {
	int64_t files;	    /* find: entries seen; grep: files searched */
	int64_t ignored;    /* entries that an ignore rule hides; a directory counts once */
	int64_t hidden;	    /* entries called .git, and files that are hidden */
	int64_t filtered;   /* files that the caller's globs or types leave out */
	int64_t binary;	    /* files with a NUL byte */
	int64_t too_large;  /* files above the caller's maximum */
	int64_t unreadable; /* entries that could not be opened or read, or vanished */
	int64_t long_lines; /* lines too long for the pattern (regex_lines_skipped) */
	enum walk_stop stopped;
};

struct walk_entry {
	int dirfd;	 /* of the directory it is in */
	struct str path; /* from the root of the walk, no "/" at the end; followed by a NUL */
	struct str name; /* the last component of path; followed by a NUL */
	enum hit_type type;
};

struct walk_file {
	int fd;
	struct str path;
	bool reads_whole; /* see dir_reads_whole */
	const bool *stop; /* set (__atomic) when no file need be searched any more */
};

/* What a visitor wants done with an entry. */
enum {
	WALK_SCAN = 1 << 0,    /* call `file` with it later (files only) */
	WALK_DESCEND = 1 << 1, /* visit what is in it (directories only) */
	WALK_REPORT = 1 << 2,  /* call `report` with it */
};

/* The search that uses the walk. The functions are called by several threads at once; each thread
 * has its own worker, made by worker_new. Only `entry` is required. */
struct walk_visitor {
	void *search;
	unsigned (*entry)(void *search, const struct walk_entry *, struct walk_account *);
	void (*report)(void *search, const struct walk_entry *, struct hits *);
	/* False when the time is used up: the walk stops. */
	bool (*file)(void *worker, const struct walk_file *, struct hits *, struct walk_account *);
	void *(*worker_new)(void *search); /* NULL when there is no memory */
	void (*worker_free)(void *worker);
	/* Nothing was found: from now on the files that the rules hide are searched, for one hit
	 * per file and only until this deadline. */
	void (*hint)(void *search, int64_t deadline_ms);
};

struct walk_request {
	int dirfd;
	/* The directories above whose rules apply, outermost first: open descriptors, and the path
	 * from the first of them to dirfd, one component for each. */
	const int *parents;
	size_t parent_count;
	struct str parent_path;
	struct str excludes; /* text of the user's global ignore file */

	unsigned threads;    /* the caller's is one of them */
	int64_t deadline_ms; /* IO_FOREVER: no deadline */
	const struct cancel *cancel;
	size_t limit;	    /* hits; 0: only LIMIT_SEARCH_BYTES applies */
	unsigned max_depth; /* 1: only the directory itself; 0: any depth */
	struct str after;   /* only paths that sort after this one, and it itself if it is a file;
			       empty: all */
	bool all;	    /* no ignore rules */
	bool skip_filled;   /* leave out what tools fill */
	bool spread;	    /* `limit` hits of each entry of `below`, not of all together */
	struct str below;   /* only what is below this directory, whose path ends in "/" */

	/* Files whose content is not searched; may be NULL. Called by several threads. */
	bool (*hides)(void *arg, int fd);
	void *hides_arg;

	/* The caller's thread reports now and then how many files have been seen; may be NULL. */
	void (*seen)(void *arg, int64_t files);
	void *seen_arg;
};

/* What a search found, and its account. */
struct found {
	struct hits hits;
	struct walk_account account;
	struct err why; /* the error of the pattern engine if it stopped the search; else no code */
	int64_t ignored_matches; /* if nothing was found: how many files that were left out match,
				    as far as a short search could tell */
	struct filled *filled;	 /* the directories that were left out because tools fill them;
				    NULL: there are none */
	bool spread;		 /* the hits are not the first ones, but some from everywhere
				    (spread.h) … */
	struct hits left;	 /* … and these entries have more: paths alone */
};

#endif
