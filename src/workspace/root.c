/* SPDX-License-Identifier: MIT */
/* root: check, make and hold a directory named in the configuration. */

#include "workspace/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "workspace/path.h"

static int check_text(const char *what, const char *path, struct err *e)
{
	if (!path || !*path)
		return err_set(e, ERR_INVALID_PATH, "%s is empty: set it to a directory", what);
	if (path[0] != '/')
		return err_set(e, ERR_INVALID_PATH, "%s must be an absolute path, but it is \"%s\"",
			       what, path);
	if (strlen(path) >= PATH_MAX)
		return err_set(e, ERR_INVALID_PATH, "%s is longer than %d bytes", what,
			       PATH_MAX - 1);
	return 0;
}

int root_canonical(const char *what, const char *path, char ret[PATH_MAX], struct err *e)
{
	char normal[PATH_MAX], head[PATH_MAX], real[PATH_MAX];
	struct stat st;

	if (check_text(what, path, e) < 0)
		return -1;
	/* Shorten the path until what is left exists. The rest is appended as it is. */
	size_t exists = path_normalise(str_of(path), normal);
	for (;;) {
		memcpy(head, normal, exists);
		memcpy(head + exists, exists ? "" : "/", exists ? 1 : 2);
		if (realpath(head, real))
			break;
		if (errno != ENOENT)
			return err_errno(e, "%s \"%s\" cannot be used", what, path);
		if (lstat(head, &st) == 0)
			return err_set(
				e, ERR_FILE_NOT_FOUND,
				"%s \"%s\" is a symbolic link to something that does not exist",
				what, path);
		while (normal[--exists] != '/')
			;
	}
	const char *rest = strcmp(normal, "/") == 0 ? "" : normal + exists;
	const char *found = strcmp(real, "/") == 0 && *rest ? "" : real;
	if (strlen(found) + strlen(rest) >= PATH_MAX)
		return err_set(e, ERR_INVALID_PATH, "%s \"%s\" is too long", what, path);
	(void)snprintf(ret, PATH_MAX, "%s%s", found, rest);
	return 0;
}

/* Remove the directory and its parents again, but not those in the first `keep` bytes. */
static void unmake_dirs(const char *path, size_t keep)
{
	char part[PATH_MAX];

	for (size_t n = strlen(path); n > keep; n--) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		memcpy(part, path, n);
		part[n] = '\0';
		(void)rmdir(part);
	}
}

/* Make the directory and its parents. *keep is the length of the part that existed before. */
static int make_dirs(const char *what, const char *path, size_t *keep, struct err *e)
{
	char part[PATH_MAX];

	*keep = 0;
	for (size_t n = 1; n <= strlen(path); n++) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		memcpy(part, path, n);
		part[n] = '\0';
		if (access(part, F_OK) == 0) {
			*keep = n;
		} else if (mkdir(part, 0777) < 0 && errno != EEXIST) {
			(void)err_errno(e, "%s \"%s\" does not exist and cannot be made", what,
					path);
			unmake_dirs(path, *keep);
			return -1;
		}
	}
	return 0;
}

/* Returns a descriptor for paths below the directory, or -1. */
static int open_dir(const char *what, const char *path, struct err *e)
{
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOTDIR)
		return err_set(e, ERR_NOT_A_DIRECTORY, "%s \"%s\" is not a directory", what, path);
	if (fd < 0 || faccessat(fd, ".", R_OK | X_OK, AT_EACCESS) < 0)
		return err_errno(e, "%s \"%s\" cannot be read", what, path);
	const int held = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return held < 0 ? err_errno(e, "%s \"%s\" cannot be opened", what, path) : held;
}

int root_open(const char *what, const char *path, bool make, struct root *ret, struct err *e)
{
	struct root r = { .fd = -1, .existed = PATH_MAX };

	if (root_canonical(what, path, r.path, e) < 0)
		return -1;
	if (make && make_dirs(what, r.path, &r.existed, e) < 0)
		return -1;
	if ((r.fd = open_dir(what, r.path, e)) < 0) {
		unmake_dirs(r.path, r.existed);
		return -1;
	}
	(void)path_normalise(str_of(path), r.alias);
	if (strcmp(r.alias, r.path) == 0)
		r.alias[0] = '\0';
	*ret = r;
	return 0;
}

/* Open a canonical path, component by component and through no link; with `make` missing ones are
 * made. -1 with errno. */
static int open_canonical(const char *path, bool make)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct str rest = str_of(path + 1), part;
	char name[NAME_MAX + 1];
	AUTO_FD dir = open("/", flags);

	while (dir >= 0 && rest.n) {
		(void)str_cut(rest, '/', &part, &rest);
		(void)snprintf(name, sizeof name, "%.*s", STR_FMT(part));
		int next = openat(dir, name, flags);
		if (next < 0 && errno == ENOENT && make && mkdirat(dir, name, 0777) == 0)
			next = openat(dir, name, flags);
		const int error = errno;
		fd_closep(&dir);
		dir = next;
		errno = error;
	}
	return TAKE(dir, -1);
}

enum root_news root_look(const struct root *r, bool make)
{
	struct stat held, found;
	AUTO_FD fd = open_canonical(r->path, make);

	if (fd < 0 && errno == ENOENT)
		return ROOT_GONE;
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? ROOT_BLOCKED : ROOT_SAME;
	if (fstat(r->fd, &held) < 0 || fstat(fd, &found) < 0 ||
	    (held.st_dev == found.st_dev && held.st_ino == found.st_ino))
		return ROOT_SAME;
	return dup3(fd, r->fd, O_CLOEXEC) < 0 ? ROOT_SAME : ROOT_REPLACED;
}

void root_unmake(const struct root *r)
{
	if (r->fd >= 0)
		unmake_dirs(r->path, r->existed);
}

void root_done(struct root *r)
{
	fd_closep(&r->fd);
}
