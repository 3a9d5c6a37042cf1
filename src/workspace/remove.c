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
	const struct witness *witness;
	int dir;
	unsigned depth;
	int error; /* errno of the first failure, or 0 */
};

static int remove_content(const struct witness *witness, int dir, unsigned depth);

/* Remove one entry with everything in it. 0, or errno. */
static int remove_entry(const struct witness *witness, int dir, const char *name, unsigned depth)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

	witness_tell(witness, dir, name, WITNESS_REPLACE);
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
	const int error = remove_content(witness, below, depth + 1);
	if (error)
		return error;
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

static int remove_one(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct level *l = arg;

	(void)type;
	(void)e;
	const int error = remove_entry(l->witness, l->dir, name.p, l->depth);
	if (!l->error)
		l->error = error;
	return 0;
}

/* Remove everything in a directory that can be removed, and close it. 0, or errno. */
static int remove_content(const struct witness *witness, int dir, unsigned depth)
{
	struct level l = { .witness = witness, .dir = dir, .depth = depth };
	struct err e;

	if (ws_list(dir, remove_one, &l, &e) < 0 && !l.error)
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

	if (error == ENOTEMPTY || error == EEXIST)
		return err_set(e, ERR_NOT_A_FILE, "The directory is not empty: %.*s",
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

int ws_remove(const struct workspace *ws, const struct witness *witness, const struct path *p,
	      bool tree, struct err *e)
{
	struct path parent;
	const char *name = split(p, &parent);
	int error;

	if (!*name) {
		const int itself = tree ? ws_open_dir(ws, p, e) : -1;
		if (tree && itself < 0)
			return -1;
		error = tree ? remove_content(witness, itself, 0) : ENOTEMPTY;
		return error ? fail_remove(ws, p, error, e) : 0;
	}
	AUTO_FD dir = ws_open(ws, &parent, O_PATH | O_DIRECTORY, e);
	if (dir < 0)
		return -1;
	/* An entry that never existed is an error; one that vanishes meanwhile is not. */
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return fail_remove(ws, p, errno, e);
	if (!tree)
		witness_tell(witness, dir, name, WITNESS_REPLACE);
	error = tree ? remove_entry(witness, dir, name, 0) : remove_alone(dir, name);
	return error ? fail_remove(ws, p, error, e) : 0;
}

int ws_rename(const struct workspace *ws, const struct witness *witness, const struct path *from,
	      const struct path *to, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	struct path parent;
	const char *name = split(from, &parent);

	if (!*name || !*to->name)
		return err_set(e, ERR_NOT_A_FILE, "The directory itself has no other name");
	AUTO_FD dir = ws_open(ws, &parent, O_PATH | O_DIRECTORY, e);
	if (dir < 0)
		return -1;
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(e, "Cannot rename %.*s", STR_FMT(ws_display(ws, from, shown)));
	CLEANUP(file_place_done) struct file_place at = { .dir = -1 };
	if (ws_place(ws, to, true, witness, &at, e) < 0)
		return -1;
	witness_tell(witness, dir, name, WITNESS_REPLACE);
	witness_tell(witness, at.dir, at.name, WITNESS_MAKE);
	if (renameat2(dir, name, at.dir, at.name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EEXIST)
		return err_set(e, ERR_FILE_EXISTS, "There is a file of that name: %.*s",
			       STR_FMT(ws_display(ws, to, shown)));
	return err_errno(e, "Cannot rename %.*s", STR_FMT(ws_display(ws, from, shown)));
}
