/* SPDX-License-Identifier: MIT */
/* beneath: opening below a directory, by the kernel's resolver or by walking. */

#include "workspace/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "workspace/limits.h"

/* Opening the name failed with that errno. Returns -1. */
static int fail(const struct beneath *b, const char *name, int error, struct err *e)
{
	errno = error;
	if (error == ENOENT)
		return err_set(e, ERR_FILE_NOT_FOUND, "File not found: %.*s%s", STR_FMT(b->prefix),
			       *name ? name : ".");
	if (error == ELOOP)
		return err_set(e, ERR_SYMLINK_LOOP, "Too many levels of symbolic links: %.*s%s",
			       STR_FMT(b->prefix), name);
	return err_errno(e, "Cannot open %.*s%s", STR_FMT(b->prefix), *name ? name : ".");
}

/* EAGAIN means that a rename elsewhere made the kernel unsure about a "..". Trying again helps,
 * unless another process renames in a loop; then the walk, which has no such doubt, takes over. */
enum { TRIES = 8 };

static int openat2_beneath(int dir, const char *name, int flags)
{
	/* openat2, unlike openat, refuses flags that mean nothing together with O_PATH. */
	struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NOCTTY | O_NONBLOCK),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	for (int i = 0; i < TRIES; i++) {
		fd = (int)syscall(SYS_openat2, dir, *name ? name : ".", &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd;
}

bool beneath_has_openat2(void)
{
	/* Tried, not derived from the kernel's version: a seccomp profile may refuse the call. */
	AUTO_FD fd = openat2_beneath(AT_FDCWD, ".", O_PATH | O_DIRECTORY);

	return fd >= 0;
}

/* Errors after which the walk must decide: a link that is absolute or leaves the directory, a lost
 * race, or openat2 taken away since the start. */
static bool walk_decides(int error)
{
	return error == EXDEV || error == EAGAIN || error == ENOSYS || error == EPERM;
}

/*
 * The walk. The path is a text that is walked from the held directory, one component at a time,
 * with O_NOFOLLOW. If a component is a link, its target takes its place in the text and the walk
 * begins again at the top. So what has been walked is always a chain of real directories, and ".."
 * in a link's target removes the last of them. Only the text can leave the directory, and there it
 * is seen. Links are followed by their text alone: the magic links of procfs have no magic here.
 */
struct path_walk {
	const struct beneath *b;
	const char *asked;	 /* the name as it was given, for messages */
	char text[2 * PATH_MAX]; /* what is walked: components and single slashes */
	size_t length;
	size_t at; /* where the current component begins; all before it are real directories */
	size_t asked_rest;  /* bytes at the end of the text that are of `asked`, not of a link */
	int links, parents; /* links replaced and ".." removed so far */
	int dir; /* the directory of the current component; b->fd is not closed by the walk */
	bool make_dirs;
};

/* What the current component turned out to be. */
enum walk_step { STEP_AGAIN, STEP_LAST, STEP_MISSING, STEP_FAILED };

static int fail_outside(const struct path_walk *w, struct err *e)
{
	return err_set(e, ERR_SYMLINK_OUTSIDE_WORKSPACE,
		       "A symbolic link in this path leads outside the workspace: %.*s%s",
		       STR_FMT(w->b->prefix), w->asked);
}

static void leave_dir(struct path_walk *w)
{
	if (w->dir != w->b->fd)
		fd_closep(&w->dir);
	w->dir = w->b->fd;
}

static struct str component(const struct path_walk *w)
{
	struct str head, tail;

	(void)str_cut((struct str){ w->text + w->at, w->length - w->at }, '/', &head, &tail);
	return head;
}

static bool is_last(const struct path_walk *w)
{
	return w->at + component(w).n == w->length;
}

static int begin_again(struct path_walk *w, struct err *e)
{
	leave_dir(w);
	w->at = 0;
	if (w->links <= LIMIT_LINK_HOPS && w->parents <= LIMIT_LINK_PARENTS)
		return 0;
	return fail(w->b, w->asked, ELOOP, e);
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

/* Component number i of a path, from 0; empty after the last. */
static struct str nth_part(struct str path, size_t i)
{
	struct str part = next_part(&path);

	while (i-- && part.n)
		part = next_part(&path);
	return part;
}

/*
 * Follow a text that begins `depth` directories below "/" on the canonical path of b, or at b
 * itself if that path is not longer, until it arrives at b. *below is the rest. Those directories
 * are no links, so the text alone says where ".." leads. False as soon as the text leaves that
 * path: what other directories contain is not looked at.
 */
static bool comes_back(const struct beneath *b, size_t depth, struct str text, struct str *below)
{
	for (;;) {
		const struct str want = nth_part(b->path, depth);
		if (!want.n)
			break;
		const struct str part = next_part(&text);
		if (str_eq(part, STR("..")))
			depth -= depth > 0;
		else if (str_eq(part, want))
			depth++;
		else
			return false;
	}
	*below = text;
	return true;
}

/* The current component is a link with this target: put the target in its place. */
static int replace_link(struct path_walk *w, struct str target, struct err *e)
{
	const struct str here = component(w);
	const struct str rest = { w->text + w->at + here.n, w->length - w->at - here.n };
	char text[sizeof w->text] UNINITIALISED;
	size_t n = 0;
	struct str below = target, before = { w->text, w->at };

	if (str_starts(target, STR("/"))) {
		before = STR("");
		if (!comes_back(w->b, 0, target, &below) &&
		    !(w->b->alias.n && below_dir(w->b->alias, target, &below)))
			return fail_outside(w, e);
	}
	w->links++;
	if (!add_parts(text, &n, sizeof text, before) || !add_parts(text, &n, sizeof text, below) ||
	    !add_parts(text, &n, sizeof text, rest))
		return fail(w->b, w->asked, ENAMETOOLONG, e);
	memcpy(w->text, text, n + 1);
	w->length = n;
	const size_t rest_n = rest.n ? rest.n - 1 : 0; /* without its slash */
	if (w->asked_rest > rest_n)
		w->asked_rest = rest_n;
	return begin_again(w, e);
}

/* The text begins with "..": it climbs out of the held directory. Cut it to the part that follows
 * where it comes back in. Links must do so by themselves, without names that the caller adds. */
static int come_back(struct path_walk *w, struct err *e)
{
	struct str text = { w->text, w->length - w->asked_rest }, below;
	size_t depth = 0;

	(void)next_part(&text);
	while (nth_part(w->b->path, depth).n)
		depth++;
	/* In "/" itself ".." stays there. */
	if (!comes_back(w->b, depth ? depth - 1 : 0, text, &below))
		return fail_outside(w, e);
	const size_t rest = below.n + w->asked_rest;
	memmove(w->text, w->text + w->length - rest, rest + 1);
	w->length = rest;
	w->parents++;
	return begin_again(w, e);
}

/* The current component is "..": remove it and the directory before it. */
static int remove_parent(struct path_walk *w, struct err *e)
{
	size_t from = w->at;

	if (from == 0)
		return come_back(w, e);
	for (from--; from > 0 && w->text[from - 1] != '/'; from--)
		;
	size_t rest = w->at + 2;
	if (rest < w->length)
		rest++;
	else if (from)
		from--; /* nothing follows: remove the slash before it as well */
	memmove(w->text + from, w->text + rest, w->length - rest + 1);
	w->length -= rest - from;
	w->parents++;
	return begin_again(w, e);
}

/* Follow the current component if it is a link: STEP_AGAIN. STEP_LAST when it is something else. */
static enum walk_step try_link(struct path_walk *w, const char *name, struct err *e)
{
	char target[PATH_MAX] UNINITIALISED;
	const ssize_t n = readlinkat(w->dir, name, target, sizeof target);

	if (n < 0)
		return errno == ENOENT ? STEP_MISSING : STEP_LAST;
	return replace_link(w, (struct str){ target, (size_t)n }, e) < 0 ? STEP_FAILED : STEP_AGAIN;
}

/* Enter the directory that is the current component. */
static enum walk_step enter(struct path_walk *w, const char *name, struct err *e)
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
			const enum walk_step s = try_link(w, name, e);
			if (s == STEP_AGAIN || s == STEP_FAILED)
				return s;
			errno = ENOTDIR;
		}
		if (errno == ENOENT && !w->make_dirs)
			return STEP_MISSING;
		if (errno == ENOENT) {
			const struct witness *witness = w->b->witness;
			if (witness_ask(witness, w->dir, name, e) < 0)
				return STEP_FAILED;
			witness_tell(witness, w->dir, name, WITNESS_MAKE);
			errno = witness && witness->refuses && *witness->refuses ? EPERM : ENOENT;
		}
		/* Another process may have made it at the same moment; try again, not forever. */
		if (errno == ENOENT && (mkdirat(w->dir, name, 0777) == 0 ||
					(errno == EEXIST && ++w->links <= LIMIT_LINK_HOPS)))
			continue;
		(void)fail(w->b, w->asked, errno, e);
		return STEP_FAILED;
	}
}

