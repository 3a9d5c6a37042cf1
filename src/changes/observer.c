/* SPDX-License-Identifier: MIT */
/* observer: which arguments name a file, and what is about to happen to it. */

#include "changes/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/dirs.h"
#include "workspace/path.h"
#include "workspace/workspace.h"

enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466, FILE_SETATTR = 469 };

/* Which arguments of a call name a file, and what happens to it. */
enum { NO_DIR = -1, NO_FLAGS = -1 };

struct watched_path {
	int call;
	int8_t dir;   /* the argument with the directory; NO_DIR: the current one */
	int8_t path;  /* the argument with the path */
	bool follow;  /* a link at the end is followed … */
	int8_t flags; /* … or as the argument with AT_ flags says; NO_FLAGS: it has none */
	enum touch_care care;
};

static const struct watched_path watched[] = {
/* clang-format off */
#ifdef SYS_rename
	{ SYS_creat,       NO_DIR, 0, true,  NO_FLAGS, TOUCH_CONTENT },
	{ SYS_rename,      NO_DIR, 0, false, NO_FLAGS, TOUCH_META },
	{ SYS_rename,      NO_DIR, 1, false, NO_FLAGS, TOUCH_LAST },
	{ SYS_unlink,      NO_DIR, 0, false, NO_FLAGS, TOUCH_LAST },
	{ SYS_rmdir,       NO_DIR, 0, false, NO_FLAGS, TOUCH_LAST },
	{ SYS_mkdir,       NO_DIR, 0, false, NO_FLAGS, TOUCH_META },
	{ SYS_mknod,       NO_DIR, 0, false, NO_FLAGS, TOUCH_META },
	{ SYS_link,        NO_DIR, 0, false, NO_FLAGS, TOUCH_META },
	{ SYS_link,        NO_DIR, 1, false, NO_FLAGS, TOUCH_META },
	{ SYS_symlink,     NO_DIR, 1, false, NO_FLAGS, TOUCH_META },
	{ SYS_chmod,       NO_DIR, 0, true,  NO_FLAGS, TOUCH_META },
	{ SYS_chown,       NO_DIR, 0, true,  NO_FLAGS, TOUCH_META },
	{ SYS_lchown,      NO_DIR, 0, false, NO_FLAGS, TOUCH_META },
	{ SYS_utime,       NO_DIR, 0, true,  NO_FLAGS, TOUCH_META },
	{ SYS_utimes,      NO_DIR, 0, true,  NO_FLAGS, TOUCH_META },
	{ SYS_futimesat,   0,      1, true,  NO_FLAGS, TOUCH_META },
#endif
#ifdef SYS_renameat
	{ SYS_renameat,    0,      1, false, NO_FLAGS, TOUCH_META },
	{ SYS_renameat,    2,      3, false, NO_FLAGS, TOUCH_LAST },
#endif
	{ SYS_renameat2,   0,      1, false, NO_FLAGS, TOUCH_META },
	{ SYS_renameat2,   2,      3, false, NO_FLAGS, TOUCH_LAST },
	{ SYS_truncate,    NO_DIR, 0, true,  NO_FLAGS, TOUCH_CONTENT },
	{ SYS_unlinkat,    0,      1, false, NO_FLAGS, TOUCH_LAST },
	{ SYS_mkdirat,     0,      1, false, NO_FLAGS, TOUCH_META },
	{ SYS_mknodat,     0,      1, false, NO_FLAGS, TOUCH_META },
	{ SYS_linkat,      0,      1, false, NO_FLAGS, TOUCH_META },
	{ SYS_linkat,      2,      3, false, NO_FLAGS, TOUCH_META },
	{ SYS_symlinkat,   1,      2, false, NO_FLAGS, TOUCH_META },
	{ SYS_fchmodat,    0,      1, true,  NO_FLAGS, TOUCH_META },
	{ FCHMODAT2,       0,      1, true,  3,        TOUCH_META },
	{ SYS_fchownat,    0,      1, true,  4,        TOUCH_META },
	{ SYS_setxattr,    NO_DIR, 0, true,  NO_FLAGS, TOUCH_META },
	{ SYS_lsetxattr,   NO_DIR, 0, false, NO_FLAGS, TOUCH_META },
	{ SYS_removexattr, NO_DIR, 0, true,  NO_FLAGS, TOUCH_META },
	{ SYS_lremovexattr, NO_DIR, 0, false, NO_FLAGS, TOUCH_META },
	{ SETXATTRAT,      0,      1, true,  2,        TOUCH_META },
	{ REMOVEXATTRAT,   0,      1, true,  2,        TOUCH_META },
	{ SYS_utimensat,   0,      1, true,  3,        TOUCH_META },
	{ FILE_SETATTR,    0,      1, true,  4,        TOUCH_META },
	/* clang-format on */
};

