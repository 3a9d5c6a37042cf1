/* SPDX-License-Identifier: MIT */
/* guardian: which names a call is about; and git's configuration, written in place. */

#include "supervise/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "guard/gitconfig.h"
#include "sandbox/canonical.h"
#include "supervise/resolver.h"

enum { CONFIG_MOST = 1 << 20 };

void guardian_init(struct guardian *g, struct guard *guard, struct denials *denials)
{
	*g = (struct guardian){
		.guard = guard, .denials = denials, .content = { .max = CONFIG_MOST + 1 }, .dir = -1
	};
}

void guardian_done(struct guardian *g)
{
	if (!g->guard)
		return;
	buf_done(&g->content);
	fd_closep(&g->dir);
}

/* The name of a place that was found, without links. */
static bool name_place(const struct caller_place *p, char name[2 * PATH_MAX])
{
	char dir[PATH_MAX] UNINITIALISED;

	if (!resolver_name(p->dir->fd, dir))
		return false;
	if (strcmp(p->name, ".") == 0)
		(void)snprintf(name, 2 * PATH_MAX, "%s", dir);
	else
		(void)snprintf(name, 2 * PATH_MAX, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
			       p->name);
	return true;
}

static int refuse(struct guardian *g, enum intent_verb verb, const char *name, const char *why)
{
	const struct denial d = { .verb = verb, .by = DENIED_BY_GUARD, .path = name, .why = why };

	denials_add(g->denials, &d);
	return EACCES;
}

static int refuse_sink(struct guardian *g, enum intent_verb verb, const char *name,
		       const struct sink_rule *s)
{
	AUTO_BUF why = { .max = 4096 };

	if (s)
		guard_explain(g->guard, name, s, &why);
	else
		buf_add(&why, STR("what a person's programs run later lies there, or would; "
				  "--sinks allow permits it"));
	buf_addc(&why, '\0');
	return refuse(g, verb, name, why.failed ? "" : why.p);
}

/* A process that can be read by nobody names what it likes. (What the kernel cannot read either makes
 * the call fail.) */
static int refuse_unreadable(struct guardian *g, enum intent_verb verb)
{
	return refuse(g, verb, "a file whose name cannot be read",
		      "the memory of the process cannot be read (it hides it, or "
		      "kernel.yama.ptrace_scope was raised), so it is not known whether a "
		      "person's programs run that later; --sinks allow permits it");
}

/* Verbs that leave the content of a file, and what its name means, as they are. */
static bool is_harmless(enum intent_verb verb)
{
	return verb == INTENT_TIMES || verb == INTENT_ATTRIBUTE || verb == INTENT_CONNECT ||
	       verb == INTENT_SEND || verb == INTENT_SOCKET;
}

static bool read_file(int dir, const char *name, struct buf *out)
{
	struct stat st;
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	buf_reset(out, SIZE_MAX);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > CONFIG_MOST)
		return false;
	char *to = buf_room(out, CONFIG_MOST + 1);
	const ssize_t n = to ? io_read_full(fd, to, CONFIG_MOST + 1) : -1;
	buf_filled(out, n > 0 ? (size_t)n : 0);
	return n >= 0 && n <= CONFIG_MOST;
}

static bool is_config(const char *name)
{
	return strcmp(name, "config") == 0 || strcmp(name, "config.worktree") == 0;
}

/* Is it git, which puts a new configuration in place? */
static bool replaces_config(const struct resolver *r)
{
	const struct caller_place *from = &r->place[0], *to = &r->place[1];
	char lock[NAME_MAX + 8];

	if (r->intent.verb != INTENT_RENAME || r->intent.exchange || from->found != PLACE_FOUND ||
	    to->found != PLACE_FOUND || from->dir != to->dir || !is_config(to->name))
		return false;
	(void)snprintf(lock, sizeof lock, "%s.lock", to->name);
	return strcmp(from->name, lock) == 0;
}

/* The files of a submodule may lie in the workspace: that entry is as if it had been there. */
static void allow_worktree(const struct guardian *g, const char *git, struct str new,
			   struct buf *old)
{
	AUTO_BUF value = { .max = PATH_MAX };
	char name[3 * PATH_MAX], found[PATH_MAX];