/* Walk to the last component and follow the links before it. On STEP_LAST w->dir and `name` are its
 * place; it may itself be a link. On STEP_MISSING a directory before it does not exist. */
static enum walk_step walk_to_last(struct path_walk *w, char name[NAME_MAX + 1], struct err *e)
{
	for (;;) {
		const struct str part = component(w);
		if (part.n > NAME_MAX) {
			(void)fail(w->b, w->asked, ENAMETOOLONG, e);
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
		const enum walk_step s = enter(w, name, e);
		if (s != STEP_AGAIN)
			return s;
	}
}

/* Walk to the last component and follow it as long as it is a link. On STEP_MISSING the current
 * component does not exist, be it the last or one before it. */
static enum walk_step walk_through(struct path_walk *w, char name[NAME_MAX + 1], struct err *e)
{
	for (;;) {
		enum walk_step s = walk_to_last(w, name, e);
		if (s == STEP_LAST && *name)
			s = try_link(w, name, e);
		if (s != STEP_AGAIN)
			return s;
	}
}

static int walk_init(struct path_walk *w, const struct beneath *b, const char *name, struct err *e)
{
	/* All but the text, which is large, is set. */
	w->b = b;
	w->asked = name;
	w->dir = b->fd;
	w->length = w->at = 0;
	w->links = w->parents = 0;
	w->make_dirs = false;
	const bool fits = add_parts(w->text, &w->length, sizeof w->text, str_of(name));
	w->asked_rest = w->length;
	if (fits)
		return 0;
	return fail(b, name, ENAMETOOLONG, e);
}

/* The kernel met a link that only the walk can follow: the last component, or one that has become a
 * link since it was walked. */
static enum walk_step look_again(struct path_walk *w, const char *name, struct err *e)
{
	enum walk_step s = *name ? try_link(w, name, e) : STEP_LAST;

