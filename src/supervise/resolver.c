/* SPDX-License-Identifier: MIT */
/* resolver: /proc for what is relative to the caller, openat2 in its root for the rest. */

#include "supervise/resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "supervise/limits.h"

bool resolver_name(int fd, char name[PATH_MAX])
{
	char self[32];

	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(self, name, PATH_MAX - 1);
	if (n <= 0)
		return false;
	name[n] = '\0';
	return name[0] == '/';
}

/* Where a path or a link leads that is relative to a directory, which is an absolute path. */
static int go_to(int proc, struct str dir, const char *target, struct caller_path *ret)
{
	const struct str start = *target == '/' ? STR("") : dir;

	return way_join(ret, start, way_below(str_of(target))) < 0 ? -1
								   : way_replace_magic(proc, ret);
}

/* Make a path absolute, relative to a directory descriptor of the caller or AT_FDCWD. Links are not
 * followed, except those in /proc by which a process reaches its own descriptors and directories:
 * only the process itself could follow them. */
static int make_absolute(int proc, int dirfd, const char *path, struct caller_path *ret)
{
	char base[PATH_MAX] UNINITIALISED, what[32] = "cwd";

	if (*path == '/')
		return go_to(proc, STR(""), path, ret);
	if (dirfd != AT_FDCWD)
		(void)snprintf(what, sizeof what, "fd/%d", dirfd);
	return way_link(proc, what, base) < 0 ? -1 : way_join(ret, str_of(base), str_of(path));
}

/* Open what an absolute path means in that root and its mounts, with these flags and O_PATH: links
 * are followed (the last one unless O_NOFOLLOW is given), magic ones are refused. */
static int open_in(int root, const char *absolute, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)(O_PATH | O_CLOEXEC | flags),
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };

	int fd;

	/* EAGAIN: a rename elsewhere made the kernel unsure about a "..". */
	for (int i = 0; i < LIMIT_OPEN_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, root, absolute, &how, sizeof how);
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}

