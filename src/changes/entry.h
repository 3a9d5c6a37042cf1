/* SPDX-License-Identifier: MIT */
/*
 * entry: one name in one directory: its state, whether that is another state, and putting it back.
 *
 * A directory is a descriptor (O_PATH is enough) and a name is one component. Nothing here follows
 * a symbolic link.
 */
#ifndef CHANGES_ENTRY_H
#define CHANGES_ENTRY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "changes/blobs.h"
#include "changes/record.h"

struct pending;

/* Of a mode as stat says it. */
enum state_type entry_type(mode_t mode);

/* What is there now, without its content; texts are in the arena. If there is nothing that is
 * STATE_NONE; as well, with -1 and errno, if it cannot be seen. */
int entry_look(int dir, const char *name, struct arena *a, struct path_state *ret);

/* How old content is to be kept. */
enum entry_keep {
	ENTRY_COPY, /* the inode stays and is about to be written to */
	ENTRY_LINK, /* the name is about to go: the inode may be kept as it is */
};

struct entry_store {
	struct blobs *blobs;	 /* NULL: nothing is kept but what is in memory */
	struct store_part *part; /* of the change for which something is kept */
	struct pending *pending; /* notes temporary names (workspace/pending.h) */
	int64_t max_file;	 /* the largest whose content is copied */
	const int *root;     /* of the workspace, for other names of a file; NULL: not looked for */
	struct arena *texts; /* for copies of small contents in memory, or
				  * of all without blobs; NULL: there are none */
};

/* Keep the content of a file that entry_look has seen there: sets kept, place and perhaps hash.
 * What is kept already stays as it is, except that a link is replaced by a copy if the inode is
 * about to be written to. -1 with errno if it cannot be kept, and is KEPT_NOT: ESTALE if another
 * file, or none, is there now; EFBIG if it is too large to be copied; ENOSPC if the change is. */
int entry_keep(const struct entry_store *s, int dir, const char *name, enum entry_keep how,
	       struct path_state *st);

/* What was kept of it is not needed after all. */
void entry_drop(const struct entry_store *s, struct path_state *st);

/* Set the hash of a file that is there now, unless it is larger than max_file or cannot be read. */
void entry_hash(const struct entry_store *s, int dir, const char *name, struct path_state *st);

/* Whether two states have the same content: type, bytes, link text. Without hashes size and time
 * decide. */
bool entry_same_content(const struct path_state *a, const struct path_state *b);

/* Whether everything but inode and number of links is the same. */
bool entry_same(const struct path_state *a, const struct path_state *b);

/* Whether the name has another file, and one of the two has, or had, other names: even of the same
 * content they are not the same then. */
bool entry_is_another(const struct path_state *before, const struct path_state *after);

/* Whether it is the same object on disk. */
static inline bool entry_same_object(const struct path_state *a, const struct path_state *b)
{
	return a->type != STATE_NONE && a->type == b->type && a->dev == b->dev && a->ino == b->ino;
}

/* Whether the content that the state speaks of can still be had. */
bool entry_is_kept(const struct entry_store *s, const struct path_state *st);

/* Make the name have that state, whatever is there now, except a directory with content. A file gets
 * its content by replacing it (workspace/replace.h), unless the inode has to stay: it has several
 * names, or an owner whom a new one cannot be given. The times of directories are not set:
 * entry_set_mtime. 0, or -1 with errno. Doing it twice does no harm. */
int entry_restore(const struct entry_store *s, int dir, const char *name,
		  const struct path_state *st);

/* What was restored is there for good: if it is an inode that the store has, too, it loses that
 * name, which would count as one of its own. */
void entry_release(const struct entry_store *s, int dir, const char *name,
		   const struct path_state *st);

/* Permissions, owner, attributes and time of what is there. 0, or -1 with errno. */
int entry_set_meta(int dir, const char *name, const struct path_state *st);

int entry_set_mtime(int dir, const char *name, int64_t mtime_ns);

#endif