	if (!strstr(git, "/modules/") || !gitconfig_value(new, "core.worktree", &value))
		return;
	buf_addc(&value, '\0');
	if (value.failed || strlen(value.p) + 1 != value.n || strpbrk(value.p, "\"\\\n"))
		return;
	(void)snprintf(name, sizeof name, "%s%s%s", value.p[0] == '/' ? "" : git,
		       value.p[0] == '/' ? "" : "/", value.p);
	if (canonical_name(name, NULL, found) && guard_shown(g->guard, found)[0] != '/')
		buf_addf(old, "[core]\n\tworktree = \"%s\"\n", value.p);
}

/* Compare the new configuration with the old one: 0 if it may be written, or an errno value. */
static int compare(struct guardian *g, struct resolver *r, const char *name)
{
	AUTO_BUF old = { .max = CONFIG_MOST + 1 };
	AUTO_BUF more = { .max = CONFIG_MOST + 1 };
	AUTO_BUF files = { .max = 2 * PATH_MAX };
	char key[GITCONFIG_KEY], dir[2 * PATH_MAX], why[GITCONFIG_KEY + 160];

	(void)snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(name, '/') - name), name);
	AUTO_FD at = canonical_open(dir);
	if (at < 0 || !read_file(at, r->place[0].name, &g->content))
		return refuse(g, INTENT_RENAME, name, "the new configuration cannot be read");
	(void)read_file(at, "config", &old);
	(void)read_file(at, "config.worktree", &more);
	allow_worktree(g, dir, buf_str(&g->content), &files);
	const struct str texts[] = { buf_str(&old), buf_str(&more), buf_str(&files) };
	if (gitconfig_executes(buf_str(&g->content), texts, ARRAY_LEN(texts), key)) {
		(void)snprintf(why, sizeof why,
			       "git would run what %s says, later and outside the sandbox; a "
			       "person can set it",
			       key);
		return refuse(g, INTENT_RENAME, name, why);
	}
	(void)snprintf(g->name, sizeof g->name, "%s", r->place[1].name);
	g->dir = TAKE(at, -1);
	r->intent.in_place = true;
	return 0;
}

/* Does the call put a link, or a directory, there, by which a guarded name comes into being? */
static bool leads_there(const struct guardian *g, struct resolver *r, size_t which,
			const char *name)
{
	const enum intent_verb verb = r->intent.verb;
	const struct caller_place *from = resolver_place(r, 1 - which);

	if (verb == INTENT_SYMLINK)
		return guard_leads_to(g->guard, name);
	return (verb == INTENT_RENAME || verb == INTENT_LINK) && from->found == PLACE_FOUND &&
	       guard_brings(g->guard, from->dir->fd, from->name, name);
}