bool resolver_is_possible(void)
{
	AUTO_FD root = open("/proc/self/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD found = root < 0 ? -1 : open_in(root, "/", O_DIRECTORY);

	return found >= 0;
}

/* It is large, and most of it is never used. */
void resolver_init(struct resolver *r, const struct resolver_home *home)
{
	r->call = NULL;
	r->home = home;
	r->read = 0;
	r->proc = r->root = -1;
	r->proc_of = 0;
	r->next = 0;
	r->removes = r->moves = r->walked = r->absent = false;
	for (size_t i = 0; i < RESOLVER_DIRS; i++)
		r->dirs[i] = (struct caller_dir){ .fd = -1 };
}

void resolver_done(struct resolver *r)
{
	for (size_t i = 0; i < RESOLVER_DIRS; i++) {
		mem_free(r->dirs[i].text);
		fd_closep(&r->dirs[i].fd);
	}
	fd_closep(&r->proc);
	fd_closep(&r->root);
}

enum { NOT_READ = 2 };

void resolver_begin(struct resolver *r, const struct stopped_call *s)
{
	r->call = s;
	r->read = NOT_READ;
	r->blind = r->renewed = r->certain = false;
	for (size_t i = 0; i < ARRAY_LEN(r->place); i++) {
		struct caller_place *p = &r->place[i];
		p->found = PLACE_UNKNOWN;
		p->dir = NULL;
		p->ended = false;
		p->links = 0;
		p->way.n = 0;
		p->moves = -1;
	}
}

/* A text with links means something else when a link goes or gets another object, any text when a
 * directory does: but not before the call is carried out, and when that is nobody says. */
void resolver_end(struct resolver *r)
{
	const enum intent_verb verb = r->intent.verb;
	const bool changes = r->read == 1 && (verb == INTENT_UNLINK || verb == INTENT_RENAME ||
					      verb == INTENT_RMDIR);

	for (size_t i = 0; verb == INTENT_RENAME && changes && i < r->intent.count; i++)
		r->moves |= r->place[i].found == PLACE_FOUND && resolver_moves(r, &r->place[i]);
	r->removes |= changes;
	fd_closep(&r->root);
}

int resolver_intent(struct resolver *r)
{
	if (r->read == NOT_READ) {
		r->read = intent_read(r->call, &r->intent);
		r->read_error = errno;
	}
	if (r->read < 0)
		errno = r->read_error;
	return r->read;
}

void resolver_give(struct resolver *r, enum intent_verb verb, const char *path)
{
	struct intent *i = &r->intent;

	r->read = 1;
	i->verb = verb;
	i->creates = i->exclusive = i->exchange = i->in_place = false;
	i->count = 1;
	i->path[0].dir = AT_FDCWD;
	i->path[0].follow = true;
	(void)snprintf(i->path[0].text, sizeof i->path[0].text, "%s", path);
}

static int renew_proc(struct resolver *r)
{
	fd_closep(&r->proc);
	r->proc = stopped_proc(r->call);
	r->proc_of = r->proc < 0 ? 0 : r->call->pid;
	r->renewed = true;
	r->certain = false;
	return r->proc < 0 ? -1 : 0;
}

/* The path as the caller sees it. The caller's directory in /proc is held, because most calls come
 * from the process that made the last one; it may also have ended. */
static int see_way(struct resolver *r, size_t which)
{
	const struct intent_path *path = &r->intent.path[which];
	struct caller_path *way = &r->place[which].way;

	bool held = r->proc_of == r->call->pid;

	if (way->n)
		return 0;
	while (!held || make_absolute(r->proc, path->dir, path->text, way) < 0) {
		way->n = 0;
		way->text[0] = '\0';
		if (r->renewed && !held)
			errno = EACCES;
		if (r->renewed || renew_proc(r) < 0)
			return -1;
		held = true;
	}
	return 0;
}

static int see_root(struct resolver *r)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

	if (r->root < 0)
		r->root = openat(r->proc, "root", flags);
	if (r->root < 0 && !r->renewed && renew_proc(r) == 0)
		r->root = openat(r->proc, "root", flags);
	return r->root;
}

/* Until here the caller's number could have become another process's. */
static bool is_certain(struct resolver *r)
{
	if (!r->certain)
		r->certain = stopped_is_waiting(r->call);
	return r->certain;
}

static bool is_home(const struct resolver *r, struct str path, struct str *below)
{
	const struct str home = r->home ? r->home->path : STR("");

	if (home.n == 0 || !str_starts(path, home))
		return false;
	*below = str_from(path, home.n);
	/* "/" ends in the separator that must follow every other directory. */
	if (home.n > 1 && below->n && below->p[0] != '/')
		return false;
	*below = way_below(*below);
	return true;
}

/* Has the process whose directory in /proc that is in the caller's other mounts, or cannot be
 * looked at? Then its names mean something else. */
static bool is_stranger(struct resolver *r, const char *name)
{
	char own[64], other[64], ns[PATH_MAX];
	const char *end = strchr(name + 6, '/');

	if (strncmp(name, "/proc/", 6) != 0 || !end)
		return false;
	(void)snprintf(ns, sizeof ns, "%.*s/ns/mnt", (int)(end - name), name);
	AUTO_FD fd = open_in(r->root, ns, O_NOFOLLOW);
	const ssize_t n = readlinkat(r->proc, "ns/mnt", own, sizeof own);
	const ssize_t m = fd < 0 ? -1 : readlinkat(fd, "", other, sizeof other);
	return n <= 0 || n != m || memcmp(own, other, (size_t)n) != 0;
}

