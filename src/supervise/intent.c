/* SPDX-License-Identifier: MIT */
/* intent: the table of calls, and the three whose arguments lie elsewhere. */

#include "supervise/intent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/own.h"

/* Newer than many headers; new calls have the same number on every architecture. */
enum { FCHMODAT2 = 452, SETXATTRAT = 463, REMOVEXATTRAT = 466, FILE_SETATTR = 469 };

enum { NO_DIR = -1, NO_FLAGS = -1 };

/* Which arguments of a call name a file; a call with two paths has two rows. */
static const struct intent_call {
	int call;
	int8_t dir;   /* the argument with the directory; NO_DIR: the current one */
	int8_t path;  /* the argument with the path */
	bool follow;  /* a link at the end is followed … */
	int8_t flags; /* … or as the argument with AT_ flags says; NO_FLAGS: it has none */
	enum intent_verb verb;
} calls[] = {
/* clang-format off */
#ifdef SYS_rename
	{ SYS_rename,      NO_DIR, 0, false, NO_FLAGS, INTENT_RENAME },
	{ SYS_rename,      NO_DIR, 1, false, NO_FLAGS, INTENT_RENAME },
	{ SYS_unlink,      NO_DIR, 0, false, NO_FLAGS, INTENT_UNLINK },
	{ SYS_rmdir,       NO_DIR, 0, false, NO_FLAGS, INTENT_RMDIR },
	{ SYS_mkdir,       NO_DIR, 0, false, NO_FLAGS, INTENT_MKDIR },
	{ SYS_mknod,       NO_DIR, 0, false, NO_FLAGS, INTENT_MKNOD },
	{ SYS_link,        NO_DIR, 0, false, NO_FLAGS, INTENT_LINK },
	{ SYS_link,        NO_DIR, 1, false, NO_FLAGS, INTENT_LINK },
	{ SYS_symlink,     NO_DIR, 1, false, NO_FLAGS, INTENT_SYMLINK },
	{ SYS_chmod,       NO_DIR, 0, true,  NO_FLAGS, INTENT_CHMOD },
	{ SYS_chown,       NO_DIR, 0, true,  NO_FLAGS, INTENT_CHOWN },
	{ SYS_lchown,      NO_DIR, 0, false, NO_FLAGS, INTENT_CHOWN },
	{ SYS_utime,       NO_DIR, 0, true,  NO_FLAGS, INTENT_TIMES },
	{ SYS_utimes,      NO_DIR, 0, true,  NO_FLAGS, INTENT_TIMES },
	{ SYS_futimesat,   0,      1, true,  NO_FLAGS, INTENT_TIMES },
#endif
#ifdef SYS_renameat
	{ SYS_renameat,    0,      1, false, NO_FLAGS, INTENT_RENAME },
	{ SYS_renameat,    2,      3, false, NO_FLAGS, INTENT_RENAME },
#endif
	{ SYS_renameat2,   0,      1, false, NO_FLAGS, INTENT_RENAME },
	{ SYS_renameat2,   2,      3, false, NO_FLAGS, INTENT_RENAME },
	{ SYS_truncate,    NO_DIR, 0, true,  NO_FLAGS, INTENT_TRUNCATE },
	{ SYS_unlinkat,    0,      1, false, NO_FLAGS, INTENT_UNLINK },
	{ SYS_mkdirat,     0,      1, false, NO_FLAGS, INTENT_MKDIR },
	{ SYS_mknodat,     0,      1, false, NO_FLAGS, INTENT_MKNOD },
	{ SYS_linkat,      0,      1, false, NO_FLAGS, INTENT_LINK },
	{ SYS_linkat,      2,      3, false, NO_FLAGS, INTENT_LINK },
	{ SYS_symlinkat,   1,      2, false, NO_FLAGS, INTENT_SYMLINK },
	{ SYS_fchmodat,    0,      1, true,  NO_FLAGS, INTENT_CHMOD },
	{ FCHMODAT2,       0,      1, true,  3,        INTENT_CHMOD },
	{ SYS_fchownat,    0,      1, true,  4,        INTENT_CHOWN },
	{ SYS_setxattr,    NO_DIR, 0, true,  NO_FLAGS, INTENT_ATTRIBUTE },
	{ SYS_lsetxattr,   NO_DIR, 0, false, NO_FLAGS, INTENT_ATTRIBUTE },
	{ SYS_removexattr, NO_DIR, 0, true,  NO_FLAGS, INTENT_ATTRIBUTE },
	{ SYS_lremovexattr, NO_DIR, 0, false, NO_FLAGS, INTENT_ATTRIBUTE },
	{ SETXATTRAT,      0,      1, true,  2,        INTENT_ATTRIBUTE },
	{ REMOVEXATTRAT,   0,      1, true,  2,        INTENT_ATTRIBUTE },
	{ SYS_utimensat,   0,      1, true,  3,        INTENT_TIMES },
	{ FILE_SETATTR,    0,      1, true,  4,        INTENT_ATTRIBUTE },
	/* clang-format on */
};

