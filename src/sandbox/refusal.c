/* SPDX-License-Identifier: MIT */
/* refusal: find the place as the caller sees it, then as this process does. */

#include "sandbox/refusal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "base/str.h"
#include "sandbox/canonical.h"
#include "sandbox/floor.h"

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

/* A name in a directory, opened as the caller sees it or as this process does. */
struct spot {
	int dir;
	int file; /* what has the name; -1: nothing has */
	struct stat dir_is, file_is;
	char name[2 * PATH_MAX]; /* the whole of it, without links */
	size_t last;		 /* where the last component begins */
};

static void spot_done(struct spot *p)
{
	fd_closep(&p->dir);
	fd_closep(&p->file);
}

#define AUTO_SPOT CLEANUP(spot_done) struct spot

/* Cut an absolute path before its last component. False if it has none. */
static bool cut_last(char *text, char last[NAME_MAX + 1])
{
	size_t n = strlen(text);

	while (n > 1 && text[n - 1] == '/')
		text[--n] = '\0';
	char *slash = memrchr(text, '/', n);
	if (!slash || slash[1] == '\0' || strlen(slash + 1) > NAME_MAX ||
	    strcmp(slash + 1, ".") == 0 || strcmp(slash + 1, "..") == 0)
		return false;
	(void)snprintf(last, NAME_MAX + 1, "%s", slash + 1);
	*slash = '\0';
	return true;
}

