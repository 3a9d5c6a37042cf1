/* SPDX-License-Identifier: MIT */
/* observer: receive a call, touch what it may change, let it go on. */

#include "changes/observer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/own.h"
#include "changes/caller.h"
#include "workspace/workspace.h"

enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466, FILE_SETATTR = 469 };

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS	   _IOW('!', 4, uint64_t)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

struct observer {
	int listener, stop;
	struct recording *recording;
	struct caller caller;
	pthread_t thread;
};

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
static void look_at_bind(struct observer *o, const struct seccomp_data *d)
{
	struct sockaddr_un at = { .sun_family = AF_UNSPEC };
	const size_t n = d->args[2] < sizeof at ? (size_t)d->args[2] : sizeof at - 1;

	if (n > offsetof(struct sockaddr_un, sun_path) &&
	    caller_read(&o->caller, d->args[1], &at, n) && at.sun_family == AF_UNIX &&
	    at.sun_path[0])
		touch_path(o, AT_FDCWD, at.sun_path, false, TOUCH_META);
}

static void look_at_paths(struct observer *o, const struct seccomp_data *d)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
		const struct watched_path *w = &watched[i];
		if (w->call != d->nr)
			continue;
		/* By descriptor: a file opened for writing was seen then. */
		if (d->args[w->path] == 0 || !read_path(o, d->args[w->path], path))
			continue;
		const bool exchange = d->nr == SYS_renameat2 && d->args[4] & RENAME_EXCHANGE;
		const bool nofollow = w->flags >= 0 && d->args[w->flags] & AT_SYMLINK_NOFOLLOW;
		touch_path(o, w->dir < 0 ? AT_FDCWD : (int)d->args[w->dir], path,
			   w->follow && !nofollow, exchange ? TOUCH_META : w->care);
	}
}

static void look_at(struct observer *o, const struct seccomp_notif *n)
{
	const struct seccomp_data *d = &n->data;
	struct open_how how;

	o->caller.pid = (pid_t)n->pid;
	if (d->nr == SYS_openat) {
		look_at_open(o, (int)d->args[0], d->args[1], d->args[2]);
#ifdef SYS_open
	} else if (d->nr == SYS_open) {
		look_at_open(o, AT_FDCWD, d->args[0], d->args[1]);
#endif
	} else if (d->nr == SYS_openat2) {
		if (caller_read(&o->caller, d->args[2], &how, sizeof how))
			look_at_open(o, (int)d->args[0], d->args[1], how.flags);
		else
			o->recording->missed = true;
	} else if (d->nr == SYS_bind) {
		look_at_bind(o, d);
	} else {
		look_at_paths(o, d);
	}
}

/* Whatever happens here, the call goes on. */
static void serve_one(struct observer *o)
{
	struct seccomp_notif n = { 0 };
	struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	if (ioctl(o->listener, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return; /* the caller was killed before */
	look_at(o, &n);
	answer.id = n.id;
	(void)ioctl(o->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static void *serve(void *arg)
{
	struct observer *o = arg;
	struct pollfd p[] = { { .fd = o->listener, .events = POLLIN },
			      { .fd = o->stop, .events = POLLIN } };

	for (;;) {
		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents & POLLIN)
			serve_one(o);
		else if (p[0].revents || p[1].revents)
			break; /* the last process under the filter has ended, or observing has */
	}
	return NULL;
}

static void observer_free(struct observer *o)
{
	fd_closep(&o->listener);
	fd_closep(&o->stop);
	fd_closep(&o->caller.root);
	mem_free(o);
}

int observer_start(int listener, struct recording *r, struct observer **ret, struct err *e)
{
	const struct workspace *ws = journal_workspace(r->journal);
	const struct path top = { .base = PATH_WORKSPACE };
	struct observer *o = mem_new(1, sizeof *o);

	if (!o) {
		(void)close(listener);
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to observe the command");
	}
	*o = (struct observer){ .listener = listener,
				.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				.recording = r };
	o->caller = (struct caller){ .root = ws_open(ws, &top, O_PATH | O_DIRECTORY, e),
				     .path = ws_rules(ws)->root };
	/* It halves the time that a call waits. Before Linux 6.6 there is no such thing. */
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	if (o->caller.root < 0 || o->stop < 0 || pthread_create(&o->thread, NULL, serve, o) != 0) {
		observer_free(o);
		return err_set(e, ERR_TOO_BUSY, "No thread can be made to observe the command");
	}
	*ret = o;
	return 0;
}

void observer_end(struct observer *o)
{
	const uint64_t one = 1;

	if (!o)
		return;
	(void)!write(o->stop, &one, sizeof one);
	(void)pthread_join(o->thread, NULL);
	observer_free(o);
}
