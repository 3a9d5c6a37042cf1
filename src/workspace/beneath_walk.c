/* SPDX-License-Identifier: MIT */
/* beneath_walk: component by component, links read and replaced in the text. */

#include "workspace/beneath_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "workspace/path.h"

struct walk {
	const struct beneath *b;
	const char *asked;	 /* the name as it was given, for messages */
	char text[2 * PATH_MAX]; /* what is walked: components and single slashes */
	size_t length;
	size_t at; /* where the component in hand begins; all before it are real directories */
	int links, parents; /* links replaced and ".." removed so far */
	int dir; /* the directory the component in hand is in; the held one is not ours to close */
	bool make_dirs;
};

/* What the component in hand turned out to be. */
enum step { STEP_AGAIN, STEP_LAST, STEP_MISSING, STEP_FAILED };

int beneath_fail(const struct beneath *b, const char *name, struct err *e)
{
	if (errno == ENOENT)
		return err_set(e, ERR_FILE_NOT_FOUND, "File not found: %.*s%s", STR_FMT(b->prefix),
			       *name ? name : ".");
	if (errno == ELOOP)
		return err_set(e, ERR_SYMLINK_LOOP, "Too many levels of symbolic links: %.*s%s",
			       STR_FMT(b->prefix), name);
	return err_errno(e, "Cannot open %.*s%s", STR_FMT(b->prefix), *name ? name : ".");
}

static int fail_outside(const struct walk *w, struct err *e)
{
	return err_set(e, ERR_SYMLINK_OUTSIDE_WORKSPACE,
		       "A symbolic link in this path leads outside the workspace: %.*s%s",
		       STR_FMT(w->b->prefix), w->asked);
}

static void leave_dir(struct walk *w)
{
	if (w->dir != w->b->fd)
		fd_closep(&w->dir);
	w->dir = w->b->fd;
}

static void walk_done(struct walk *w)
{
	leave_dir(w);
}

static struct str component(const struct walk *w)
{
	struct str head, tail;

	(void)str_cut((struct str){ w->text + w->at, w->length - w->at }, '/', &head, &tail);
	return head;
}

static bool is_last(const struct walk *w)
{
	return w->at + component(w).n == w->length;
}

static int begin_again(struct walk *w, struct err *e)
{
	leave_dir(w);
	w->at = 0;
	if (w->links <= LIMIT_LINK_HOPS && w->parents <= LIMIT_LINK_PARENTS)
		return 0;
	errno = ELOOP;
	return beneath_fail(w->b, w->asked, e);
}

/* Take the first component off a path, passing over slashes and "."; empty at its end. */
static struct str next_part(struct str *path)
{
	struct str part = { NULL, 0 };

	while (path->n && (part.n == 0 || str_eq(part, STR("."))))
		(void)str_cut(*path, '/', &part, path);
	return str_eq(part, STR(".")) ? STR("") : part;
}

/* Append components to the text, without empty ones and ".". */
static bool add_parts(char *text, size_t *n, size_t max, struct str parts)
{
	for (struct str part = next_part(&parts); part.n; part = next_part(&parts)) {
		if (*n + 1 + part.n >= max)
			return false;
		if (*n)
			text[(*n)++] = '/';
		memcpy(text + *n, part.p, part.n);
		*n += part.n;
	}
	text[*n] = '\0';
	return true;
}

/* The part of an absolute link target that is below dir, by whole components. */
static bool below_dir(struct str dir, struct str target, struct str *below)
{
	for (struct str want = next_part(&dir); want.n; want = next_part(&dir))
		if (!str_eq(want, next_part(&target)))
			return false;
	*below = target;
	return true;
}

/* The component in hand is a link with this target: put the target in its place. */
static int replace_link(struct walk *w, struct str target, struct err *e)
{
	const struct str here = component(w);
	const struct str rest = { w->text + w->at + here.n, w->length - w->at - here.n };
	char text[sizeof w->text] UNINITIALISED;
	size_t n = 0;
	struct str below = target, before = { w->text, w->at };

	if (str_starts(target, STR("/"))) {
		before = STR("");
		if (!below_dir(w->b->path, target, &below) &&
		    !(w->b->alias.n && below_dir(w->b->alias, target, &below)))
			return fail_outside(w, e);
	}
	w->links++;
	if (!add_parts(text, &n, sizeof text, before) || !add_parts(text, &n, sizeof text, below) ||
	    !add_parts(text, &n, sizeof text, rest)) {
		errno = ENAMETOOLONG;
		return beneath_fail(w->b, w->asked, e);
	}
	memcpy(w->text, text, n + 1);
	w->length = n;
	return begin_again(w, e);
}

