/* SPDX-License-Identifier: MIT */
/* workspace: the held directories and the operations on paths below them. */

#include "workspace/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/own.h"
#include "workspace/limits.h"
#include "workspace/locks.h"
#include "workspace/pending.h"
#include "workspace/root.h"

/* When the path of a base was last looked at, and what was found. */
struct base_watch {
	pthread_mutex_t lock; /* held by the thread that looks */
	_Atomic int64_t looked_ms, seen_us;
	_Atomic uint64_t device, inode; /* of the held directory */
	_Atomic enum root_news news;
};

struct workspace {
	struct file_locks locks;
	struct pending *pending;
	struct root roots[PATH_BASES];
	struct beneath bases[PATH_BASES];
	struct base_watch watches[PATH_BASES];
	atomic_uint generation; /* how often a base has been replaced */
	char data_prefix[PATH_MAX + 1], outside_prefix[PATH_MAX + 1];
	char git[PATH_GITS][PATH_MAX];
	struct path_rules rules;
	bool (*hides)(void *arg, int fd); /* or NULL */
	void *hides_arg;
};

/* How a base is opened. */
struct base_setup {
	enum path_base base;
	const char *what, *path; /* the setting and its value */
	char *prefix; /* where the text before its names in messages is kept; NULL: there is none */
};

static int open_base(struct workspace *ws, const struct base_setup *s, bool walk_only,
		     struct err *e)
{
	struct root *r = &ws->roots[s->base];

	if (root_open(s->what, s->path, true, r, e) < 0)
		return -1;
	if (s->prefix)
		(void)snprintf(s->prefix, PATH_MAX + 1, "%s%s", r->path,
			       strcmp(r->path, "/") == 0 ? "" : "/");
	ws->bases[s->base] = (struct beneath){
		.fd = r->fd,
		.path = str_of(r->path),
		.alias = str_of(r->alias),
		.prefix = str_of(s->prefix ? s->prefix : ""),
		.walk_only = walk_only,
	};
	return 0;
}

/* The allowed root must contain the workspace. This is checked before anything is made. */
static int check_allowed(const struct ws_options *o, struct err *e)
{
	char root[PATH_MAX], allowed[PATH_MAX];
	struct str below;

	if (!o->allowed_root)
		return 0;
	if (root_canonical("ALLOWED_ROOT_DIRECTORY", o->allowed_root, allowed, e) < 0 ||
	    root_canonical("WORKSPACE_ROOT", o->root, root, e) < 0)
		return -1;
	if (path_within(str_of(allowed), str_of(root), &below))
		return 0;
	return err_set(
		e, ERR_PATH_NOT_ALLOWED,
		"WORKSPACE_ROOT \"%s\" is not inside ALLOWED_ROOT_DIRECTORY \"%s\"%s: name a "
		"directory that contains the workspace",
		root, allowed, access(allowed, F_OK) == 0 ? "" : ", which does not exist");
}

/* Commands can make links in the workspace. A data directory named through such a link would, at
 * the next start, be whatever the link leads to. */
static int check_data(const struct workspace *ws, struct err *e)
{
	const struct root *root = &ws->roots[PATH_WORKSPACE], *data = &ws->roots[PATH_DATA];
	struct str below;

	if (!*data->alias || path_within(str_of(root->path), str_of(data->path), &below))
		return 0;
	if (!path_within(str_of(root->path), str_of(data->alias), &below) &&
	    !(*root->alias && path_within(str_of(root->alias), str_of(data->alias), &below)))
		return 0;
	return err_set(e, ERR_PATH_NOT_ALLOWED,
		       "DATA_DIR \"%s\" leads out of the workspace by a link, which a command may "
		       "have made: name the directory itself",
		       data->alias);
}

