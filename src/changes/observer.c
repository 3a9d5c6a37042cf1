/* SPDX-License-Identifier: MIT */
/* observer: which arguments name a file, and what is about to happen to it. */

#include "changes/observer.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/caller.h"
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

/* Something is about to happen to a path of the caller. */
static void touch_path(struct observer *o, int dirfd, const char *path, bool follow,
		       enum touch_care care)
{
	char name[NAME_MAX + 1];
	struct err e;
	AUTO_FD dir = caller_find(&o->caller, dirfd, path, follow, name);

	if (dir >= 0)
		(void)recording_touch(o->recording, dir, name, care, &e);
}

/* A call whose arguments cannot be read changes something that is not known. */
static bool read_path(struct observer *o, uint64_t address, char path[PATH_MAX])
{
	if (caller_text(&o->caller, address, path))
		return true;
	o->recording->missed = true;
	return false;
}

static void look_at_open(struct observer *o, int dirfd, uint64_t address, uint64_t flags)
{
	char path[PATH_MAX];
	const bool exclusive = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);

	if (flags & O_PATH || (flags & O_TMPFILE) == O_TMPFILE ||
	    !(flags & (O_ACCMODE | O_CREAT | O_TRUNC)) || !read_path(o, address, path))
		return;
	touch_path(o, dirfd, path, !exclusive && !(flags & O_NOFOLLOW),
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
		touch_path(o, AT_FDCWD, at.sun_path, false, TOUCH_META);
}

static void look_at_paths(struct observer *o, const struct stopped_call *d)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
		const struct watched_path *w = &watched[i];
		if (w->call != d->number)
			continue;
		/* By descriptor: a file opened for writing was seen then. */
		if (d->args[w->path] == 0 || !read_path(o, d->args[w->path], path))
			continue;
		const bool exchange = d->number == SYS_renameat2 && d->args[4] & RENAME_EXCHANGE;
		const bool nofollow = w->flags >= 0 && d->args[w->flags] & AT_SYMLINK_NOFOLLOW;
		touch_path(o, w->dir < 0 ? AT_FDCWD : (int)d->args[w->dir], path,
			   w->follow && !nofollow, exchange ? TOUCH_META : w->care);
	}
}

/* Whatever happens here, the call goes on. */
static enum judgement look_at(void *arg, const struct stopped_call *d)
{
	struct observer *o = arg;
	struct open_how how;

	o->caller.pid = d->pid;
	if (d->number == SYS_openat) {
		look_at_open(o, (int)d->args[0], d->args[1], d->args[2]);
#ifdef SYS_open
	} else if (d->number == SYS_open) {
		look_at_open(o, AT_FDCWD, d->args[0], d->args[1]);
#endif
	} else if (d->number == SYS_openat2) {
		if (caller_read(&o->caller, d->args[2], &how, sizeof how))
			look_at_open(o, (int)d->args[0], d->args[1], how.flags);
		else
			o->recording->missed = true;
	} else if (d->number == SYS_bind) {
		look_at_bind(o, d);
	} else {
		look_at_paths(o, d);
	}
	return JUDGE_PASSES;
}

int observer_init(struct observer *o, struct recording *r, struct err *e)
{
	const struct workspace *ws = journal_workspace(r->journal);
	const struct path top = { .base = PATH_WORKSPACE };

	*o = (struct observer){ .recording = r };
	o->caller = (struct caller){ .root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e),
				     .path = ws_rules(ws)->root };
	return o->caller.root < 0 ? -1 : 0;
}

void observer_done(struct observer *o)
{
	fd_closep(&o->caller.root);
}

struct judge observer_judge(struct observer *o)
{
	return (struct judge){ look_at, o };
}
