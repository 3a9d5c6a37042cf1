/* SPDX-License-Identifier: MIT */
/*
 * resolver: which file a stopped call means. The one place where a caller's path is followed.
 *
 * A supervisor has one resolver for all of its judges. It finds out what a judge asks for, and that
 * once for each call:
 *
 *	resolver_intent		what the call is about to do, and the texts of its paths
 *	resolver_path		where a path leads: a directory that is held open and a name in it
 *	resolver_follow		the same, behind the link of that name
 *	resolver_place		the same, behind all links that the call will follow
 *	resolver_open		the file itself, opened with the rights of commands
 *
 * A path is made absolute with what the kernel says of the caller's directories, and opened in the
 * caller's root, so the mounts are those that the caller sees. If a rename elsewhere makes the
 * kernel unsure (EAGAIN), it is tried again. What a path means may change right afterwards: a judge
 * that decides uses what it has open, and asks for its name.
 *
 * Whose paths they are is certain: the caller's directory in /proc is held, and stays empty if the
 * caller's number is given to another process; and the call was asked whether it still waits after
 * the directory was opened.
 *
 * Directories of the home (the workspace) are opened from there: the caller may see other mounts.
 * Directories are remembered by the text with which callers name them, because most calls are about
 * the same few, until one of these calls may change what the text means.
 */
#ifndef SUPERVISE_RESOLVER_H
#define SUPERVISE_RESOLVER_H

#include <sys/stat.h>

#include "base/str.h"
#include "supervise/bounds.h"
#include "supervise/intent.h"
#include "supervise/way.h"

/* A directory of this process which callers see by the same path. */
struct resolver_home {
	int root;	 /* O_PATH */
	struct str path; /* canonical */
	/* Open a directory beneath the root with O_PATH, without following a link. */
	int (*open)(int root, struct str below);
};

/* A directory by the text with which a caller named it. */
struct caller_dir {
	char *text; /* NULL: the place is free */
	size_t n;
	int fd;	      /* O_PATH */
	bool in_home; /* opened from there; otherwise as the caller sees it */
	bool linked;  /* the text has links in it, or dots */
	void *known;  /* what a judge remembers of it; NULL at first */
};

enum place_found {
	PLACE_UNKNOWN, /* nobody has asked */
	PLACE_FOUND,
	PLACE_NO_DIRECTORY, /* there is no directory for the name; `at` is where it would have been */
	PLACE_NOWHERE,	    /* there can be no such name, or it cannot be known */
};

/* What one path of the call leads to. */
struct caller_place {
	enum place_found found;
	struct caller_dir *dir; /* until the call is answered */
	char name[NAME_MAX + 1];
	struct caller_path way; /* as it was asked for; empty if that cannot be known */
	struct caller_path at;	/* behind the links that were followed */
	int links;		/* how many that were */
	bool ended;		/* no more are to be followed */

	/* For this module alone: */
	size_t dir_n; /* of `at`: the directory */
	int8_t moves; /* see resolver_moves; -1: not known */
};

enum { RESOLVER_DIRS = 8 };

/* Judges look at `call`, `home` and, after resolver_intent, `intent`. Belongs to one thread. */
struct resolver {
	const struct stopped_call *call;
	const struct resolver_home *home; /* or NULL */
	struct intent intent;
	bool blind; /* this process cannot look at the caller's root, so deep a directory, or where
		       a link in /proc leads */

	/* For this module alone: */
	int read, read_error; /* what intent_read has returned */
	struct caller_place place[2];
	int proc;      /* the caller's directory in /proc, O_PATH; or -1 */
	pid_t proc_of; /* whose it is */
	bool renewed;  /* opened for this call */
	bool certain;  /* the call was waiting after that */
	int root;      /* of the caller, O_PATH; or -1 */
	bool walked;   /* the path has no links before its end */
	bool absent;   /* there is no such directory, whatever links there are */
	struct caller_dir dirs[RESOLVER_DIRS];
	size_t next;
	bool removes; /* from some call on names have gone, or got other objects … */
	bool moves;   /* … and directories other names */
};

/* What there is at the end of a path. */
struct caller_file {
	int file;	     /* O_PATH, the caller's of it to close; -1: nothing */
	bool listed;	     /* a socket that the operator allows, in this process's view */
	struct stat is;	     /* of the file */
	char name[PATH_MAX]; /* of the file, without links, as the caller sees it */
};

/* Can paths of callers be opened on this system, if this process may look into callers? */
bool resolver_is_possible(void);

void resolver_init(struct resolver *r, const struct resolver_home *home);
void resolver_done(struct resolver *r);

/* From now on it is about this call, which must outlive that; what was known of another one is
 * forgotten. resolver_end comes before the call is answered. */
void resolver_begin(struct resolver *r, const struct stopped_call *s);
void resolver_end(struct resolver *r);

/* As intent_read: 1, and r->intent is filled; 0; or -1 with errno. */
int resolver_intent(struct resolver *r);

/* The same for a judge which has copied the one path of the call itself, relative to the caller's
 * current directory. */
void resolver_give(struct resolver *r, enum intent_verb verb, const char *path);

/* Where a path of the intent leads, without following a link at its end. Judges that were asked
 * before may have followed some already. */
struct caller_place *resolver_path(struct resolver *r, size_t which);

/* Follow the link at a place, if the call will. False if there is none: the path has ended. */
bool resolver_follow(struct resolver *r, struct caller_place *p);

/* Where a path leads in the end. */
struct caller_place *resolver_place(struct resolver *r, size_t which);

/* Is a directory at that place, which was found, about to get another name or to go away? */
bool resolver_moves(struct resolver *r, struct caller_place *p);

/* Open what the first path means, as the caller would find it with the rights of commands. For a
 * connection this may be one of the listed sockets. 0, or an errno value: EACCES if it cannot be
 * known, EINTR if the call does not wait any more. */
int resolver_open(struct resolver *r, const struct bounds *b, struct caller_file *ret);

/* The name of an open file, in the view of the process through which it was opened. False if it has
 * none. */
bool resolver_name(int fd, char name[PATH_MAX]);

#endif