/* What the link of that name leads to: its length; 0: it is none, or does not exist; -1: not known. */
static ssize_t read_any_link(struct resolver *r, const char *name, char to[PATH_MAX])
{
	/* Only the caller is that. */
	if (strcmp(name, "/proc/self") == 0 || strcmp(name, "/proc/thread-self") == 0)
		return 0;
	AUTO_FD fd = open_in(r->root, name, O_NOFOLLOW);
	const ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", to, PATH_MAX - 1);
	if (n < 0)
		return errno == ENOENT || errno == EINVAL || errno == ENOTDIR ? 0 : -1;
	to[n] = '\0';
	if (!is_stranger(r, name))
		return n;
	errno = EPERM;
	return -1;
}

/* Go one part further in a path without links. 1: it is a link, and *to says where that leads, seen
 * from where the path is again. */
static int walk_part(struct resolver *r, struct str part, bool last, struct caller_path *done,
		     char to[PATH_MAX])
{
	const size_t was = done->n;

	if (!part.n || str_eq(part, STR(".")))
		return 0;
	if (str_eq(part, STR(".."))) {
		while (done->n && done->text[--done->n] != '/')
			;
		return 0;
	}
	if (way_join(done, (struct str){ done->text, done->n }, part) < 0 ||
	    way_replace_magic(r->proc, done) < 0)
		return -1;
	const ssize_t n = last ? 0 : read_any_link(r, done->text, to);
	if (n > 0)
		done->n = was;
	return n < 0 ? -1 : n > 0;
}

/* Follow the links on the way of a path, also those in /proc, which the kernel follows for nobody but
 * the caller. -1 with errno: it is not known where it leads. */
static int walk(struct resolver *r, struct caller_path *p)
{
	struct caller_path done UNINITIALISED, rest = *p, next UNINITIALISED;
	char to[PATH_MAX] UNINITIALISED;
	struct str part, left = way_below((struct str){ rest.text, rest.n });
	int links = 0;

	if (see_root(r) < 0 || !is_certain(r)) {
		errno = EACCES;
		return -1;
	}
	done.n = 0;
	while (left.n) {
		(void)str_cut(left, '/', &part, &left);
		left = way_below(left);
		const int led = walk_part(r, part, !left.n, &done, to);
		if (led < 0)
			return -1;
		if (!led)
			continue;
		if (++links >= LIMIT_LINK_HOPS) {
			errno = ELOOP;
			return -1;
		}
		if (to[0] == '/')
			done.n = 0;
		if (way_join(&next, str_of(to), left) < 0)
			return -1;
		rest = next;
		left = way_below((struct str){ rest.text, rest.n });
	}
	if (done.n == 0)
		return way_join(p, STR(""), STR(""));
	done.text[done.n] = '\0';
	*p = done;
	return 0;
}

/* Open a directory by the path that the caller sees, in which there may be links and dots. */
static int open_dir(struct resolver *r, struct str dir, struct caller_dir *ret)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str below;

	ret->linked = false;
	ret->in_home = is_home(r, dir, &below);
	if (ret->in_home) {
		const int fd = r->home->open(r->home->root, below);
		r->absent = fd < 0 && errno == ENOENT;
		if (fd >= 0 || r->absent)
			return fd;
	}
	if (dir.n >= sizeof text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(dir));
	if (see_root(r) < 0 || !is_certain(r)) {
		r->blind = true;
		errno = EACCES;
		return -1;
	}
	AUTO_FD found = open_in(r->root, *text ? text : "/", O_DIRECTORY);
	if (found < 0)
		return -1;
	const bool named = resolver_name(found, text);
	/* What a process finds there of its own is not what this one finds. */
	if (named && str_starts(str_of(text), STR("/proc/")) && !r->walked) {
		errno = ELOOP;
		return -1;
	}
	ret->linked = !named || !str_eq(str_of(text), dir.n ? dir : STR("/"));
	ret->in_home = named && is_home(r, str_of(text), &below);
	return ret->in_home ? r->home->open(r->home->root, below) : TAKE(found, -1);
}