static int open_all(struct workspace *ws, const struct ws_options *o, struct err *e)
{
	const bool walk_only = o->walk_only || !beneath_has_openat2();
	const struct base_setup setups[] = {
		{ PATH_OUTSIDE, "ALLOWED_ROOT_DIRECTORY",
		  o->allowed_root || !o->allow_outside ? o->allowed_root : "/",
		  ws->outside_prefix },
		{ PATH_DATA, "DATA_DIR", o->data_dir, ws->data_prefix },
		{ PATH_WORKSPACE, "WORKSPACE_ROOT", o->root ? o->root : "", NULL },
	};

	if (check_allowed(o, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(setups); i++)
		if (setups[i].path && open_base(ws, &setups[i], walk_only, e) < 0)
			return -1;
	if (check_data(ws, e) < 0)
		return -1;
	ws->rules = (struct path_rules){
		.root = ws->bases[PATH_WORKSPACE].path,
		.alias = ws->bases[PATH_WORKSPACE].alias,
		.data = ws->bases[PATH_DATA].path,
		.data_alias = ws->bases[PATH_DATA].alias,
		.outside = o->allow_outside,
	};
	if (o->allowed_root) {
		ws->rules.allowed = ws->bases[PATH_OUTSIDE].path;
		ws->rules.allowed_alias = ws->bases[PATH_OUTSIDE].alias;
	}
	return 0;
}

int ws_new(const struct ws_options *o, struct workspace **ret, struct err *e)
{
	AUTO_WORKSPACE ws = mem_new(1, sizeof *ws);

	if (!ws)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the workspace");
	for (int i = 0; i < PATH_BASES; i++) {
		ws->roots[i].fd = ws->bases[i].fd = -1;
		(void)pthread_mutex_init(&ws->watches[i].lock, NULL);
		atomic_store(&ws->watches[i].looked_ms, io_now_ms());
	}
	locks_init(&ws->locks);
	ws->pending = pending_new();
	if (open_all(ws, o, e) < 0) {
		ws_unmake(ws);
		return -1;
	}
	*ret = TAKE(ws, NULL);
	return 0;
}

void ws_unmake(const struct workspace *ws)
{
	for (int i = 0; i < PATH_BASES; i++)
		root_unmake(&ws->roots[i]);
}

void ws_free(struct workspace *ws)
{
	if (!ws)
		return;
	for (int i = 0; i < PATH_BASES; i++) {
		root_done(&ws->roots[i]);
		(void)pthread_mutex_destroy(&ws->watches[i].lock);
	}
	locks_done(&ws->locks);
	pending_free(ws->pending);
	mem_free(ws);
}

void ws_freep(struct workspace **ws)
{
	ws_free(*ws);
}

const struct path_rules *ws_rules(const struct workspace *ws)
{
	return &ws->rules;
}

bool ws_add_git(struct workspace *ws, const char *path)
{
	for (size_t i = 0; i < PATH_GITS; i++) {
		if (str_eq(ws->rules.git[i], str_of(path)))
			return true;
		if (ws->rules.git[i].n)
			continue;
		(void)snprintf(ws->git[i], sizeof ws->git[i], "%s", path);
		ws->rules.git[i] = str_of(ws->git[i]);
		return true;
	}
	return false;
}

bool ws_uses_openat2(const struct workspace *ws)
{
	return !ws->bases[PATH_WORKSPACE].walk_only;
}

int ws_resolve(const struct workspace *ws, struct str requested, enum path_policy policy,
	       struct path *ret, struct err *e)
{
	return path_resolve(&ws->rules, requested, policy, ret, e);
}

static const struct beneath *base_of(const struct workspace *ws, const struct path *p)
{
	return &ws->bases[p->base];
}

struct str ws_display(const struct workspace *ws, const struct path *p, char out[2 * PATH_MAX])
{
	const struct beneath *b = base_of(ws, p);
	const struct str itself = b->prefix.n ? b->path : STR(".");
	struct buf text = buf_over(out, 2 * (size_t)PATH_MAX);

	buf_add(&text, *p->name ? b->prefix : itself);
	buf_add(&text, str_of(p->name));
	return buf_str(&text);
}

static void look_at_base(struct workspace *ws, enum path_base base, bool make)
{
	struct base_watch *w = &ws->watches[base];
	struct stat st;

	(void)pthread_mutex_lock(&w->lock);
	const enum root_news news = root_look(&ws->roots[base], make);
	if (news == ROOT_REPLACED)
		(void)atomic_fetch_add(&ws->generation, 1);
	if (fstat(ws->roots[base].fd, &st) == 0) {
		atomic_store(&w->device, st.st_dev);
		atomic_store(&w->inode, st.st_ino);
	}
	atomic_store(&w->news, news);
	atomic_store(&w->looked_ms, io_now_ms());
	(void)pthread_mutex_unlock(&w->lock);
}

/* Whether the base is what its path leads to, as far as one system call can tell; or could tell a
 * moment ago, which is shorter than a request takes. Links above it are noticed when it is looked
 * at, which is done now and then. */
static bool is_same(struct workspace *ws, enum path_base base)
{
	struct base_watch *w = &ws->watches[base];
	const enum root_news news = atomic_load(&w->news);
	const int64_t now = io_now_us();
	struct stat st;

	if (news == ROOT_GONE || news == ROOT_BLOCKED ||
	    now / 1000 - atomic_load(&w->looked_ms) >= LIMIT_ROOT_LOOK_MS)
		return false;
	if (now - atomic_load(&w->seen_us) < LIMIT_ROOT_SEEN_US)
		return true;
	if (lstat(ws->roots[base].path, &st) < 0 || st.st_dev != atomic_load(&w->device) ||
	    st.st_ino != atomic_load(&w->inode))
		return false;
	atomic_store(&w->seen_us, now);
	return true;
}

/* The base of p for opening something below it; NULL with *e if it is gone. With `make` a workspace
 * that is gone is made again. */
static const struct beneath *held_base(const struct workspace *workspace, const struct path *p,
				       bool make, struct err *e)
{
	struct workspace *ws =
		(struct workspace *)workspace; /* what was seen when is not its state */
	static const char *const names[PATH_BASES] = {
		[PATH_WORKSPACE] = "workspace",
		[PATH_DATA] = "data directory",
		[PATH_OUTSIDE] = "allowed root",
	};
	const struct base_watch *w = &ws->watches[p->base];
	const struct str path = base_of(ws, p)->path;

	if (!is_same(ws, p->base))
		look_at_base(ws, p->base, make && p->base == PATH_WORKSPACE);
	switch (atomic_load(&w->news)) {
	case ROOT_SAME:
	case ROOT_REPLACED:
		return base_of(ws, p);
	case ROOT_GONE:
		(void)err_set(e, ERR_FILE_NOT_FOUND, "The %s %.*s does not exist any more",
			      names[p->base], STR_FMT(path));
		break;
	case ROOT_BLOCKED:
		(void)err_set(e, ERR_FILE_NOT_FOUND,
			      "The %s %.*s cannot be reached any more: a link or a file has taken "
			      "its place, or that of a directory above it",
			      names[p->base], STR_FMT(path));
		break;
	}
	return NULL;
}

unsigned ws_generation(const struct workspace *ws)
{
	return atomic_load(&ws->generation);
}

/* The absolute path of p, which `out` has room for. */
struct str ws_absolute(const struct workspace *ws, const struct path *p, char out[2 * PATH_MAX])
{
	const struct str base = base_of(ws, p)->path;
	const int n = snprintf(out, 2 * PATH_MAX, "%.*s%s%s", STR_FMT(base),
			       base.n > 1 && *p->name ? "/" : "", p->name);

	return (struct str){ out, n > 0 ? (size_t)n : 0 };
}

struct str ws_relative(const struct workspace *ws, const struct path *p, char out[2 * PATH_MAX])
{
	char absolute[2 * PATH_MAX] UNINITIALISED;
	const struct str root = ws->rules.root, path = ws_absolute(ws, p, absolute);
	struct str below;
	size_t same = root.n, n = 0;

	if (p->base == PATH_WORKSPACE)
		return ws_display(ws, p, out);
	/* Shorten the root until it contains the path: one ".." for each name taken off it. */
	while (!path_within(str_upto(root, same ? same : 1), path, &below)) {
		if (n + 3 + path.n >= 2 * PATH_MAX)
			return ws_display(ws, p, out);
		n += (size_t)snprintf(out + n, 4, "../");
		while (root.p[--same] != '/')
			;
	}
	n -= n && !below.n; /* nothing follows the last slash */
	if (below.n)
		memcpy(out + n, below.p, below.n);
	return (struct str){ out, n + below.n };
}

/* Opening p failed with *e. Whether that was a link which leads out, and the operator allows that:
 * then *ret is the same path below the outermost directory. */
static bool may_lead_out(const struct workspace *ws, const struct path *p, const struct err *e,
			 struct path *ret)
{
	char absolute[2 * PATH_MAX] UNINITIALISED;
	struct str below;

	if (e->code != ERR_SYMLINK_OUTSIDE_WORKSPACE || !ws->rules.outside ||
	    p->base == PATH_OUTSIDE)
		return false;
	if (!path_within(ws->bases[PATH_OUTSIDE].path, ws_absolute(ws, p, absolute), &below) ||
	    below.n >= sizeof ret->name)
		return false;
	ret->base = PATH_OUTSIDE;
	memcpy(ret->name, below.p, below.n);
	ret->name[below.n] = '\0';
	return true;
}

void ws_hide(struct workspace *ws, bool (*hides)(void *arg, int fd), void *arg)
{
	ws->hides = hides;
	ws->hides_arg = arg;
}

bool ws_hides(const struct workspace *ws, int fd)
{
	return ws->hides && ws->hides(ws->hides_arg, fd);
}

bool ws_hides_any(const struct workspace *ws)
{
	return ws->hides != NULL;
}

static int open_any(const struct workspace *ws, const struct path *p, int flags, struct err *e)
{
	const struct beneath *b = held_base(ws, p, false, e);
	struct path outer UNINITIALISED;

	if (!b)
		return -1;
	const int fd = beneath_open(b, p->name, flags, e);
	if (fd >= 0 || !may_lead_out(ws, p, e, &outer) || !(b = held_base(ws, &outer, false, e)))
		return fd;
	return beneath_open(b, outer.name, flags, e);
}

int ws_open(const struct workspace *ws, const struct path *p, int flags, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	AUTO_FD fd = open_any(ws, p, flags, e);

	/* Names are no secret, nor what they are. */
	if (fd < 0 || flags & O_PATH || !ws_hides(ws, fd))
		return TAKE(fd, -1);
	(void)err_set(e, ERR_PATH_HIDDEN, "%.*s is hidden from agents.",
		      STR_FMT(ws_display(ws, p, shown)));
	return err_advise(e, "The operator can show it with --hide '!PATTERN'.");
}

int ws_open_file(const struct workspace *ws, const struct path *p, struct stat *st, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	AUTO_FD fd = ws_open(ws, p, O_RDONLY, e);
	struct stat found;

	/* Opening a socket fails with ENXIO, which is NOT_A_FILE as well. */
	if (fd < 0)
		return -1;
	if (fstat(fd, &found) < 0)
		return err_errno(e, "Cannot open %.*s", STR_FMT(ws_display(ws, p, shown)));
	if (S_ISDIR(found.st_mode))
		return err_set(e, ERR_NOT_A_FILE, "Path is a directory, not a file: %.*s",
			       STR_FMT(ws_display(ws, p, shown)));
	if (!S_ISREG(found.st_mode))
		return err_set(e, ERR_NOT_A_FILE,
			       "Path is not a regular file (a pipe, socket or device): %.*s",
			       STR_FMT(ws_display(ws, p, shown)));
	*st = found;
	return TAKE(fd, -1);
}

int ws_open_dir(const struct workspace *ws, const struct path *p, struct err *e)
{
	return ws_open(ws, p, O_RDONLY | O_DIRECTORY, e);
}

int ws_stat(const struct workspace *ws, const struct path *p, struct stat *st, struct err *e)
{
	char shown[2 * PATH_MAX] UNINITIALISED;
	AUTO_FD fd = ws_open(ws, p, O_PATH, e);

	if (fd < 0)
		return -1;
	if (fstat(fd, st) < 0)
		return err_errno(e, "Cannot look at %.*s", STR_FMT(ws_display(ws, p, shown)));
	return 0;
}

static int place_in(const struct beneath *held, const char *name, bool make_dirs,
		    const struct witness *witness, struct file_place *ret, struct err *e)
{
	struct beneath b = *held;

	b.witness = witness;
	return beneath_place(&b, name, make_dirs, ret, e);
}

int ws_place(const struct workspace *ws, const struct path *p, bool make_dirs,
	     const struct witness *witness, struct file_place *ret, struct err *e)
{
	const struct beneath *b = held_base(ws, p, make_dirs, e);
	struct path outer UNINITIALISED;

	if (!b)
		return -1;
	if (place_in(b, p->name, make_dirs, witness, ret, e) == 0)
		return 0;
	if (!may_lead_out(ws, p, e, &outer) || !(b = held_base(ws, &outer, false, e)))
		return -1;
	return place_in(b, outer.name, make_dirs, witness, ret, e);
}

/* Name a path by the workspace or the data directory if it lies there, so that one file has one
 * name. */
static void choose_base(const struct workspace *ws, struct path *p)
{
	static const enum path_base first[] = { PATH_WORKSPACE, PATH_DATA };
	char absolute[2 * PATH_MAX] UNINITIALISED;
	struct str below;

	if (p->base != PATH_OUTSIDE)
		return;
	const struct str path = ws_absolute(ws, p, absolute);
	for (size_t i = 0; i < ARRAY_LEN(first); i++) {
		const struct str dir = ws->bases[first[i]].path;
		if (!dir.n || !path_within(dir, path, &below) || below.n >= sizeof p->name)
			continue;
		p->base = first[i];
		memcpy(p->name, below.p, below.n);
		p->name[below.n] = '\0';
		return;
	}
}

int ws_canonical(const struct workspace *ws, const struct path *p, struct path *ret, struct err *e)
{
	const struct beneath *b = held_base(ws, p, false, e);
	struct path canonical = { .base = p->base }, outer UNINITIALISED;

	if (!b)
		return -1;
	if (beneath_canonical(b, p->name, canonical.name, e) < 0) {
		if (!may_lead_out(ws, p, e, &outer) || !(b = held_base(ws, &outer, false, e)) ||
		    beneath_canonical(b, outer.name, canonical.name, e) < 0)
			return -1;
		canonical.base = outer.base;
	}
	choose_base(ws, &canonical);
	*ret = canonical;
	return 0;
}

struct file_locks *ws_locks(const struct workspace *ws)
{
	return (struct file_locks *)&ws->locks;
}

struct pending *ws_pending(const struct workspace *ws)
{
	return ws->pending;
}

void ws_trees(const struct workspace *ws, const char *ret[WS_TREES])
{
	const struct path_rules *rules = &ws->rules;
	const struct str outermost = rules->allowed.n ? rules->allowed : STR("/");
	const struct str all[] = { rules->outside ? outermost : rules->root, rules->data };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		struct str below;
		if (all[i].n && !(i > 0 && path_within(all[0], all[i], &below)))
			ret[n++] = all[i].p;
	}
	ret[n] = NULL;
}

static void close_dir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

/* Some file systems do not report the type in a listing. */
static unsigned char type_of(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return IFTODT(st.st_mode);
}

int ws_list(int dir, ws_visit *visit, void *arg, struct err *e)
{
	CLEANUP(close_dir) DIR *d = fdopendir(dir);

	if (!d) {
		(void)err_errno(e, "Cannot list the directory");
		(void)close(dir);
		return -1;
	}
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(d);
		if (!entry && errno)
			return err_errno(e, "Cannot list the directory");
		if (!entry)
			return 0;
		const struct str name = str_of(entry->d_name);
		if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
			continue;
		if (visit(arg, name, type_of(dirfd(d), entry), e) < 0)
			return -1;
	}
}