/* Is it a guarded file by another name? */
static bool is_linked(const struct guardian *g, const struct caller_place *p)
{
	struct stat st;

	return fstatat(p->dir->fd, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       guard_is_file(g->guard, &st);
}

/* Git tries out whether its configuration can be made executable, which means nothing. */
static int change_mode(struct guardian *g, const struct resolver *r, const char *name)
{
	const struct stopped_call *s = r->call;
	const struct bounds *b = denials_bounds(g->denials);
	unsigned mode = (unsigned)s->args[2];
	char self[32];
	struct stat st;

#ifdef SYS_chmod
	if (s->number == SYS_chmod)
		mode = (unsigned)s->args[1];
#endif
	AUTO_FD at = canonical_open(name);
	if (at < 0 || fstat(at, &st) < 0 || !S_ISREG(st.st_mode) || !stopped_is_waiting(s) ||
	    ((st.st_mode ^ mode) & 07777 & ~(unsigned)S_IXUSR))
		return EACCES;
	(void)snprintf(self, sizeof self, "/proc/self/fd/%d", at);
	guard_accept_name(g->guard, g, name);
	const struct bounds_rights rights =
		b ? bounds_lower(b) : (struct bounds_rights){ .failed = false };
	const int error = rights.failed ? EACCES : chmod(self, mode & 0777) < 0 ? errno : 0;
	bounds_raise(&rights);
	guard_accepted(g->guard, g);
	return error;
}

static int judge_unknown(struct guardian *g, const struct resolver *r, size_t which)
{
	const struct caller_place *p = &r->place[which];
	const char *text = p->way.n ? p->way.text : r->intent.path[which].text;

	if (p->found == PLACE_NO_DIRECTORY || !sinks_has_name(str_of(text)))
		return JUDGE_PASSES;
	return refuse_sink(g, r->intent.verb, text, NULL);
}

/* The kernel says that there is such a name already. */
static bool fails_anyway(enum intent_verb verb, const struct caller_place *p, bool second)
{
	struct stat st;

	return (verb == INTENT_MKDIR || verb == INTENT_MKNOD || verb == INTENT_SYMLINK ||
		verb == INTENT_BIND || (verb == INTENT_LINK && second)) &&
	       fstatat(p->dir->fd, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int judge_path(struct guardian *g, struct resolver *r, size_t which)
{
	const enum intent_verb verb = r->intent.verb;
	const struct caller_place *p = resolver_place(r, which);
	const bool second = which == 1;
	char name[2 * PATH_MAX] UNINITIALISED;

	if (p->found != PLACE_FOUND || !name_place(p, name))
		return judge_unknown(g, r, which);
	if (fails_anyway(verb, p, second))
		return JUDGE_PASSES;
	const struct sink_rule s = guard_class(g->guard, name, verb == INTENT_MKDIR);
	/* Git makes it in each new repository. */
	if (verb == INTENT_MKDIR && str_eq(s.rule, STR("hooks")))
		return JUDGE_PASSES;
	if (s.class == SINK_GUARDED) {
		if (second && replaces_config(r)) {
			const int error = compare(g, r, name);
			return error ? error : JUDGE_PASSES;
		}
		if (verb == INTENT_CHMOD && is_config(p->name))
			return change_mode(g, r, name);
		/* Outside the workspace the sandbox refuses it, and that is named. */
		if (guard_shown(g->guard, name)[0] == '/')
			return JUDGE_PASSES;
		return refuse_sink(g, verb, name, &s);
	}
	if (verb == INTENT_RENAME && (!second || r->intent.exchange) &&
	    resolver_moves(r, &r->place[which]) && guard_is_above(g->guard, name))
		return refuse_sink(g, verb, name, NULL);
	const bool makes = second || verb == INTENT_SYMLINK || r->intent.exchange;
	if ((makes && leads_there(g, r, which, name)) || (!second && is_linked(g, p)))
		return refuse_sink(g, verb, name, NULL);
	return JUDGE_PASSES;
}

static int look(void *arg, struct resolver *r)
{
	struct guardian *g = arg;
	int j = JUDGE_PASSES;

	fd_closep(&g->dir);
	const int rc = resolver_intent(r);
	if (rc == 0 || is_harmless(r->intent.verb))
		return j;
	atomic_store_explicit(&g->seen, true, memory_order_relaxed);
	if (rc < 0)
		return errno == EPERM ? refuse_unreadable(g, r->intent.verb) : j;
	for (size_t i = 0; i < r->intent.count && j == JUDGE_PASSES; i++)
		if (*r->intent.path[i].text)
			j = judge_path(g, r, i);
	return j;
}

/* Write what was compared into the file, and remove the lock. 0, or an errno value. */
static int write_config(struct guardian *g, const struct stopped_call *s, const char *lock)
{
	const struct bounds *b = denials_bounds(g->denials);
	const struct str content = buf_str(&g->content);
	struct stat st;
	int error = EACCES;

	if (!stopped_is_waiting(s))
		return EINTR;
	guard_accept(g->guard, g, g->dir, g->name);
	const struct bounds_rights rights =
		b ? bounds_lower(b) : (struct bounds_rights){ .failed = false };
	AUTO_FD fd = rights.failed
			     ? -1
			     : openat(g->dir, g->name,
				      O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
				      0666 & ~stopped_umask(s));
	if (fd < 0)
		error = rights.failed ? EACCES : errno;
	else if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		error = io_write_all(fd, content, IO_FOREVER) < 0 ||
					ftruncate(fd, (off_t)content.n) < 0 ||
					unlinkat(g->dir, lock, 0) < 0
				? errno
				: 0;
	bounds_raise(&rights);
	guard_accepted(g->guard, g);
	return error;
}

static int write_after(void *arg, struct resolver *r)
{
	struct guardian *g = arg;

	if (g->dir < 0)
		return JUDGE_PASSES;
	const int error = write_config(g, r->call, r->place[0].name);
	fd_closep(&g->dir);
	return error;
}

struct judge guardian_judge(struct guardian *g)
{
	return (struct judge){ .look = look, .arg = g };
}

struct judge guardian_writer(struct guardian *g)
{
	return (struct judge){ .look = write_after, .arg = g };
}