static int read_open(const struct stopped_call *s, int dir, uint64_t address, uint64_t flags,
		     struct intent *ret)
{
	if (flags & O_PATH || (flags & O_TMPFILE) == O_TMPFILE ||
	    !(flags & (O_ACCMODE | O_CREAT | O_TRUNC)))
		return 0;
	ret->verb = INTENT_WRITE;
	ret->creates = flags & O_CREAT;
	ret->exclusive = ret->creates && flags & O_EXCL;
	ret->count = 1;
	ret->path[0].dir = dir;
	ret->path[0].follow = !ret->exclusive && !(flags & O_NOFOLLOW);
	return stopped_text(s, address, ret->path[0].text) < 0 ? -1 : 1;
}

/* A socket with a path is a file. */
static int read_bind(const struct stopped_call *s, struct intent *ret)
{
	struct sockaddr_un at = { .sun_family = AF_UNSPEC };
	const size_t n = s->args[2] < sizeof at ? (size_t)s->args[2] : sizeof at;

	if (n <= offsetof(struct sockaddr_un, sun_path))
		return 0;
	if (stopped_read(s, s->args[1], &at, n) < 0)
		return -1;
	if (at.sun_family != AF_UNIX || !at.sun_path[0])
		return 0;
	ret->verb = INTENT_BIND;
	ret->count = 1;
	ret->path[0].dir = AT_FDCWD;
	ret->path[0].follow = false;
	(void)snprintf(ret->path[0].text, PATH_MAX, "%.*s", (int)sizeof at.sun_path, at.sun_path);
	return 1;
}

static int read_paths(const struct stopped_call *s, struct intent *ret)
{
	const uint64_t *args = s->args;

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		const struct intent_call *c = &calls[i];
		if (c->call != s->number)
			continue;
		/* By descriptor: what was opened for writing was seen then. */
		if (args[c->path] == 0)
			return 0;
		struct intent_path *p = &ret->path[ret->count++];
		ret->verb = c->verb;
		p->dir = c->dir < 0 ? AT_FDCWD : (int)args[c->dir];
		p->follow = c->follow && !(c->flags >= 0 && args[c->flags] & AT_SYMLINK_NOFOLLOW);
		if (stopped_text(s, args[c->path], p->text) < 0)
			return -1;
	}
	if (s->number == SYS_linkat) {
		struct intent_path *from = &ret->path[0];
		from->follow = args[4] & AT_SYMLINK_FOLLOW;
		if (args[4] & AT_EMPTY_PATH && !*from->text)
			(void)snprintf(from->text, PATH_MAX, "/proc/self/fd/%d", from->dir);
	}
	if (s->number == SYS_unlinkat && args[2] & AT_REMOVEDIR)
		ret->verb = INTENT_RMDIR;
	ret->exchange = s->number == SYS_renameat2 && args[4] & RENAME_EXCHANGE;
	return ret->count > 0;
}

int intent_read(const struct stopped_call *s, struct intent *ret)
{
	const uint64_t *args = s->args;
	struct open_how how;

	ret->count = 0;
	ret->verb = INTENT_WRITE;
	ret->creates = ret->exclusive = ret->exchange = ret->in_place = false;
	switch (s->number) {
	case SYS_openat:
		return read_open(s, (int)args[0], args[1], args[2], ret);
#ifdef SYS_open
	case SYS_open:
		return read_open(s, AT_FDCWD, args[0], args[1], ret);
	case SYS_creat:
		return read_open(s, AT_FDCWD, args[0], O_CREAT | O_WRONLY | O_TRUNC, ret);
#endif
	case SYS_openat2:
		if (stopped_read(s, args[2], &how, sizeof how) < 0)
			return -1;
		return read_open(s, (int)args[0], args[1], how.flags, ret);
	case SYS_bind:
		return read_bind(s, ret);
	default:
		return read_paths(s, ret);
	}
}