	if (s == STEP_AGAIN || s == STEP_FAILED)
		return s;
	w->links++;
	return begin_again(w, e) < 0 ? STEP_FAILED : STEP_AGAIN;
}

/* Open the current component, which is the last: STEP_LAST and *fd, or what else it is. */
static enum walk_step open_last(struct path_walk *w, const char *name, int flags, int *fd,
				struct err *e)
{
	struct stat st;

	/* The text has no links now that the kernel refuses to follow, unless another process is
	 * making them. */
	if (!w->b->walk_only && w->length < PATH_MAX) {
		*fd = openat2_beneath(w->b->fd, w->text, flags);
		if (*fd >= 0)
			return STEP_LAST;
		if (!walk_decides(errno)) {
			(void)fail(w->b, w->asked, errno, e);
			return STEP_FAILED;
		}
		if (errno == EXDEV)
			return look_again(w, name, e);
	}
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
		const enum walk_step s = try_link(w, name, e);
		if (s == STEP_AGAIN || s == STEP_FAILED)
			return s;
		if (s == STEP_MISSING && ++w->links <= LIMIT_LINK_HOPS)
			return STEP_AGAIN; /* it vanished between the two calls */
	}
	(void)fail(w->b, w->asked, error, e);
	return STEP_FAILED;
}

static int walk_open(const struct beneath *b, const char *name, int flags, struct err *e)
{
	CLEANUP(leave_dir) struct path_walk w UNINITIALISED;
	char last[NAME_MAX + 1];
	int fd = -1;

	if (walk_init(&w, b, name, e) < 0)
		return -1;
	for (;;) {
		enum walk_step s = walk_to_last(&w, last, e);
		if (s == STEP_LAST)
			s = open_last(&w, last, flags, &fd, e);
		if (s == STEP_LAST)
			return fd;
		if (s == STEP_MISSING)
			return fail(b, name, ENOENT, e);
		if (s == STEP_FAILED)
			return -1;
	}
}