/* The component in hand is "..": remove it and the directory before it. */
static int remove_parent(struct walk *w, struct err *e)
{
	size_t from = w->at;

	if (from == 0)
		return fail_outside(w, e);
	for (from--; from > 0 && w->text[from - 1] != '/'; from--)
		;
	size_t rest = w->at + 2;
	if (rest < w->length)
		rest++;
	else if (from)
		from--; /* nothing follows: the slash before goes as well */
	memmove(w->text + from, w->text + rest, w->length - rest + 1);
	w->length -= rest - from;
	w->parents++;
	return begin_again(w, e);
}

/* Whether the component in hand is a link; then it has been replaced and the walk begins again. */
static enum step try_link(struct walk *w, const char *name, struct err *e)
{
	char target[PATH_MAX] UNINITIALISED;
	const ssize_t n = readlinkat(w->dir, name, target, sizeof target);

	if (n < 0)
		return errno == ENOENT ? STEP_MISSING : STEP_LAST;
	return replace_link(w, (struct str){ target, (size_t)n }, e) < 0 ? STEP_FAILED : STEP_AGAIN;
}

/* Step into the directory in hand. */
static enum step enter(struct walk *w, const char *name, struct err *e)
{
	for (;;) {
		const int next =
			openat(w->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next >= 0) {
			leave_dir(w);
			w->dir = next;
			w->at += strlen(name) + 1;
			return STEP_AGAIN;
		}
		if (errno == ENOTDIR) {
			const enum step s = try_link(w, name, e);
			if (s == STEP_AGAIN || s == STEP_FAILED)
				return s;
			errno = ENOTDIR;
		}
		if (errno == ENOENT && !w->make_dirs)
			return STEP_MISSING;
		/* Made by somebody else at the same moment is as good, but not for ever. */
		if (errno == ENOENT && (mkdirat(w->dir, name, 0777) == 0 ||
					(errno == EEXIST && ++w->links <= LIMIT_LINK_HOPS)))
			continue;
		(void)beneath_fail(w->b, w->asked, e);
		return STEP_FAILED;
	}
}

/* Walk to the last component, following links before it. On STEP_LAST w->dir and `name` are its
 * place; it may itself be a link. On STEP_MISSING a directory before it does not exist. */
static enum step walk_to_last(struct walk *w, char name[NAME_MAX + 1], struct err *e)
{
	for (;;) {
		const struct str part = component(w);
		if (part.n > NAME_MAX) {
			errno = ENAMETOOLONG;
			(void)beneath_fail(w->b, w->asked, e);
			return STEP_FAILED;
		}
		if (str_eq(part, STR(".."))) {
			if (remove_parent(w, e) < 0)
				return STEP_FAILED;
			continue;
		}
		memcpy(name, part.p, part.n);
		name[part.n] = '\0';
		if (is_last(w))
			return STEP_LAST;
		const enum step s = enter(w, name, e);
		if (s != STEP_AGAIN)
			return s;
	}
}

static int walk_init(struct walk *w, const struct beneath *b, const char *name, struct err *e)
{
	/* All but the text, which is large. */
	w->b = b;
	w->asked = name;
	w->dir = b->fd;
	w->length = w->at = 0;
	w->links = w->parents = 0;
	w->make_dirs = false;
	if (add_parts(w->text, &w->length, sizeof w->text, str_of(name)))
		return 0;
	errno = ENAMETOOLONG;
	return beneath_fail(b, name, e);
}

/* Open the component in hand, which is the last. STEP_LAST and *fd, or what else it is. */
static enum step open_last(struct walk *w, const char *name, int flags, int *fd, struct err *e)
{
	struct stat st;

