/* SPDX-License-Identifier: MIT */
/*
 * beneath: a directory held open, and the only way to what is below it.
 *
 * Every open ends in a system call that cannot leave the directory, whatever other processes do to
 * the tree meanwhile: there is no moment between check and use. A link whose target is inside is
 * followed, even if its text is an absolute path, or climbs out of the directory and comes back in
 * by the directory's canonical name. A link that leaves the directory is
 * SYMLINK_OUTSIDE_WORKSPACE, and nothing of its target is revealed, not even whether it exists.
 *
 * There are two resolvers with the same meaning. The kernel's (openat2, RESOLVE_BENEATH) takes one
 * system call. The walking one opens component by component, never through a link, and reads links
 * itself. It serves kernels without openat2, and it prepares the cases that the kernel only
 * refuses: absolute links, links out and back in, and directories that are still to be made. What
 * it finds is then opened by openat2 where there is one.
 */
#ifndef WORKSPACE_BENEATH_H
#define WORKSPACE_BENEATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

/* A witness is told of everything in the workspace that is about to change, before it does; and of
 * the content that a file was given. What makes, replaces or removes files takes a witness, or NULL.
 * It is asked first whether it permits that, and may be told of a change that fails afterwards. Later
 * it can refuse only that a directory is made. */
enum witness_act {
	WITNESS_MAKE,	 /* the name does not exist, and will */
	WITNESS_WRITE,	 /* the file of that name is written in place */
	WITNESS_MOVE,	 /* what has the name gets another one, and the name goes away */
	WITNESS_REPLACE, /* the name gets another object … */
	WITNESS_REMOVE,	 /* … or goes away, with what has it */
};

struct witness {
	int (*permits)(void *arg, int dir, const char *name, struct err *e); /* or NULL: always */
	/* … and may what has that name get the new one, with everything in it? Or NULL. */
	int (*permits_move)(void *arg, int dir, const char *name, int new_dir, const char *new_name,
			    struct err *e);
	void (*before)(void *arg, int dir, const char *name, enum witness_act act); /* or NULL */
	void (*wrote)(void *arg, int dir, const char *name, struct str content);    /* or NULL */
	void *arg;
	const bool *refuses; /* the directory it was just told of must not be made; or NULL */
};

static inline void witness_tell(const struct witness *w, int dir, const char *name,
				enum witness_act act)
{
	if (w && w->before)
		w->before(w->arg, dir, name, act);
}

/* May that name in the directory be changed? 0, or -1 with the reason. */
static inline int witness_ask(const struct witness *w, int dir, const char *name, struct err *e)
{
	return w && w->permits ? w->permits(w->arg, dir, name, e) : 0;
}

static inline int witness_ask_move(const struct witness *w, int dir, const char *name, int new_dir,
				   const char *new_name, struct err *e)
{
	return w && w->permits_move ? w->permits_move(w->arg, dir, name, new_dir, new_name, e) : 0;
}

/* The file that it was told of last has this content now. */
static inline void witness_tell_content(const struct witness *w, int dir, const char *name,
					struct str content)
{
	if (w && w->wrote)
		w->wrote(w->arg, dir, name, content);
}

struct beneath {
	int fd;		   /* the directory, O_PATH */
	struct str path;   /* its canonical absolute path: how absolute links are understood */
	struct str alias;  /* another absolute path of it that links may use; or empty */
	struct str prefix; /* what messages show before a name: "" for the workspace */
	bool walk_only;	   /* openat2 is missing, or a test does not want it */
	const struct witness *witness; /* is told of directories that are made; or NULL */
};

/* Where a file is or would be: its directory, held open, and its name, which is not a link. */
struct file_place {
	int dir; /* or -1; the owner closes it with file_place_done */
	char name[NAME_MAX + 1];
};

/* Whether this process can use openat2. */
bool beneath_has_openat2(void);

/* Open the existing `name` ("" is the directory itself) with open flags; O_CLOEXEC, O_NOCTTY and
 * O_NONBLOCK are added, O_CREAT is not allowed. Returns a descriptor the caller closes, or -1 with
 * FILE_NOT_FOUND, NOT_A_DIRECTORY, SYMLINK_OUTSIDE_WORKSPACE, SYMLINK_LOOP, PERMISSION_DENIED … */
int beneath_open(const struct beneath *b, const char *name, int flags, struct err *e);

/* Find the place of `name`, with its links resolved. The file need not exist. Its directory must,
 * unless make_dirs is set: then missing directories are made. The held directory itself has no
 * place: NOT_A_FILE. */
int beneath_place(const struct beneath *b, const char *name, bool make_dirs, struct file_place *ret,
		  struct err *e);

/* The name without links, as it is now; components that do not exist are kept as they are. */
int beneath_canonical(const struct beneath *b, const char *name, char ret[PATH_MAX], struct err *e);

void file_place_done(struct file_place *p);

#endif