/* The place without a walk: true when the directory exists and the last name is not a link. */
static bool place_directly(const struct beneath *b, const char *name, struct file_place *ret)
{
	const char *slash = strrchr(name, '/');
	const char *last = slash ? slash + 1 : name;
	char parent[PATH_MAX] = "", link[1];

	if (b->walk_only || strlen(last) > NAME_MAX || strlen(name) >= sizeof parent)
		return false;
	if (slash)
		memcpy(parent, name, (size_t)(slash - name));
	AUTO_FD dir = openat2_beneath(b->fd, parent, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return false;
	/* EINVAL: it exists and is not a link. The name is later opened with O_NOFOLLOW, so a link
	 * that appears after this call is refused, not followed. */
	if (readlinkat(dir, last, link, sizeof link) >= 0 || (errno != EINVAL && errno != ENOENT))
		return false;
	ret->dir = TAKE(dir, -1);
	memcpy(ret->name, last, strlen(last) + 1);
	return true;
}

static int walk_place(const struct beneath *b, const char *name, bool make_dirs,
		      struct file_place *ret, struct err *e)
{
	CLEANUP(leave_dir) struct path_walk w UNINITIALISED;
	char last[NAME_MAX + 1];

	if (walk_init(&w, b, name, e) < 0)
		return -1;
	w.make_dirs = make_dirs;
	const enum walk_step s = walk_through(&w, last, e);
	if (s == STEP_FAILED)
		return -1;
	if (s == STEP_MISSING && !is_last(&w))
		return fail(b, name, ENOENT, e);
	if (!*last)
		return err_set(e, ERR_NOT_A_FILE, "Path is a directory: %.*s%s", STR_FMT(b->prefix),
			       *name ? name : ".");
	/* Now that its links are resolved, the kernel can have the last word. It has none if there
	 * is no openat2, or if another process is making links. */
	if (place_directly(b, w.text, ret))
		return 0;
	/* The caller gets a descriptor of its own, never the held directory's. */
	const int dir = w.dir == b->fd ? fcntl(b->fd, F_DUPFD_CLOEXEC, 0) : w.dir;
	if (dir < 0)
		return fail(b, name, errno, e);
	w.dir = b->fd;
	ret->dir = dir;
	memcpy(ret->name, last, sizeof last);
	return 0;
}

int beneath_open(const struct beneath *b, const char *name, int flags, struct err *e)
{
	if (!b->walk_only) {
		const int fd = openat2_beneath(b->fd, name, flags);
		if (fd >= 0)
			return fd;
		if (!walk_decides(errno))
			return fail(b, name, errno, e);
	}
	return walk_open(b, name, flags, e);
}

int beneath_place(const struct beneath *b, const char *name, bool make_dirs, struct file_place *ret,
		  struct err *e)
{
	if (*name && place_directly(b, name, ret))
		return 0;
	return walk_place(b, name, make_dirs, ret, e);
}

static bool has_parent(const struct path_walk *w)
{
	struct str rest = { w->text + w->at, w->length - w->at };

	for (struct str part = next_part(&rest); part.n; part = next_part(&rest))
		if (str_eq(part, STR("..")))
			return true;
	return false;
}

int beneath_canonical(const struct beneath *b, const char *name, char ret[PATH_MAX], struct err *e)
{
	CLEANUP(leave_dir) struct path_walk w UNINITIALISED;
	char last[NAME_MAX + 1];

	if (walk_init(&w, b, name, e) < 0 || walk_through(&w, last, e) == STEP_FAILED)
		return -1;
	if (w.length >= PATH_MAX)
		return fail(b, name, ENAMETOOLONG, e);
	/* After a missing component, ".." (from a link's target) has no meaning. */
	if (has_parent(&w))
		return fail(b, name, ENOENT, e);
	memcpy(ret, w.text, w.length + 1);
	return 0;
}

void file_place_done(struct file_place *p)
{
	fd_closep(&p->dir);
}