/* Whether the call may give the name of a directory to another one. */
static bool is_moving(const struct stopped_call *d)
{
#ifdef SYS_rename
	if (d->number == SYS_rename || d->number == SYS_rmdir)
		return true;
#endif
#ifdef SYS_renameat
	if (d->number == SYS_renameat)
		return true;
#endif
	return d->number == SYS_renameat2 ||
	       (d->number == SYS_unlinkat && d->args[2] & AT_REMOVEDIR);
}

static bool is_dir(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Forget the directories by name: another one may have it now. */
static void forget_dirs(struct observer *o)
{
	for (size_t i = 0; i < OBSERVER_DIRS; i++) {
		mem_free(o->seen[i].text);
		fd_closep(&o->seen[i].outside);
		o->seen[i] = (struct seen_dir){ .outside = -1 };
	}
	recording_note_move(o->recording);
}

/* Open a directory of the workspace by the path that the caller sees, in which there may be links
 * and dots; from our own root, because the caller may see other mounts. If it lies outside,
 * *outside is the directory in the caller's root, or -1. */
static int open_dir(struct observer *o, struct str dir, int *outside)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str below;

	*outside = -1;
	if (path_within(o->path, dir, &below)) {
		const int fd = dirs_open(o->root, below);
		if (fd >= 0 || errno == ENOENT)
			return fd;
	}
	AUTO_FD found = caller_open(&o->caller, dir);
	if (found < 0)
		return -1;
	if (dirs_text(found, o->path, text, &below))
		return dirs_open(o->root, below);
	*outside = TAKE(found, -1);
	return -1;
}

/* The directory of that path; NULL if there is none, or the recording cannot know it. */
static const struct seen_dir *see_dir(struct observer *o, struct str dir)
{
	for (size_t i = 0; i < OBSERVER_DIRS; i++)
		if (o->seen[i].text && str_eq((struct str){ o->seen[i].text, o->seen[i].n }, dir))
			return &o->seen[i];
	struct seen_dir new = { .n = dir.n };
	AUTO_FD fd = open_dir(o, dir, &new.outside);
	if (fd >= 0)
		new.dir = recording_dir(o->recording, fd);
	if ((new.dir || new.outside >= 0) && (new.text = mem_new(dir.n + 1, 1)) != NULL) {
		struct seen_dir *place = &o->seen[o->next++ % OBSERVER_DIRS];
		memcpy(new.text, dir.p, dir.n);
		mem_free(place->text);
		fd_closep(&place->outside);
		*place = new;
		return place;
	}
	fd_closep(&new.outside);
	return NULL;
}

/* A path that ends in dots names a directory: find out by which name. */
static bool name_dots(struct observer *o, struct way *w)
{
	char text[PATH_MAX] UNINITIALISED;
	struct str below;
	int outside;
	AUTO_FD fd = open_dir(o, (struct str){ w->text, w->n }, &outside);

	fd_closep(&outside);
	if (fd < 0 || !dirs_text(fd, o->path, text, &below))
		return false;
	return caller_follow(&o->caller, o->path, below.n ? below.p : "", w);
}

/* Cut off the last component; slashes after it mean nothing here. */
static struct str cut_last(struct way *w, struct str *last)
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

