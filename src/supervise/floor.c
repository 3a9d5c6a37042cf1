/* SPDX-License-Identifier: MIT */
/*
 * floor: without namespaces, the calls that file rules do not know.
 *
 * Landlock has no right for permissions, owners, times and attributes, and before ABI 3 (Linux 6.2)
 * none for emptying a file. With namespaces the read-only mounts hold these calls; without, they
 * stop (LISTENER_UNRULED, LISTENER_EMPTYING), and this judge opens what is meant as the command
 * would find it, and looks whether commands may write there.
 *
 *	chmod, chown, times, attributes, by path
 *			Outside: EACCES and a denial. Inside the call goes on, with memory that the
 *			caller may exchange meanwhile; and by descriptor (fchmod) it does not stop
 *			at all. A guard rail.
 *	truncate	Outside: EACCES and a denial. Inside this process does it, to the file that
 *			it has opened and judged. The call never goes on: a wall.
 *	open that empties a file without asking for writing
 *			EACCES and a denial, wherever it is: the path lies in memory, and POSIX
 *			leaves undefined what such a call does. A wall.
 *	openat2		ENOSYS, by the filter: its flags lie in memory. Programs do without it.
 *
 * An open for writing that empties a file needs nothing of this: the kernel asks the rules about
 * the writing first. While no server judges, the reaper refuses what the walls hold.
 */

#include "supervise/denials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "sandbox/landlock.h"
#include "supervise/listener.h"
#include "supervise/resolver.h"

bool floor_is_for(const struct bounds *b, const struct stopped_call *s)
{
	if (b->namespaces)
		return false;
	if (listener_is_emptying(s->number, s->args))
		return b->abi < LANDLOCK_TRUNCATE;
	return listener_is_unruled(s->number);
}

/* Would it have been possible without the sandbox? */
static bool was_possible(const struct bounds *b, enum intent_verb verb, const struct caller_file *t)
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
			 const struct caller_file *t)
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
static int hold(struct denials *d, struct resolver *r, struct caller_file *t)
{
	const struct bounds *b = denials_bounds(d);
	const struct intent *i = &r->intent;
	const int read = resolver_intent(r);

	if (read <= 0)
		return read < 0 && errno != EPERM ? errno : EACCES;
	const int error = *i->path[0].text ? resolver_open(r, b, t) : ENOENT;
	if (error == ENOENT && i->creates && r->place[0].way.n)
		return refuse(d, i->verb, r->place[0].way.text);
	/* A link in /proc to something open, which only the caller could follow. */
	if (error)
		return error == ELOOP || error == EXDEV || error == EPERM ? EACCES : error;
	if (i->verb == INTENT_TRUNCATE && bounds_may_write(b, t->name))
		return truncate_file(b, r->call, t);
	if (S_ISREG(t->is.st_mode) && was_possible(b, i->verb, t))
		return refuse(d, i->verb, t->name);
	return EACCES;
}

/* A call that only a guard rail holds: what cannot be known goes on. */
static int judge_attributes(struct denials *d, struct resolver *r, struct caller_file *t)
{
	const struct bounds *b = denials_bounds(d);
	const struct intent *i = &r->intent;

	if (resolver_intent(r) <= 0 || !*i->path[0].text || resolver_open(r, b, t) != 0 ||
	    bounds_may_write(b, t->name) || !was_possible(b, i->verb, t))
		return JUDGE_PASSES;
	return refuse(d, i->verb, t->name);
}

static int look(void *arg, struct resolver *r)
{
	struct denials *d = arg;
	const struct stopped_call *s = r->call;
	struct caller_file t UNINITIALISED;

	t.file = -1;
	if (!floor_is_for(denials_bounds(d), s))
		return JUDGE_PASSES;
	const int j = listener_is_emptying(s->number, s->args) ? hold(d, r, &t)
							       : judge_attributes(d, r, &t);
	fd_closep(&t.file);
	return j;
}

struct judge floor_judge(struct denials *d)
{
	return (struct judge){ .look = look, .arg = d };
}
