/* SPDX-License-Identifier: MIT */
/* remove: by descriptor, one level at a time, and never through a link. */

#include "workspace/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own.h"
#include "workspace/limits.h"

/* A directory whose entries are being removed. */
struct level {
	const struct removal *how;
	struct err *e; /* set if the removal was ended: then `error` is ECANCELED */
	int dir;
	unsigned depth;
	int error; /* errno of the first failure, or 0 */
};

static int remove_content(const struct removal *how, int dir, unsigned depth, struct err *e);

/* Remove one entry with everything in it. 0, or errno. */
static int remove_entry(const struct removal *how, int dir, const char *name, unsigned depth,
			struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

	if (witness_ask(how->witness, dir, name, e) < 0)
		return ECANCELED;
	witness_tell(how->witness, dir, name, WITNESS_REMOVE);
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	/* For a directory Linux says EISDIR, POSIX EPERM. */
	if (errno != EISDIR && errno != EPERM)
		return errno;
	const int was = errno, below = openat(dir, name, flags);
	if (below < 0)
		return errno == ENOTDIR || errno == ELOOP ? was : errno;
	if (depth == LIMIT_REMOVE_DEPTH) {
		(void)close(below);
		return ENAMETOOLONG;
	}
	const int error = remove_content(how, below, depth + 1, e);
	if (error)
		return error;
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

static int remove_one(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct level *l = arg;

	(void)type;
	if (l->how->may_go_on && l->how->may_go_on(l->how->arg, e) < 0) {
		l->error = ECANCELED;
		return -1;
	}
	const int error = remove_entry(l->how, l->dir, name.p, l->depth, l->e);
	if (!l->error || error == ECANCELED)
		l->error = error;
	return error == ECANCELED ? -1 : 0;
}

/* Remove everything in a directory that can be removed, and close it. 0, or errno. */
static int remove_content(const struct removal *how, int dir, unsigned depth, struct err *e)
{
	struct level l = { .how = how, .e = e, .dir = dir, .depth = depth };

	if (ws_list(dir, remove_one, &l, e) < 0 && !l.error)
		return EIO;
	return l.error;
}

/* Remove a file or an empty directory. 0, or errno. */
static int remove_alone(int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0)
		return 0;
	const int was = errno;
	if (was != EISDIR && was != EPERM)
		return was;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	return errno == ENOTDIR ? was : errno;
}

static int fail_remove(const struct workspace *ws, const struct path *p, int error, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;

	if (error == ECANCELED)
		return -1;
	if (error == ENOTEMPTY || error == EEXIST)
		return err_set(e, ERR_DIRECTORY_NOT_EMPTY, "The directory is not empty: %.*s",
			       STR_FMT(ws_display(ws, p, shown)));
	errno = error;
	return err_errno(e, "Cannot remove %.*s", STR_FMT(ws_display(ws, p, shown)));
}

/* "a/b/c" is "c" in "a/b". */
static const char *split(const struct path *p, struct path *parent)
{
	const char *slash = strrchr(p->name, '/');

	*parent = (struct path){ .base = p->base };
	if (!slash)
		return p->name;
	(void)snprintf(parent->name, sizeof parent->name, "%.*s", (int)(slash - p->name), p->name);
	return slash + 1;
}

int ws_remove(const struct workspace *ws, const struct removal *how, const struct path *p,
	      struct err *e)
{
	const bool tree = how->tree;
	struct path parent;
	const char *name = split(p, &parent);
	int error;

	if (!*name) {
		const int itself = tree ? ws_open_dir(ws, p, e) : -1;
		if (tree && itself < 0)
			return -1;
		error = tree ? remove_content(how, itself, 0, e) : ENOTEMPTY;
		return error ? fail_remove(ws, p, error, e) : 0;
	}
	AUTO_FD dir = ws_open(ws, &parent, O_PATH | O_DIRECTORY, e);
	if (dir < 0)
		return -1;
	/* An entry that never existed is an error; one that vanishes meanwhile is not. */
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return fail_remove(ws, p, errno, e);
	if (!tree && witness_ask(how->witness, dir, name, e) < 0)
		return -1;
	if (!tree)
		witness_tell(how->witness, dir, name, WITNESS_REMOVE);
	error = tree ? remove_entry(how, dir, name, 0, e) : remove_alone(dir, name);
	return error ? fail_remove(ws, p, error, e) : 0;
}

int ws_mkdir(const struct workspace *ws, const struct witness *witness, const struct path *p,
	     bool parents, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	CLEANUP(file_place_done) struct file_place at = { .dir = -1 };
	struct stat st;

	if (*p->name ? ws_place(ws, p, parents, witness, &at, e) < 0 ||
			       witness_ask(witness, at.dir, at.name, e) < 0
		     : ws_stat(ws, p, &st, e) < 0)
		return -1;
	if (*p->name) {
		witness_tell(witness, at.dir, at.name, WITNESS_MAKE);
		if (mkdirat(at.dir, at.name, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			return err_errno(e, "Cannot make %.*s", STR_FMT(ws_display(ws, p, shown)));
	}
	if (parents && ws_stat(ws, p, &st, e) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return err_set(e, ERR_FILE_EXISTS, "There is a file or directory of that name: %.*s",
		       STR_FMT(ws_display(ws, p, shown)));
}

int ws_rename(const struct workspace *ws, const struct witness *witness, const struct path *from,
	      const struct path *to, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	struct path parent;
	struct stat st;
	struct str below;
	const char *name = split(from, &parent);

	if (!*name || !*to->name)
		return err_set(e, ERR_NOT_A_FILE, "The directory itself has no other name");
	AUTO_FD dir = ws_open(ws, &parent, O_PATH | O_DIRECTORY, e);
	if (dir < 0)
		return -1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(e, "Cannot rename %.*s", STR_FMT(ws_display(ws, from, shown)));
	if (S_ISDIR(st.st_mode) && from->base == to->base &&
	    path_within(str_of(from->name), str_of(to->name), &below) && below.n)
		return err_set(e, ERR_INVALID_PATH, "A directory cannot be moved into itself: %.*s",
			       STR_FMT(ws_display(ws, from, shown)));
	CLEANUP(file_place_done) struct file_place at = { .dir = -1 };
	if (witness_ask(witness, dir, name, e) < 0 || ws_place(ws, to, true, witness, &at, e) < 0 ||
	    witness_ask(witness, at.dir, at.name, e) < 0 ||
	    witness_ask_move(witness, dir, name, at.dir, at.name, e) < 0)
		return -1;
	witness_tell(witness, dir, name, WITNESS_MOVE);
	witness_tell(witness, at.dir, at.name, WITNESS_MAKE);
	if (renameat2(dir, name, at.dir, at.name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST)
		return err_set(e, ERR_FILE_EXISTS, "There is a file of that name: %.*s",
			       STR_FMT(ws_display(ws, to, shown)));
	return err_errno(e, "Cannot rename %.*s", STR_FMT(ws_display(ws, from, shown)));
}
