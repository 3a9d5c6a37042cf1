/* SPDX-License-Identifier: MIT */
/*
 * walker: a walk while it runs, and what one of its threads makes of a directory.
 *
 * Only the walk itself (walk.c, walker.c) uses this.
 */
#ifndef SEARCH_WALKER_H
#define SEARCH_WALKER_H

#include <pthread.h>

#include "search/dir.h"
#include "search/visit.h"
#include "search/walk_list.h"

/* One thread. */
struct walk_worker {
	struct walk *walk;
	void *scanner; /* from the visitor */
	struct walk_account account;
	struct buf path; /* of the current entry, from the outermost parent */
	struct dir_listing listing;
	struct walk_list hidden; /* what the rules hide in the current directory */
	size_t hidden_n;
	bool first;	    /* the caller's own thread */
	int64_t told_files; /* of account.files: how many are in walk.seen */
};

struct walk {
	const struct walk_request *request;
	const struct walk_visitor *visitor;
	struct dirs dirs;
	struct str base; /* parent_path and a "/", or empty */

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t change;
	struct walk_list list;
	struct walk_list hidden; /* what the rules hide, in no order, for when nothing is found */
	size_t hidden_n;  /* entries, up to LIMIT_SEARCH_HIDDEN; also read without the lock */
	bool note_hidden; /* constant while threads run */
	bool skip_filled; /* constant */
	struct filled *filled;
	unsigned split_depth; /* of the directory whose entries are groups; constant */
	unsigned groups;      /* so far */
	unsigned waiting;
	enum walk_stop stopped; /* the reason; also read without the lock */
	bool stop;		/* `stopped` is set; read by scanners without the lock */
	bool no_memory;		/* for something that should have been seen; set without the lock */
	bool finished;
	int64_t seen;	 /* files so far */
	int64_t tell_ms; /* when to tell the caller next; only its thread uses this */
};

/* Whether to stop; remembers why. */
bool walk_must_stop(struct walk *w);

/* What there is no memory for would be missing from the answer without a sign: the walk fails. */
void walk_lack_memory(struct walk_worker *me);

/* Read a directory: *out becomes the items it consists of, in order; what is left out of it is added
 * to me->hidden. */
void walk_expand(struct walk_worker *me, struct dir *d, struct walk_list *out);

#endif
