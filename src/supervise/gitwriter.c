/* SPDX-License-Identifier: MIT */
/*
 * gitwriter: the judge that makes the changes of commands in a git directory outside the workspace.
 *
 * To the sandbox such a directory is read-only. A call that changes a name which commands may write
 * there (sandbox/gitdir.h) is performed by this process, with the rights of commands, on what it has
 * opened itself by that name without following a link; a file that is opened for writing is given to
 * the caller. The call never goes on, so nothing can be exchanged in between. Every other call does,
 * and the sandbox refuses it. Special files are not made, nor links that lead anywhere.
 */

#include "supervise/denials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/canonical.h"
#include "sandbox/gitdir.h"
#include "supervise/resolver.h"

/* A name that commands may write, in a directory as this process sees it. */
struct git_place {
	int dir;
	const char *name;
	enum gitdir_use use;
};

static enum gitdir_use rule_of(const struct bounds *b, const char *name)
{
	const struct path_list git = b->config.git;
	enum gitdir_use use = GITDIR_READ;

	for (size_t i = 0; i + 1 < git.count && use == GITDIR_READ; i += 2)
		use = gitdir_rule(git.item[i], git.item[i + 1], b->config.workspace, name);
	return use;
}

/* Find a path of the call there. False: it is elsewhere, or not to be written. */
static bool find(const struct bounds *b, struct resolver *r, size_t which, struct git_place *ret)
{
	const struct caller_place *p = resolver_place(r, which);
	char dir[PATH_MAX] UNINITIALISED, name[2 * PATH_MAX] UNINITIALISED;
	struct stat theirs, ours;

	if (p->found != PLACE_FOUND || p->dir->in_home || !resolver_name(p->dir->fd, dir))
		return false;
	(void)snprintf(name, sizeof name, "%s/%s", dir, p->name);
	ret->use = rule_of(b, name);
	if (ret->use == GITDIR_READ || strcmp(p->name, ".") == 0 || strcmp(p->name, "..") == 0)
		return false;
	ret->name = p->name;
	ret->dir = canonical_open(dir);
	return ret->dir >= 0 && fstat(ret->dir, &ours) == 0 && fstat(p->dir->fd, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* The flags of an open, and the permissions of what it makes. False if they are not in registers,
 * or it is an open of another kind. */
static bool open_flags(const struct stopped_call *s, int *flags, mode_t *mode)
{
	const bool at = s->number == SYS_openat;

	*flags = (int)s->args[at ? 2 : 1];
	*mode = (mode_t)s->args[at ? 3 : 2];
#ifdef SYS_creat
	if (s->number == SYS_creat) {
		*flags = O_CREAT | O_WRONLY | O_TRUNC;
		*mode = (mode_t)s->args[1];
		return true;
	}
	if (s->number == SYS_open)
		return !(*flags & (O_PATH | O_DIRECTORY));
#endif
	return at && !(*flags & (O_PATH | O_DIRECTORY));
}

/* Open a regular file that is there, by its descriptor: nothing else is opened, not even for a
 * moment. */
static int open_there(const struct git_place *p, int flags)
{
	char self[32];
	struct stat st;
	AUTO_FD at = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (at < 0 || fstat(at, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
		return -1;
	}
	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", at);
	return open(self, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
}

static int open_file(const struct stopped_call *s, const struct git_place *p, int flags,
		     mode_t mode)
{
	int fd = -1;

	errno = ENOENT;
	if (!(flags & O_EXCL) || !(flags & O_CREAT))
		fd = open_there(p, flags);
	if (fd >= 0 || errno != ENOENT || !(flags & O_CREAT))
		return fd;
	return openat(p->dir, p->name, flags | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      mode & 0777 & ~stopped_umask(s));
}

static int change_mode(const struct git_place *p, mode_t mode)
{
	char self[32];
	struct stat st;
	AUTO_FD at = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (at < 0 || fstat(at, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		errno = EACCES;
		return -1;
	}
	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", at);
	return chmod(self, mode & 0777);
}

static int change_times(const struct stopped_call *s, const struct git_place *p)
{
	struct timespec times[2];

	if (s->args[2] && stopped_read(s, s->args[2], times, sizeof times) < 0)
		return -1;
	return utimensat(p->dir, p->name, s->args[2] ? times : NULL, AT_SYMLINK_NOFOLLOW);
}

/* In a new repository git tries out whether links can be made, by one to nothing, and has them as
 * files otherwise. */
static bool tries_link(const struct stopped_call *s, const struct git_place *p)
{
	char target[PATH_MAX] UNINITIALISED;

	return p->use == GITDIR_MODULE && stopped_text(s, s->args[0], target) >= 0 &&
	       strcmp(target, "testing") == 0;
}

/* Make the change. 0, or -1 with errno; *made is false if it is none that this process makes. */
static int change(const struct resolver *r, const struct git_place p[2], bool *made)
{
	const struct stopped_call *s = r->call;
	const bool dir = p[0].use == GITDIR_DIRECTORY || p[1].use == GITDIR_DIRECTORY;
	const unsigned flags = s->number == SYS_renameat2 ? (unsigned)s->args[4] : 0;

	*made = true;
	if (r->intent.verb == INTENT_MKDIR)
		return mkdirat(p->dir, p->name,
			       (mode_t)s->args[s->number == SYS_mkdirat ? 2 : 1] & 0777 &
				       ~stopped_umask(s));
	if (r->intent.verb == INTENT_RMDIR)
		return unlinkat(p->dir, p->name, AT_REMOVEDIR);
	if (r->intent.verb == INTENT_UNLINK && !dir)
		return unlinkat(p->dir, p->name, 0);
	if (r->intent.verb == INTENT_RENAME && !dir && !(flags & ~RENAME_NOREPLACE) &&
	    p[0].use == p[1].use)
		return renameat2(p[0].dir, p[0].name, p[1].dir, p[1].name, flags);
	if (r->intent.verb == INTENT_LINK && !dir)
		return linkat(p[0].dir, p[0].name, p[1].dir, p[1].name, 0);
	if (r->intent.verb == INTENT_SYMLINK && tries_link(s, p))
		return symlinkat("testing", p->dir, p->name);
	if (r->intent.verb == INTENT_TIMES && !dir && s->number == SYS_utimensat)
		return change_times(s, p);
#ifdef SYS_chmod
	if (r->intent.verb == INTENT_CHMOD && !dir && s->number == SYS_chmod)
		return change_mode(p, (mode_t)s->args[1]);
#endif
	if (r->intent.verb == INTENT_CHMOD && !dir)
		return change_mode(p, (mode_t)s->args[2]);
	*made = false;
	return 0;
}

static int perform(const struct bounds *b, const struct resolver *r, const struct git_place p[2])
{
	const struct stopped_call *s = r->call;
	bool made = true;
	int flags, done = -1;
	mode_t mode;

	if (r->intent.verb == INTENT_WRITE &&
	    (p->use == GITDIR_DIRECTORY || !open_flags(s, &flags, &mode)))
		return JUDGE_PASSES;
	if (!stopped_is_waiting(s))
		return EINTR;
	const struct bounds_rights rights = bounds_lower(b);
	errno = EACCES;
	if (!rights.failed)
		done = r->intent.verb == INTENT_WRITE ? open_file(s, p, flags, mode)
						      : change(r, p, &made);
	const int error = done < 0 ? errno : 0;
	bounds_raise(&rights);
	if (!made)
		return JUDGE_PASSES;
	if (error || r->intent.verb != INTENT_WRITE)
		return error;
	AUTO_FD file = done;
	return stopped_give(s, file, flags & O_CLOEXEC) < 0 ? errno : JUDGE_KEEPS;
}

static int look(void *arg, struct resolver *r)
{
	const struct bounds *b = denials_bounds(arg);
	struct git_place p[2] = { { .dir = -1, .name = "" }, { .dir = -1, .name = "" } };
	int j = JUDGE_PASSES;

	if (resolver_intent(r) > 0 && r->intent.count && *r->intent.path[0].text &&
	    find(b, r, 0, &p[0]) && (r->intent.count == 1 || find(b, r, 1, &p[1])))
		j = perform(b, r, p);
	fd_closep(&p[0].dir);
	fd_closep(&p[1].dir);
	return j;
}

struct judge gitwriter_judge(struct denials *d)
{
	return (struct judge){ .look = look, .arg = d };
}
