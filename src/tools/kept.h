/* SPDX-License-Identifier: MIT */
/*
 * kept: the whole output of commands, for results that could show only its ends.
 *
 * It is kept for the session under the name "output:<n>", which read_file and search_files accept
 * like the name of a file. Each is a file in memory without another name: at most LIMIT_KEPT_OUTPUT
 * bytes, and LIMIT_KEPT_ALL bytes of all sessions together; the oldest is dropped first.
 *
 *	CLEANUP(keeping_done) struct keeping k = keeping_new(store);
 *	keeping_add(&k, text);		as it comes, already free of secrets
 *	if (something was left out)
 *		number = keeping_end(&k, session, tail);
 *
 * The store may be used by many threads, a keeping by one.
 */
#ifndef TOOLS_KEPT_H
#define TOOLS_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct kept_store;

/* NULL if there is no memory. */
struct kept_store *kept_new(void);
void kept_free(struct kept_store *k);

/* Whether this is such a name. A file of the same name is reached as "./output:7". */
bool kept_is_name(struct str path);

/* Open what the session has kept under a name, for reading from its start. FILE_NOT_FOUND, which
 * says whether it was dropped, if it is not there. */
int kept_open(struct kept_store *k, struct str session, struct str name, struct stat *st,
	      struct err *e);

/* The output of one command while it comes. */
struct keeping {
	struct kept_store *store; /* NULL: nothing is kept */
	struct buf early;	  /* its beginning, as long as it is short */
	int fd;			  /* after that its file; -1: none */
	int64_t bytes;		  /* in the file, for which room is taken in the store */
	int64_t missed;		  /* that did not fit any more */
};

struct keeping keeping_new(struct kept_store *store);

void keeping_add(struct keeping *k, struct str text);

/* The output has ended: its number, or 0 if it cannot be kept. If bytes were missed, a line says
 * how many, and the output's last bytes follow it. */
uint64_t keeping_end(struct keeping *k, struct str session, struct str tail);

void keeping_done(struct keeping *k);

#endif
