/* SPDX-License-Identifier: MIT */
/* refusal: look at the place as the caller sees it, then as this process does. */

#include "supervise/denials.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/canonical.h"
#include "supervise/resolver.h"

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
	fd_closep(&p->file);
}

#define AUTO_SPOT CLEANUP(spot_done) struct spot

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

/* In the home nothing is refused; a workspace that cannot be written is none. */
static bool is_outside(const struct caller_place *p)
{
	return p->found == PLACE_NO_DIRECTORY || (p->found == PLACE_FOUND && !p->dir->in_home);
}

/* What is at a place that was found, as the caller sees it. */
static bool look_at(const struct caller_place *place, struct spot *at)
{
	char dir[PATH_MAX] UNINITIALISED;

	at->dir = place->dir->fd;
	if (!resolver_name(at->dir, dir) || !set_name(at, dir, place->name))
		return false;
	look_at_name(at, place->name);
	return true;
}

/* The same place as this process sees it: outside the sandbox. `dir` is the directory then, for the
 * caller to close. False if it is not there, or is another one. */
static bool find_outside(const struct spot *in, int *dir, struct spot *at)
{
	char text[2 * PATH_MAX] UNINITIALISED;

	(void)snprintf(text, sizeof text, "%.*s", (int)(in->last > 1 ? in->last - 1 : 1), in->name);
	at->dir = *dir = canonical_open(text);
	if (at->dir < 0 || fstat(at->dir, &at->dir_is) < 0)
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

static bool is_optional(const char *name)
{
	return strstr(name, "/__pycache__") != NULL;
}

/* A directory of another program that is not there for commands. */
static bool is_hidden_place(const struct bounds *b, const struct caller_place *place,
			    struct spot *in)
{
	if (!bounds_is_hidden(b, place->at.text))
		return false;
	(void)snprintf(in->name, sizeof in->name, "%s", place->at.text);
	in->last = (size_t)(strrchr(in->name, '/') + 1 - in->name);
	return true;
}

static bool look_at_path(const struct bounds *b, struct denials *d, struct resolver *r, bool second)
{
	const struct intent *i = &r->intent;
	const struct caller_place *place = resolver_place(r, second);
	AUTO_SPOT in UNINITIALISED, out UNINITIALISED;
	AUTO_FD dir = -1;
	struct denial denial = { .verb = i->verb, .by = DENIED_BY_MOUNT, .path = in.name };

	in.dir = in.file = out.file = -1;
	denial.hidden = place->found == PLACE_NO_DIRECTORY;
	if (denial.hidden && (!makes_name(i, second) || !is_hidden_place(b, place, &in)))
		return false;
	if (!denial.hidden &&
	    (!is_outside(place) || !look_at(place, &in) || !refused_by(b, i, &in, &denial.by)))
		return false;
	if (is_optional(in.name))
		return false;
	const struct bounds_rights rights = bounds_lower(b);
	const bool possible =
		!rights.failed && find_outside(&in, &dir, &out) && was_possible(i, &out, second);
	bounds_raise(&rights);
	if (possible)
		denials_add(d, &denial);
	return possible;
}

/* The kernel says first that two mounts are in the way, and programs copy then. */
static bool crosses_mounts(const struct bounds *b, struct resolver *r)
{
	const struct caller_place *from = resolver_place(r, 0), *to = resolver_place(r, 1);
	struct statx a, c;
	struct statvfs v, w;

	if (from->found != PLACE_FOUND || to->found != PLACE_FOUND ||
	    statx(from->dir->fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &a) < 0 ||
	    statx(to->dir->fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &c) < 0)
		return false;
	if (a.stx_mask & c.stx_mask & STATX_MNT_ID)
		return a.stx_mnt_id != c.stx_mnt_id;
	return a.stx_dev_major != c.stx_dev_major || a.stx_dev_minor != c.stx_dev_minor ||
	       (b->namespaces && fstatvfs(from->dir->fd, &v) == 0 &&
		fstatvfs(to->dir->fd, &w) == 0 && (v.f_flag ^ w.f_flag) & ST_RDONLY);
}

/* Whether a call across mounts can be refused for where it leads: a file cannot have names in two
 * filesystems anyway, but what cannot be renamed is copied, unless that is not allowed. */
static bool is_refused_beyond(struct resolver *r)
{
	struct stat from, to;

	return r->intent.verb == INTENT_RENAME ||
	       (fstat(resolver_place(r, 0)->dir->fd, &from) == 0 &&
		fstat(resolver_place(r, 1)->dir->fd, &to) == 0 && from.st_dev == to.st_dev);
}

static int look(void *arg, struct resolver *r)
{
	struct denials *d = arg;
	const struct bounds *b = denials_bounds(d);

	if (floor_is_for(b, r->call) || resolver_intent(r) <= 0)
		return JUDGE_PASSES;
	const bool two = r->intent.count == 2;
	bool concerns = false;
	for (size_t i = 0; i < r->intent.count; i++)
		concerns |= is_outside(resolver_place(r, i));
	if (!concerns)
		return JUDGE_PASSES;
	if (two && crosses_mounts(b, r)) {
		if (is_refused_beyond(r))
			(void)look_at_path(b, d, r, true);
		return JUDGE_PASSES;
	}
	/* A call is one denial, also if neither of its paths is allowed. */
	if (!look_at_path(b, d, r, false) && two)
		(void)look_at_path(b, d, r, true);
	return JUDGE_PASSES;
}

struct judge refusal_judge(struct denials *d)
{
	return (struct judge){ .look = look, .arg = d };
}