/* A place for one more, which no path of the call uses. */
static struct caller_dir *next_dir(struct resolver *r)
{
	for (;;) {
		struct caller_dir *d = &r->dirs[r->next++ % RESOLVER_DIRS];
		if (d != r->place[0].dir && d != r->place[1].dir)
			return d;
	}
}

/* Whether the text still means this directory. */
static bool is_current(const struct resolver *r, const struct caller_dir *d)
{
	char text[PATH_MAX] UNINITIALISED;
	struct stat st;

	if (d->linked || !r->removes)
		return !r->removes;
	if (!r->moves) /* asking for the name takes five times as long */
		return fstat(d->fd, &st) == 0 && st.st_nlink > 0;
	return resolver_name(d->fd, text) && str_eq(str_of(text), (struct str){ d->text, d->n });
}

/* The directory of that path, or NULL with errno. */
static struct caller_dir *see_dir(struct resolver *r, struct str dir)
{
	for (size_t i = 0; i < RESOLVER_DIRS; i++) {
		struct caller_dir *d = &r->dirs[i];
		if (d->text && str_eq((struct str){ d->text, d->n }, dir) && is_current(r, d))
			return d;
	}
	struct caller_dir new = { .n = dir.n };
	AUTO_FD fd = open_dir(r, dir, &new);
	if (fd < 0)
		return NULL;
	new.text = mem_new(dir.n + 1, 1);
	if (!new.text) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(new.text, dir.p, dir.n);
	struct caller_dir *place = next_dir(r);
	mem_free(place->text);
	fd_closep(&place->fd);
	*place = new;
	place->fd = TAKE(fd, -1);
	return place;
}

/* Cut off the last component; slashes after it mean nothing here. */
static struct str cut_last(struct caller_path *w, struct str *last)
{
	while (w->n > 1 && w->text[w->n - 1] == '/')
		w->text[--w->n] = '\0';
	const char *slash = memrchr(w->text, '/', w->n);
	const size_t n = (size_t)(slash - w->text);

	*last = (struct str){ w->text + n + 1, w->n - n - 1 };
	return (struct str){ w->text, n };
}

static bool is_dots(struct str s)
{
	return str_eq(s, STR(".")) || str_eq(s, STR(".."));
}

/* A path that ends in dots names a directory: find out by which name, in the home. */
static bool name_dots(struct resolver *r, struct caller_path *w)
{
	char text[PATH_MAX] UNINITIALISED;
	struct caller_dir found;
	struct str below;
	AUTO_FD fd = open_dir(r, (struct str){ w->text, w->n }, &found);

	return fd >= 0 && found.in_home && resolver_name(fd, text) &&
	       is_home(r, str_of(text), &below) &&
	       way_join(w, STR(""), way_below(str_of(text))) == 0;
}

/* Find the directory of p->at, and the name in it. */
static enum place_found find_plain(struct resolver *r, struct caller_place *p)
{
	struct str last, below, dir = cut_last(&p->at, &last);

	p->dir = NULL;
	errno = 0;
	if (is_dots(last)) {
		if (!name_dots(r, &p->at))
			return PLACE_NOWHERE;
		dir = cut_last(&p->at, &last);
	}
	/* The home is "." in itself. */
	if (is_home(r, (struct str){ p->at.text, p->at.n }, &below) && below.n == 0) {
		dir = r->home->path;
		last = STR(".");
	}
	p->dir_n = dir.n;
	if (last.n == 0 || last.n > NAME_MAX)
		return PLACE_NOWHERE;
	memcpy(p->name, last.p, last.n);
	p->name[last.n] = '\0';
	p->dir = see_dir(r, dir);
	if (p->dir)
		return PLACE_FOUND;
	return errno == ENOENT ? PLACE_NO_DIRECTORY : PLACE_NOWHERE;
}

/* The same behind links in /proc, which are not followed at once: they may also be why nothing is
 * found. */
