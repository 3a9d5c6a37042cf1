/* SPDX-License-Identifier: MIT */
/* floor: open what is meant, judge its name, refuse the call or make it. */

#include "sandbox/floor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/landlock.h"
#include "sandbox/listener.h"

/* What a call is about, opened as its caller would find it. */
struct judged_file {
	int file;		 /* O_PATH; -1: nothing is there */
	struct stat is;		 /* of the file */
	struct stopped_path way; /* by which it was found */
	char name[PATH_MAX];	 /* of the file, without links */
};

bool floor_is_possible(void)
{
	AUTO_FD root = open("/proc/self/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD found = root < 0 ? -1 : stopped_open(root, "/", O_DIRECTORY);

	return found >= 0;
}

bool floor_is_for(const struct bounds *b, const struct stopped_call *s)
{
	if (b->namespaces)
		return false;
	if (listener_is_emptying(s->number, s->args))
		return b->abi < LANDLOCK_TRUNCATE;
	return listener_is_unruled(s->number);
}

/* 0, or an errno value. */
static int open_target(const struct bounds *b, const struct stopped_call *s,
		       const struct intent_path *path, struct judged_file *t)
{
	AUTO_FD proc = stopped_proc(s);

	if (proc < 0 || stopped_absolute(proc, path->dir, path->text, &t->way) < 0)
		return errno;
	AUTO_FD root = stopped_root(proc);
	if (root < 0)
		return errno;
	const struct bounds_rights rights = bounds_lower(b);
	t->file =
		rights.failed ? -1 : stopped_open(root, t->way.text, path->follow ? 0 : O_NOFOLLOW);
	const int error = rights.failed ? EACCES : errno;
	bounds_raise(&rights);
	if (t->file < 0)
		return error;
	if (fstat(t->file, &t->is) < 0 || !stopped_name(t->file, t->name))
		return EACCES;
	return supervisor_is_waiting(s) ? 0 : EINTR;
}

/* Would it have been possible without the sandbox? */
static bool was_possible(const struct bounds *b, enum intent_verb verb, const struct judged_file *t)
{
	char self[32];
	const bool needs_own = verb == INTENT_CHMOD || verb == INTENT_CHOWN;

	if (verb != INTENT_TRUNCATE && verb != INTENT_WRITE && t->is.st_uid == geteuid())
		return true;
	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", t->file);
	const struct bounds_rights rights = bounds_lower(b);
	const bool writes = !rights.failed && faccessat(AT_FDCWD, self, W_OK, AT_EACCESS) == 0;
	bounds_raise(&rights);
	return writes && !needs_own;
}

static int refuse(struct denials *d, enum intent_verb verb, const char *name)
{
	const struct denial denial = { .verb = verb, .by = DENIED_BY_SECCOMP, .path = name };

	denials_add(d, &denial);
	return EACCES;
}

/* Make the caller's truncate, within its limit of a file's size. 0, or an errno value. */
static int truncate_file(const struct bounds *b, const struct stopped_call *s,
			 const struct judged_file *t)
{
	const off_t size = (off_t)s->args[1];
	struct rlimit its;
	char self[32];

	if (prlimit(s->pid, RLIMIT_FSIZE, NULL, &its) < 0)
		return EACCES;
	if (size > t->is.st_size && (rlim_t)size > its.rlim_cur)
		return EFBIG;
	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", t->file);
	const struct bounds_rights rights = bounds_lower(b);
	const int error = rights.failed ? EACCES : truncate(self, size) < 0 ? errno : 0;
	bounds_raise(&rights);
	return error;
}

/* The answer to a call that may empty a file: 0, or an errno value. */
static int hold(struct denials *d, const struct stopped_call *s, struct judged_file *t)
{
	const struct bounds *b = denials_bounds(d);
	UNINITIALISED struct intent i;
	const int read = intent_read(s, &i);

	if (read <= 0)
		return read < 0 && errno != EPERM ? errno : EACCES;
	const int error = *i.path[0].text ? open_target(b, s, &i.path[0], t) : ENOENT;
	if (error == ENOENT && i.creates)
		return refuse(d, i.verb, t->way.text);
	/* A link in /proc to something open, which only the caller could follow. */
	if (error)
		return error == ELOOP || error == EXDEV || error == EPERM ? EACCES : error;
	if (i.verb == INTENT_TRUNCATE && bounds_may_write(b, t->name))
		return truncate_file(b, s, t);
	if (S_ISREG(t->is.st_mode) && was_possible(b, i.verb, t))
		return refuse(d, i.verb, t->name);
	return EACCES;
}

/* A call that only a guard rail holds: what cannot be known goes on. */
static enum judgement judge_attributes(struct denials *d, const struct stopped_call *s,
				       struct judged_file *t)
{
	const struct bounds *b = denials_bounds(d);
	UNINITIALISED struct intent i;

	if (intent_read(s, &i) <= 0 || !*i.path[0].text || open_target(b, s, &i.path[0], t) != 0 ||
	    bounds_may_write(b, t->name) || !was_possible(b, i.verb, t))
		return JUDGE_PASSES;
	supervisor_answer(s, 0, refuse(d, i.verb, t->name));
	return JUDGE_ANSWERS;
}

static enum judgement look(void *arg, const struct stopped_call *s)
{
	struct denials *d = arg;
	UNINITIALISED struct judged_file t;
	enum judgement j = JUDGE_ANSWERS;

	t.file = -1;
	if (!floor_is_for(denials_bounds(d), s))
		return JUDGE_PASSES;
	if (listener_is_emptying(s->number, s->args))
		supervisor_answer(s, 0, hold(d, s, &t));
	else
		j = judge_attributes(d, s, &t);
	fd_closep(&t.file);
	return j;
}

struct judge floor_judge(struct denials *d)
{
	return (struct judge){ look, d };
}