	*fd = openat(w->dir, *name ? name : ".",
		     flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | (flags & O_PATH ? 0 : O_NONBLOCK));
	if (*fd >= 0) {
		/* O_PATH opens a link itself instead of refusing it. */
		if (!(flags & O_PATH) || fstat(*fd, &st) < 0 || !S_ISLNK(st.st_mode))
			return STEP_LAST;
		fd_closep(fd);
		errno = ELOOP;
	}
	const int error = errno;
	/* A link is ELOOP, or ENOTDIR with O_DIRECTORY. */
	if (error == ELOOP || error == ENOTDIR) {
		const enum step s = try_link(w, name, e);
		if (s == STEP_AGAIN || s == STEP_FAILED)
			return s;
		if (s == STEP_MISSING && ++w->links <= LIMIT_LINK_HOPS)
			return STEP_AGAIN; /* it vanished between the two looks */
	}
	errno = error;
	(void)beneath_fail(w->b, w->asked, e);
	return STEP_FAILED;
}

int beneath_walk_open(const struct beneath *b, const char *name, int flags, struct err *e)
{
	CLEANUP(walk_done) struct walk w UNINITIALISED;
	char last[NAME_MAX + 1];
	int fd = -1;

	if (walk_init(&w, b, name, e) < 0)
		return -1;
	for (;;) {
		enum step s = walk_to_last(&w, last, e);
		if (s == STEP_LAST)
			s = open_last(&w, last, flags, &fd, e);
		if (s == STEP_LAST)
			return fd;
		if (s == STEP_MISSING) {
			errno = ENOENT;
			return beneath_fail(b, name, e);
		}
		if (s == STEP_FAILED)
			return -1;
	}
}

int beneath_walk_place(const struct beneath *b, const char *name, bool make_dirs, struct place *ret,
		       struct err *e)
{
	CLEANUP(walk_done) struct walk w UNINITIALISED;
	char last[NAME_MAX + 1];

	if (walk_init(&w, b, name, e) < 0)
		return -1;
	w.make_dirs = make_dirs;
	for (;;) {
		enum step s = walk_to_last(&w, last, e);
		if (s == STEP_MISSING) {
			errno = ENOENT;
			return beneath_fail(b, name, e);
		}
		if (s == STEP_LAST && !*last)
			return err_set(e, ERR_NOT_A_FILE, "Path is a directory: %.*s%s",
				       STR_FMT(b->prefix), *name ? name : ".");
		if (s == STEP_LAST)
			s = try_link(&w, last, e);
		if (s == STEP_FAILED)
			return -1;
		if (s == STEP_AGAIN)
			continue;
		/* The held directory stays with its owner: hand out one of our own. */
		const int dir = w.dir == b->fd ? fcntl(b->fd, F_DUPFD_CLOEXEC, 0) : w.dir;
		if (dir < 0)
			return beneath_fail(b, name, e);
		w.dir = b->fd;
		ret->dir = dir;
		memcpy(ret->name, last, sizeof last);
		return 0;
	}
}

static bool has_parent(const struct walk *w)
{
	struct str rest = { w->text + w->at, w->length - w->at };

	for (struct str part = next_part(&rest); part.n; part = next_part(&rest))
		if (str_eq(part, STR("..")))
			return true;
	return false;
}

int beneath_walk_canonical(const struct beneath *b, const char *name, char ret[PATH_MAX],
			   struct err *e)
{
	CLEANUP(walk_done) struct walk w UNINITIALISED;
	char last[NAME_MAX + 1];

	if (walk_init(&w, b, name, e) < 0)
		return -1;
	for (;;) {
		enum step s = walk_to_last(&w, last, e);
		if (s == STEP_LAST && *last)
			s = try_link(&w, last, e);
		if (s == STEP_FAILED)
			return -1;
		if (s == STEP_AGAIN)
			continue;
		/* Behind something missing, ".." (from a link's target) has no meaning. */
		errno = w.length >= PATH_MAX ? ENAMETOOLONG : has_parent(&w) ? ENOENT : 0;
		if (errno)
			return beneath_fail(b, name, e);
		memcpy(ret, w.text, w.length + 1);
		return 0;
	}
}