static enum place_found find(struct resolver *r, struct caller_place *p)
{
	r->absent = false;
	enum place_found found = find_plain(r, p);
	if (found != PLACE_FOUND && !r->absent && (errno == ENOENT || errno == ELOOP)) {
		r->walked = walk(r, &p->at) == 0;
		found = r->walked ? find_plain(r, p) : PLACE_NOWHERE;
		r->blind |= found == PLACE_NOWHERE && errno == EPERM;
		r->walked = false;
	}
	r->blind |= found == PLACE_NOWHERE && errno == ENAMETOOLONG;
	return found;
}

/* Most of what is opened for writing by an absolute path is a device. */
static bool is_elsewhere(const struct resolver *r, const char *path)
{
	return r->home && (strcmp(path, "/dev/null") == 0 || strcmp(path, "/dev/tty") == 0) &&
	       !str_starts(r->home->path, STR("/dev"));
}

struct caller_place *resolver_path(struct resolver *r, size_t which)
{
	struct caller_place *p = &r->place[which];
	const struct intent_path *path = &r->intent.path[which];

	if (p->found != PLACE_UNKNOWN)
		return p;
	p->found = PLACE_NOWHERE;
	p->ended = true;
	if (!*path->text || is_elsewhere(r, path->text))
		return p;
	if (see_way(r, which) < 0) {
		r->blind |= errno == ENAMETOOLONG;
		return p;
	}
	if (!is_certain(r))
		return p;
	memcpy(p->at.text, p->way.text, p->way.n + 1);
	p->at.n = p->way.n;
	p->found = find(r, p);
	p->ended = p->found != PLACE_FOUND || !path->follow;
	return p;
}

bool resolver_follow(struct resolver *r, struct caller_place *p)
{
	char target[PATH_MAX] UNINITIALISED;
	const ssize_t n =
		p->ended ? -1 : readlinkat(p->dir->fd, p->name, target, sizeof target - 1);

	p->ended = true;
	if (n <= 0)
		return false;
	target[n] = '\0';
	p->found = PLACE_NOWHERE;
	if (++p->links >= LIMIT_LINK_HOPS ||
	    go_to(r->proc, (struct str){ p->at.text, p->dir_n }, target, &p->at) < 0)
		return false;
	p->found = find(r, p);
	p->ended = p->found != PLACE_FOUND;
	return true;
}

struct caller_place *resolver_place(struct resolver *r, size_t which)
{
	struct caller_place *p = resolver_path(r, which);

	while (resolver_follow(r, p))
		;
	return p;
}

bool resolver_moves(struct resolver *r, struct caller_place *p)
{
	const enum intent_verb verb = r->intent.verb;
	struct stat st;

	if (p->moves < 0)
		p->moves = verb == INTENT_RMDIR ||
			   (verb == INTENT_RENAME &&
			    fstatat(p->dir->fd, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISDIR(st.st_mode));
	return p->moves;
}

int resolver_open(struct resolver *r, const struct bounds *b, struct caller_file *ret)
{
	const char *way = r->place[0].way.text;

	ret->file = -1;
	ret->listed = false;
	if (see_way(r, 0) < 0 || see_root(r) < 0)
		return errno;
	const struct bounds_rights rights = bounds_lower(b);
	if (!rights.failed && r->intent.verb == INTENT_CONNECT)
		ret->file = bounds_open_listed(b, way);
	ret->listed = ret->file >= 0;
	if (!rights.failed && !ret->listed)
		ret->file = open_in(r->root, way, r->intent.path[0].follow ? 0 : O_NOFOLLOW);
	const int error = rights.failed ? EACCES : errno;
	bounds_raise(&rights);
	if (ret->file < 0)
		return error;
	if (fstat(ret->file, &ret->is) < 0 || !resolver_name(ret->file, ret->name))
		return EACCES;
	return stopped_is_waiting(r->call) ? 0 : EINTR;
}
