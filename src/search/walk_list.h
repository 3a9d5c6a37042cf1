/* SPDX-License-Identifier: MIT */
/* walk_list: what the parts of the walk share: pieces of work in order (walk_list.c), the threads
 * that do them (walk.c), the reading of one directory (walk_expand.c) and its ignore rules
 * (walk_rules.c). */
#ifndef SEARCH_WALK_LIST_H
#define SEARCH_WALK_LIST_H

#include "base/buf.h"
#include "search/dir.h"
#include "search/walk.h"

enum piece_state {
	PIECE_DIR,   /* a directory to be read */
	PIECE_FILES, /* files to be scanned */
	PIECE_TAKEN, /* somebody is at it */
	PIECE_DONE,  /* hits only */
};

struct piece {
	struct piece *prev, *next;
	enum piece_state state;
	struct dir *dir; /* the directory itself, or the one the files are in; held */
	struct hits hits;
	size_t files;
	size_t names_n;
	char names[]; /* of the files, each with a NUL behind it */
};

struct piece_list {
	struct piece *first, *last;
};

/* One name that was read from a directory and is wanted. */
struct listed {
	uint64_t
		key; /* the first eight bytes of name, with "/" behind a directory's, as a number */
	size_t name; /* offset */
	uint32_t name_n;
	enum hit_type type;
	bool ignored;
	unsigned wanted; /* WALK_ flags */
};

struct worker {
	struct walk *walk;
	void *scanner; /* from the visitor */
	struct walk_account account;
	struct buf path;  /* of the entry at hand, from the outermost parent */
	struct buf names; /* of the directory at hand, each with a NUL behind it */
	struct listed *list;
	size_t list_n, list_cap;
	char *dents;
	struct piece_list hidden; /* what the rules hide of the directory at hand */
	size_t hidden_n;
	bool first;	    /* the caller's own thread */
	int64_t told_files; /* of account.files: how many are in walk.seen */
};

struct walk {
	const struct walk_request *request;
	const struct walk_visitor *visitor;
	struct dirs dirs;
	struct str base; /* parent_path with "/" behind, or empty */

	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t change;
	struct piece_list list;
	struct piece_list hidden; /* what the rules hide, in no order, for when nothing is found */
	size_t hidden_n;  /* entries, up to LIMIT_SEARCH_HIDDEN; also read without the lock */
	bool note_hidden; /* constant while threads run */
	unsigned waiting;
	enum walk_stop stopped; /* why; also read without the lock */
	bool stop;		/* `stopped` is set; read by scanners without the lock */
	bool finished;
	int64_t seen, tell_ms; /* files so far; when to tell the next time: the caller's thread */
};

/* A piece that holds the directory (which may be NULL), with room for names; NULL when there is no
 * memory. */
struct piece *piece_new(struct walk *w, enum piece_state state, struct dir *d, size_t names_n);
void piece_free(struct walk *w, struct piece *p);

void piece_list_add(struct piece_list *l, struct piece *p);
void piece_list_remove(struct piece_list *l, struct piece *p);
void piece_list_free(struct walk *w, struct piece_list *l);

/* Put the pieces of `in` where p is; p is then in no list. */
void piece_list_replace(struct piece_list *l, struct piece *p, struct piece_list *in);

/* Join neighbours in the list of the walk that are done, from p on up to `end`. */
void piece_list_merge(struct walk *w, struct piece *p, const struct piece *end);

/* Whether to stop; remembers why. */
bool walk_must_stop(struct walk *w);

/* Read the directory: *out becomes the pieces it consists of, in order. */
void walk_expand(struct worker *me, struct dir *d, struct piece_list *out);

/* Which of the names that matter were seen in a directory. */
struct rule_files {
	bool git, gitignore, ignore;
};

/* The rules of the directories above the root; then those of each directory, whose path from the
 * outermost parent is `depth` bytes long; then what they say. */
void walk_parent_rules(struct walk *w);
void walk_rules(struct walk *w, struct dir *d, int fd, const struct rule_files *has, size_t depth);
bool walk_is_ignored(const struct dir *d, struct str path, size_t name_at, bool is_dir);

#endif