/* Where the link at the end of a path leads: *w becomes that. False if it is not a link. */
static bool follow_link(struct observer *o, const struct seen_dir *in, struct str dir,
			const char *name, struct way *w)
{
	char target[PATH_MAX] UNINITIALISED;
	const ssize_t n =
		readlinkat(in->dir ? in->dir->fd : in->outside, name, target, sizeof target - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	return caller_follow(&o->caller, dir, target, w);
}

/* Find what the path means to the caller, without following a link at its end. *dir and *in are
 * where it lies; in->dir is NULL outside the workspace. False: it means nothing. */
static bool find(struct observer *o, struct way *w, struct str *dir, const struct seen_dir **in,
		 char name[NAME_MAX + 1])
{
	struct str last, below;

	*dir = cut_last(w, &last);
	if (is_dots(last)) {
		if (!name_dots(o, w))
			return false;
		*dir = cut_last(w, &last);
	}
	/* The root is "." in itself. */
	if (path_within(o->path, (struct str){ w->text, w->n }, &below) && below.n == 0) {
		*dir = o->path;
		last = STR(".");
	}
	if (last.n == 0 || last.n > NAME_MAX || !(*in = see_dir(o, *dir)))
		return false;
	memcpy(name, last.p, last.n);
	name[last.n] = '\0';
	return true;
}

/* Most of what is opened for writing by an absolute path is a device. */
static bool is_elsewhere(const struct observer *o, const char *path)
{
	return (strcmp(path, "/dev/null") == 0 || strcmp(path, "/dev/tty") == 0) &&
	       !str_starts(o->path, STR("/dev"));
}

/* Something is about to happen to a path of the caller. If a link is followed, it is touched as
 * well as what it leads to: that costs less than to ask first whether it is one. */
static void touch_path(struct observer *o, const struct stopped_call *d, int dirfd,
		       const char *path, bool follow, enum touch_care care)
{
	struct way w UNINITIALISED;
	char name[NAME_MAX + 1] UNINITIALISED;

	if (!*path || is_elsewhere(o, path) || !caller_way(&o->caller, dirfd, path, &w) ||
	    !supervisor_is_waiting(d))
		return;
	for (int hops = 0; hops < LIMIT_LINK_HOPS; hops++) {
		const struct seen_dir *in;
		struct str dir;
		if (!find(o, &w, &dir, &in, name)) {
			o->is_outside = true;
			return;
		}
		const bool may_be_link =
			!in->dir || recording_touch_in(o->recording, in->dir, name, care);
		if (follow && may_be_link && follow_link(o, in, dir, name, &w))
			continue;
		o->is_outside |= !in->dir;
		if (in->dir && is_moving(d) && is_dir(in->dir->fd, name))
			forget_dirs(o);
		return;
	}
}

/* A call whose arguments cannot be read changes something that is not known. */
static bool read_path(struct observer *o, uint64_t address, char path[PATH_MAX])
{
	if (caller_text(&o->caller, address, path))
		return true;
	o->recording->missed = true;
	return false;
}

static void look_at_open(struct observer *o, const struct stopped_call *d, int dirfd,
			 uint64_t address, uint64_t flags)
{
	char path[PATH_MAX] UNINITIALISED;
	const bool exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	if (flags & O_PATH || (flags & O_TMPFILE) == O_TMPFILE ||
	    !(flags & (O_ACCMODE | O_CREAT | O_TRUNC)) || !read_path(o, address, path))
		return;
	touch_path(o, d, dirfd, path, !exclusive && !(flags & O_NOFOLLOW),
		   exclusive ? TOUCH_META : TOUCH_CONTENT);
}

/* A socket with a path is a file. */
static void look_at_bind(struct observer *o, const struct stopped_call *d)
{
	struct sockaddr_un at = { .sun_family = AF_UNSPEC };
	const size_t n = d->args[2] < sizeof at ? (size_t)d->args[2] : sizeof at - 1;

	if (n > offsetof(struct sockaddr_un, sun_path) &&
	    caller_read(&o->caller, d->args[1], &at, n) && at.sun_family == AF_UNIX &&
	    at.sun_path[0])
		touch_path(o, d, AT_FDCWD, at.sun_path, false, TOUCH_META);
}

static void look_at_paths(struct observer *o, const struct stopped_call *d)
{
	char path[PATH_MAX] UNINITIALISED;

	for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
		const struct watched_path *w = &watched[i];
		if (w->call != d->number)
			continue;
		/* By descriptor: a file opened for writing was seen then. */
		if (d->args[w->path] == 0 || !read_path(o, d->args[w->path], path))
			continue;
		const bool exchange = d->number == SYS_renameat2 && d->args[4] & RENAME_EXCHANGE;
		const bool nofollow = w->flags >= 0 && d->args[w->flags] & AT_SYMLINK_NOFOLLOW;
		touch_path(o, d, w->dir < 0 ? AT_FDCWD : (int)d->args[w->dir], path,
			   w->follow && !nofollow, exchange ? TOUCH_META : w->care);
	}
}

/* Whatever happens here, the call goes on. */
static enum judgement look_at(void *arg, const struct stopped_call *d)
{
	struct observer *o = arg;
	struct open_how how;

	o->is_outside = false;
	caller_is(&o->caller, d->pid);
	if (d->number == SYS_openat) {
		look_at_open(o, d, (int)d->args[0], d->args[1], d->args[2]);
#ifdef SYS_open
	} else if (d->number == SYS_open) {
		look_at_open(o, d, AT_FDCWD, d->args[0], d->args[1]);
#endif
	} else if (d->number == SYS_openat2) {
		if (caller_read(&o->caller, d->args[2], &how, sizeof how))
			look_at_open(o, d, (int)d->args[0], d->args[1], how.flags);
		else
			o->recording->missed = true;
	} else if (d->number == SYS_bind) {
		look_at_bind(o, d);
	} else {
		look_at_paths(o, d);
	}
	return o->is_outside && o->outside.look ? o->outside.look(o->outside.arg, d) : JUDGE_PASSES;
}

int observer_init(struct observer *o, struct recording *r, struct err *e)
{
	const struct workspace *ws = journal_workspace(r->journal);
	const struct path top = { .base = PATH_WORKSPACE };

	*o = (struct observer){ .recording = r, .caller = CALLER_INIT, .path = ws_rules(ws)->root };
	for (size_t i = 0; i < OBSERVER_DIRS; i++)
		o->seen[i].outside = -1;
	o->root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e);
	return o->root < 0 ? -1 : 0;
}

void observer_done(struct observer *o)
{
	if (!o->recording)
		return;
	forget_dirs(o);
	caller_done(&o->caller);
	fd_closep(&o->root);
}

void observer_pass_on(struct observer *o, struct judge outside)
{
	o->outside = outside;
}

struct judge observer_judge(struct observer *o)
{
	return (struct judge){ look_at, o };
}