static void look_at_name(struct spot *p, const char *last)
{
	p->file = openat(p->dir, last, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (p->file >= 0 && fstat(p->file, &p->file_is) < 0)
		fd_closep(&p->file);
}

static bool set_name(struct spot *p, const char *dir, const char *last)
{
	p->last = strcmp(dir, "/") == 0 ? 1 : strlen(dir) + 1;
	(void)snprintf(p->name, sizeof p->name, "%s/%s", p->last == 1 ? "" : dir, last);
	return fstat(p->dir, &p->dir_is) == 0;
}

enum found { FOUND, NO_DIRECTORY, NOT_FOUND };

/* The place that a path means to the caller. NO_DIRECTORY: at->name is where it would have been. */
static enum found find(const struct stopped_call *s, const struct intent_path *path,
		       struct spot *at)
{
	struct stopped_path way;
	char last[NAME_MAX + 1], dir[PATH_MAX], target[PATH_MAX];
	AUTO_FD proc = *path->text ? stopped_proc(s) : -1;

	if (proc < 0 || stopped_absolute(proc, path->dir, path->text, &way) < 0)
		return NOT_FOUND;
	AUTO_FD root = stopped_root(proc);
	if (root < 0)
		return NOT_FOUND;
	for (int hops = 0; hops < LIMIT_LINK_HOPS; hops++) {
		(void)snprintf(at->name, sizeof at->name, "%s", way.text);
		spot_done(at);
		if (!cut_last(way.text, last))
			return NOT_FOUND;
		at->dir = stopped_open(root, *way.text ? way.text : "/", O_DIRECTORY);
		if (at->dir < 0)
			return errno == ENOENT ? NO_DIRECTORY : NOT_FOUND;
		if (!stopped_name(at->dir, dir) || !set_name(at, dir, last))
			return NOT_FOUND;
		look_at_name(at, last);
		const bool link = at->file >= 0 && S_ISLNK(at->file_is.st_mode);
		const ssize_t n = link && path->follow
					  ? readlinkat(at->dir, last, target, sizeof target - 1)
					  : -1;
		if (n < 0)
			return FOUND;
		target[n] = '\0';
		if (stopped_follow(proc, str_of(dir), target, &way) < 0)
			return NOT_FOUND;
	}
	return NOT_FOUND;
}

/* The same place as this process sees it: outside the sandbox. False if it is not there, or is
 * another one. */
static bool find_outside(const struct spot *in, struct spot *at)
{
	char dir[2 * PATH_MAX];

	(void)snprintf(dir, sizeof dir, "%.*s", (int)(in->last > 1 ? in->last - 1 : 1), in->name);
	at->dir = canonical_open(dir);
	if (at->dir < 0 || !set_name(at, dir, in->name + in->last))
		return false;
	look_at_name(at, in->name + in->last);
	if (in->dir < 0)
		return true;
	return at->dir_is.st_dev == in->dir_is.st_dev && at->dir_is.st_ino == in->dir_is.st_ino;
}

static bool may_use(int fd, int mode)
{
	return syscall(SYS_faccessat2, fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

static bool may_change_names(const struct spot *p)
{
	return may_use(p->dir, W_OK | X_OK);
}

/* In a directory like /tmp only their owner may remove files. */
static bool may_remove(const struct spot *p)
{
	if (p->file < 0 || !may_change_names(p))
		return false;
	return !(p->dir_is.st_mode & S_ISVTX) || p->dir_is.st_uid == geteuid() ||
	       p->file_is.st_uid == geteuid();
}

static bool is_empty(const struct spot *p)
{
	const int fd = openat(p->file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t n = 0;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return true; /* it is not known */
	}
	while (n < 3 && readdir(dir))
		n++;
	(void)closedir(dir);
	return n < 3;
}

/* Would it have been possible without the sandbox? `p` is the place outside, `second` whether it is
 * the second path of the call. */
static bool was_possible(const struct intent *i, const struct spot *p, bool second)
{
	const bool exists = p->file >= 0;
	const bool dir = exists && S_ISDIR(p->file_is.st_mode);
	const bool own = exists && p->file_is.st_uid == geteuid();

	switch (i->verb) {
	case INTENT_WRITE:
		if (exists)
			return !i->exclusive && !dir && may_use(p->file, W_OK);
		return i->creates && may_change_names(p);
	case INTENT_TRUNCATE:
		return exists && S_ISREG(p->file_is.st_mode) && may_use(p->file, W_OK);
	case INTENT_MKDIR:
	case INTENT_MKNOD:
	case INTENT_SYMLINK:
	case INTENT_BIND:
		return !exists && may_change_names(p);
	case INTENT_LINK:
		return second && !exists && may_change_names(p);
	case INTENT_UNLINK:
		return !dir && may_remove(p);
	case INTENT_RMDIR:
		return dir && may_remove(p) && is_empty(p);
	case INTENT_RENAME:
		return second && !exists ? may_change_names(p) : may_remove(p);
	case INTENT_CHMOD:
	case INTENT_CHOWN:
		return own;
	case INTENT_TIMES:
	case INTENT_ATTRIBUTE:
		return own || (exists && may_use(p->file, W_OK));
	case INTENT_CONNECT:
	case INTENT_SEND:
	case INTENT_SOCKET:
		break;
	}
	return false;
}

/* Landlock does not know these. */
static bool needs_mounts(enum intent_verb verb)
{
	return verb == INTENT_CHMOD || verb == INTENT_CHOWN || verb == INTENT_TIMES ||
	       verb == INTENT_ATTRIBUTE;
}

static bool is_read_only(const struct spot *p)
{
	struct statvfs v;

	return fstatvfs(p->file >= 0 ? p->file : p->dir, &v) == 0 && v.f_flag & ST_RDONLY;
}

/* A device or pipe can be written on a mount that cannot. */
static bool needs_no_mount(const struct intent *i, const struct spot *p)
{
	return i->verb == INTENT_WRITE && p->file >= 0 && !S_ISREG(p->file_is.st_mode) &&
	       !S_ISDIR(p->file_is.st_mode);
}

/* What refuses it; false: nothing does. */
static bool refused_by(const struct bounds *b, const struct intent *i, const struct spot *p,
		       enum denial_by *ret)
{
	*ret = DENIED_BY_MOUNT;
	if (b->namespaces && !needs_no_mount(i, p) && is_read_only(p))
		return true;
	*ret = DENIED_BY_LANDLOCK;
	return !needs_mounts(i->verb) && !bounds_may_write(b, p->name);
}

static bool makes_name(const struct intent *i, bool second)
{
	return i->creates || i->verb == INTENT_MKDIR || i->verb == INTENT_MKNOD ||
	       i->verb == INTENT_SYMLINK || i->verb == INTENT_BIND || second;
}

static bool is_needed_by_none(const char *name)
{
	return strstr(name, "/__pycache__") != NULL;
}

/* A directory of another program that is not there for commands. */
static bool is_hidden_place(const struct bounds *b, struct spot *in)
{
	char last[NAME_MAX + 1], text[2 * PATH_MAX];

	(void)snprintf(text, sizeof text, "%s", in->name);
	if (!bounds_is_hidden(b, in->name) || !cut_last(text, last))
		return false;
	in->last = strlen(text) + 1;
	return true;
}

static bool look_at_path(const struct bounds *b, struct denials *d, const struct stopped_call *s,
			 const struct intent *i, bool second)
{
	AUTO_SPOT in = { .dir = -1, .file = -1 };
	AUTO_SPOT out = { .dir = -1, .file = -1 };
	struct denial denial = { .verb = i->verb, .by = DENIED_BY_MOUNT, .path = in.name };
	const enum found found = find(s, &i->path[second], &in);

	if (found == NOT_FOUND || !supervisor_is_waiting(s))
		return false;
	if (found == FOUND && !refused_by(b, i, &in, &denial.by))
		return false;
	denial.hidden = found == NO_DIRECTORY;
	if (denial.hidden && (!makes_name(i, second) || !is_hidden_place(b, &in)))
		return false;
	if (is_needed_by_none(in.name))
		return false;
	const struct bounds_rights rights = bounds_lower(b);
	const bool possible =
		!rights.failed && find_outside(&in, &out) && was_possible(i, &out, second);
	bounds_raise(&rights);
	if (possible)
		denials_add(d, &denial);
	return possible;
}

/* The kernel says first that two mounts are in the way, and programs copy then. */
static bool crosses_mounts(const struct bounds *b, const struct stopped_call *s,
			   const struct intent *i)
{
	AUTO_SPOT from = { .dir = -1, .file = -1 };
	AUTO_SPOT to = { .dir = -1, .file = -1 };
	struct statx a, c;

	if (find(s, &i->path[0], &from) != FOUND || find(s, &i->path[1], &to) != FOUND)
		return false;
	if (statx(from.dir, "", AT_EMPTY_PATH, STATX_MNT_ID, &a) == 0 &&
	    statx(to.dir, "", AT_EMPTY_PATH, STATX_MNT_ID, &c) == 0 &&
	    a.stx_mask & c.stx_mask & STATX_MNT_ID)
		return a.stx_mnt_id != c.stx_mnt_id;
	return from.dir_is.st_dev != to.dir_is.st_dev ||
	       (b->namespaces && is_read_only(&from) != is_read_only(&to));
}

static enum judgement look(void *arg, const struct stopped_call *s)
{
	struct denials *d = arg;
	const struct bounds *b = denials_bounds(d);
	UNINITIALISED struct intent i;

	if (floor_is_for(b, s) || intent_read(s, &i) <= 0 ||
	    (i.count == 2 && crosses_mounts(b, s, &i)))
		return JUDGE_PASSES;
	/* A call is one denial, also if neither of its paths is allowed. */
	if (!look_at_path(b, d, s, &i, false) && i.count == 2)
		(void)look_at_path(b, d, s, &i, true);
	return JUDGE_PASSES;
}

struct judge refusal_judge(struct denials *d)
{
	return (struct judge){ look, d };
}
