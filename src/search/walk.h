/* SPDX-License-Identifier: MIT */
/*
 * walk: a tree of directories, visited by several threads, answered in order.
 *
 * The walk starts at a directory descriptor and visits everything below that the ignore rules
 * leave. It never follows a link, never leaves the tree (dir.h), enters mount points, and skips
 * every entry called .git. What cannot be read, or vanishes, is counted and skipped.
 *
 * The order of the hits is the byte order of their paths, directories with their "/" behind, and
 * does not depend on the threads. The tree is kept as a list in that order: a thread takes the
 * first piece of work in it, a directory or some files, and puts what came out in its place. So the
 * front of the list is always what has been finished; once it holds `limit` hits the rest of the
 * tree need not be looked at.
 *
 * Which rules hold, the first that decides:
 *	.ignore		from the entry's directory outwards
 *	.gitignore	from the entry's directory outwards to the repository's root (the directory
 *			that has a .git), or to the outermost directory given when there is none
 *	.git/info/exclude	of that repository
 *	excludes	the user's own file, given as text
 */
#ifndef SEARCH_WALK_H
#define SEARCH_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/cancel.h"
#include "search/hits.h"

enum walk_stop {
	WALK_COMPLETE,
	WALK_LIMIT, /* `limit` hits are there; there may be more */
	WALK_TIMEOUT,
	WALK_CANCELLED,
};

/* What was seen, and what was left out and why. */
struct walk_account {
	int64_t files;	    /* find: entries looked at; grep: files searched */
	int64_t ignored;    /* entries that an ignore rule hides; a directory counts once */
	int64_t hidden;	    /* entries called .git */
	int64_t filtered;   /* files that the caller's globs or types leave out */
	int64_t binary;	    /* files with a NUL byte */
	int64_t too_large;  /* files above the caller's maximum */
	int64_t unreadable; /* entries that could not be opened or read, or vanished */
	int64_t long_lines; /* lines the pattern could not be tried on (regex_lines_skipped) */
	enum walk_stop stopped;
};

struct walk_entry {
	int dirfd;	 /* of the directory it is in */
	struct str path; /* from the root of the walk, no "/" behind; NUL behind it */
	struct str name; /* the last component of path; NUL behind it */
	enum hit_type type;
};

struct walk_file {
	int fd;
	struct str path;
	bool reads_whole; /* see dir_reads_whole */
	const bool *stop; /* set (__atomic) when nothing more is wanted of any file */
};

/* What a visitor wants done with an entry. */
enum {
	WALK_SCAN = 1 << 0,    /* call `file` with it later (files only) */
	WALK_DESCEND = 1 << 1, /* visit what is in it (directories only) */
	WALK_REPORT = 1 << 2,  /* call `report` with it */
};

/* The search that goes on during the walk. The functions are called by several threads at once;
 * each thread has its own worker, made by worker_new. Only `entry` is needed. */
struct walk_visitor {
	void *search;
	unsigned (*entry)(void *search, const struct walk_entry *, struct walk_account *);
	void (*report)(void *search, const struct walk_entry *, struct hits *);
	/* False when the time is used up: the walk stops. */
	bool (*file)(void *worker, const struct walk_file *, struct hits *, struct walk_account *);
	void *(*worker_new)(void *search); /* NULL when there is no memory */
	void (*worker_free)(void *worker);
	/* Nothing was found: from now on the files that the rules hide are searched, for one hit
	 * each and only until this deadline. */
	void (*hint)(void *search, int64_t deadline_ms);
};

struct walk_request {
	int dirfd;
	/* The directories above, outermost first, as far as their rules count: open descriptors,
	 * and the way from the first of them to dirfd, one component for each. */
	const int *parents;
	size_t parent_count;
	struct str parent_path;
	struct str excludes; /* text of the user's global ignore file */

	unsigned threads;    /* the caller's is one of them */
	int64_t deadline_ms; /* IO_FOREVER for none */
	const struct cancel *cancel;
	size_t limit;	    /* hits; 0 for none but LIMIT_SEARCH_BYTES */
	unsigned max_depth; /* 1: only what is in the directory itself; 0 for any */
	struct str after;   /* only paths that sort behind this one, and it itself when it is
			       a file; empty for all */
	bool all;	    /* no ignore rules */

	/* Told now and then by the caller's thread how many files have been seen; may be NULL. */
	void (*seen)(void *arg, int64_t files);
	void *seen_arg;
};

/* What a search found, and its account. */
struct found {
	struct hits hits;
	struct walk_account account;
	struct err why; /* what the pattern engine said when it was what stopped; else no code */
	int64_t ignored_matches; /* when nothing was found: how many ignored files would have
				    matched, as far as could be seen in a short time */
};

#define AUTO_FOUND CLEANUP(found_done) struct found

void found_done(struct found *f);

/*
 * Walk. The hits are the first `limit` in order. After a timeout or a cancelling they are all that
 * was found until then, still in order but with gaps. When all was seen and nothing found, what the
 * rules hide is looked through for a short time, for found.ignored_matches. -1 when the directory
 * cannot be read at all. *ret is zeroed by the caller.
 */
int walk_run(const struct walk_request *r, const struct walk_visitor *v, struct found *ret,
	     struct err *e);

#endif
