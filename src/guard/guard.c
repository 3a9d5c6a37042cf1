/* SPDX-License-Identifier: MIT */
/* guard: what is there, what it was, and what a name is. */

#include "guard/guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/own.h"
#include "guard/gitconfig.h"
#include "guard/tree.h"
#include "sandbox/canonical.h"

enum { GITS_OUTSIDE = 16, ACCEPTED = 16, KEPT_MOST = 1 << 20, BROUGHT_MOST = 4096 };

/* What an allowed call has changed. */
struct accepted {
	char name[PATH_MAX];
	const void *by; /* the call is still under way; or NULL */
	struct stat is; /* what it has made of it; without links: nothing */
};

struct guard {
	struct buf text; /* of the paths */
	const char *root;
	const char *git[GITS_OUTSIDE];
	size_t git_count;
	struct sinks sinks;
	struct present *first; /* what was there at the start; NULL before */
	pthread_mutex_t lock;  /* protects the rest */
	struct present *now, *covered, *spare;
	size_t running; /* commands */
	bool orphan;	/* the last of them frees it */
	bool fresh;	/* `now` is what a command found that starts alone */
	struct accepted accepted[ACCEPTED];
	size_t next;
};

static void scan(struct guard *g, struct present *to)
{
	present_scan(to, g->root, &g->sinks, g->git, g->git_count, g->first);
}

static bool copy_paths(struct guard *g, const struct guard_options *o)
{
	g->text.max = SIZE_MAX / 2;
	strings_add(&g->text, str_of(o->root));
	g->git_count = o->git_count < GITS_OUTSIDE ? o->git_count : GITS_OUTSIDE;
	for (size_t i = 0; i < g->git_count; i++)
		strings_add(&g->text, str_of(o->git[i]));
	if (g->text.failed)
		return false;
	g->root = g->text.p;
	const char *next = g->root;
	for (size_t i = 0; i < g->git_count; i++)
		g->git[i] = next += strlen(next) + 1;
	return true;
}

static void release(struct guard *g)
{
	struct present *const all[] = { g->now, g->covered, g->spare, g->first };
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (all[i])
			present_done(all[i]);
		mem_free(all[i]);
	}
	sinks_done(&g->sinks);
	buf_done(&g->text);
	(void)pthread_mutex_destroy(&g->lock);
	mem_free(g);
}

int guard_new(const struct guard_options *o, struct guard **ret, struct err *e)
{
	struct guard *g = mem_new(1, sizeof *g);

	if (!g)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	(void)pthread_mutex_init(&g->lock, NULL);
	g->now = mem_new(1, sizeof *g->now);
	g->covered = mem_new(1, sizeof *g->covered);
	g->spare = mem_new(1, sizeof *g->spare);
	if (!g->now || !g->covered || !g->spare || !copy_paths(g, o)) {
		release(g);
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	}
	if (sinks_init(&g->sinks, o->own, e) < 0) {
		release(g);
		return -1;
	}
	struct present *first = mem_new(1, sizeof *first);
	if (!first) {
		release(g);
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to start");
	}
	scan(g, first);
	g->first = first;
	if (first->full) {
		release(g);
		return err_set(
			e, ERR_INVALID_ARGUMENTS,
			"More than %d names in the workspace are guarded (hooks, settings of "
			"agents, what --sink names). Use --sink '!PATTERN' for those that "
			"agents may change, or --sinks allow",
			PRESENT_MOST);
	}
	scan(g, g->now);
	*ret = g;
	return 0;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	(void)pthread_mutex_lock(&g->lock);
	g->orphan = true;
	const bool last = g->running == 0;
	(void)pthread_mutex_unlock(&g->lock);
	if (last)
		release(g);
}

static struct str below(const struct guard *g, const char *name)
{
	const size_t n = strlen(g->root);

	if (strcmp(g->root, "/") == 0)
		return str_of(name + 1);
	return canonical_is_in(name, g->root) && name[n] ? str_of(name + n + 1) : STR("");
}

const char *guard_shown(const struct guard *g, const char *name)
{
	const struct str rest = below(g, name);

	return rest.n ? rest.p : name;
}

static bool is_sample(struct str path)
{
	return path.n > 7 && str_eq(str_from(path, path.n - 7), STR(".sample"));
}

/* A name in a repository that is not one of those that were there. */
static struct sink_rule class_in_other(struct str path)
{
	struct str part, rest = path;

	while (rest.n) {
		(void)str_cut(rest, '/', &part, &rest);
		/* Without files of its own a repository is called so: name.git. */
		if (!str_ends(part, STR(".git")) || !rest.n || is_sample(rest))
			continue;
		struct sink_rule s = sinks_in_git(rest);
		s.class = s.class == SINK_NONE ? SINK_NONE : SINK_NOTED;
		return s;
	}
	return (struct sink_rule){ .class = SINK_NONE };
}

/* A name in one of the git directories that were there, or where hooks are looked for. */
static struct sink_rule class_in_git(const struct guard *g, const char *name)
{
	const struct present *p = g->now;
	struct sink_rule found = { .class = SINK_NONE };

	for (size_t i = 0; i < p->git_count && found.class != SINK_GUARDED; i++) {
		const char *git = p->text.p + p->gits[i];
		const size_t n = strlen(git);
		if (!canonical_is_in(name, git) || !name[n] || is_sample(str_of(name)))
			continue;
		const struct sink_rule s = sinks_in_git(str_of(name + n + 1));
		if (s.class > found.class)
			found = s;
	}
	return found;
}

static struct sink_rule class_here(const struct guard *g, const char *name, bool is_dir)
{
	const struct str path = below(g, name);
	struct sink_rule s = { .class = SINK_NONE };
	bool said = false;

	if (path.n)
		s = sinks_match(&g->sinks, path, is_dir, &said);
	if (s.class == SINK_GUARDED || (said && s.class == SINK_NONE))
		return s;
	if (g->now->has_git && str_eq(path, STR(".git")))
		return (struct sink_rule){ SINK_GUARDED, STR("/.git"),
					   "it says where git finds its hooks" };
	const struct sink_rule in_git = class_in_git(g, name);
	if (in_git.class != SINK_NONE)
		return in_git;
	return said ? s : class_in_other(path);
}

/* It may be where a link leads that has a guarded name, or lies in a directory where one leads. */
static struct sink_rule class_by_ways(const struct guard *g, const char *name, bool is_dir,
				      int links)
{
	const struct present *p = g->now;
	struct sink_rule s = class_here(g, name, is_dir);
	char other[2 * PATH_MAX];

	if (patterns_match(&g->sinks.own, below(g, name), is_dir) == PATTERNS_FREE)
		return s;
	for (size_t i = 0; s.class != SINK_GUARDED && i < p->way_count; i++) {
		const char *to = p->text.p + p->ways[i].to;
		if (!canonical_is_in(name, to))
			continue;
		(void)snprintf(other, sizeof other, "%s%s", p->text.p + p->ways[i].from,
			       name + strlen(to));
		const struct sink_rule there = links > 1
						       ? class_by_ways(g, other, is_dir, links - 1)
						       : class_here(g, other, is_dir);
		s = there.class == SINK_GUARDED ? there : s;
	}
	return s;
}

static struct sink_rule class_of(const struct guard *g, const char *name, bool is_dir)
{
	return class_by_ways(g, name, is_dir, 2);
}

struct sink_rule guard_class(struct guard *g, const char *name, bool is_dir)
{
	(void)pthread_mutex_lock(&g->lock);
	const struct sink_rule s = class_of(g, name, is_dir);
	(void)pthread_mutex_unlock(&g->lock);
	return s;
}

bool guard_runs_later(struct guard *g, struct str path)
{
	char name[2 * PATH_MAX], key[GITCONFIG_KEY];

	(void)snprintf(name, sizeof name, "%s/%.*s", strcmp(g->root, "/") == 0 ? "" : g->root,
		       STR_FMT(path));
	const struct sink_rule s = guard_class(g, name, false);
	if (s.class != SINK_NOTED)
		return false;
	/* Every worktree has such a file, and every repository such a directory. */
	if (str_eq(s.rule, STR("commondir")) ||
	    (str_eq(s.rule, STR("hooks")) && str_eq(str_from(path, path.n - 6), STR("/hooks"))))
		return false;
	if (!str_eq(s.rule, STR("config")) && !str_eq(s.rule, STR("config.worktree")))
		return true;
	AUTO_BUF text = { .max = SIZE_MAX / 2 };
	return present_read(name, &text) && gitconfig_executes(buf_str(&text), NULL, 0, key);
}

bool guard_is_above(struct guard *g, const char *name)
{
	bool above = false;

	(void)pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < g->now->count && !above; i++)
		above = canonical_is_in(present_name(g->now, i), name);
	for (size_t i = 0; i < g->now->git_count && !above; i++)
		above = canonical_is_in(g->now->text.p + g->now->gits[i], name);
	(void)pthread_mutex_unlock(&g->lock);
	return above;
}

/* The part of a name in a git directory that was there, or "". */
static struct str in_git(const struct present *p, size_t i, const char *name)
{
	const char *git = p->text.p + p->gits[i];

	return canonical_is_in(name, git) && name[strlen(git)] ? str_of(name + strlen(git) + 1)
							       : STR("");
}

bool guard_leads_to(struct guard *g, const char *name)
{
	const struct str path = below(g, name);
	bool leads = path.n && sinks_lead(&g->sinks, path);

	(void)pthread_mutex_lock(&g->lock);
	const struct present *p = g->now;
	for (size_t i = 0; i < p->git_count && !leads; i++)
		leads = str_eq(in_git(p, i, name), STR("info"));
	for (size_t i = 0; path.n && i < p->way_count && !leads; i++)
		leads = canonical_is_in(p->text.p + p->ways[i].to, name);
	(void)pthread_mutex_unlock(&g->lock);
	return leads;
}

/* Does it become, or lie in, the git directory of a submodule? */
static bool is_module(struct guard *g, const char *name)
{
	bool is = false;

	(void)pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < g->now->git_count && !is; i++)
		is = str_starts(in_git(g->now, i, name), STR("modules/"));
	(void)pthread_mutex_unlock(&g->lock);
	return is;
}

/* A directory that is looked through before it gets another name. */
struct brought {
	struct guard *guard;
	const char *to; /* that name */
	size_t skip;	/* … and what it stands for */
	bool found;
};

static bool look_at_brought(void *arg, const char *name, bool is_dir)
{
	struct brought *b = arg;
	char at[3 * PATH_MAX];

	(void)snprintf(at, sizeof at, "%s%s", b->to, name + b->skip);
	b->found |= guard_class(b->guard, at, is_dir).class == SINK_GUARDED ||
		    (is_dir ? access(name, R_OK | X_OK) < 0 : guard_leads_to(b->guard, at));
	return !b->found;
}

bool guard_brings(struct guard *g, int dir, const char *from, const char *to)
{
	struct brought b = { .guard = g, .to = to };
	char top[40];
	struct stat st;

	if (fstatat(dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (!S_ISDIR(st.st_mode))
		return S_ISLNK(st.st_mode) && guard_leads_to(g, to);
	if (!guard_leads_to(g, to) && !is_module(g, to))
		return false;
	AUTO_FD fd = openat(dir, from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return true;
	b.skip = (size_t)snprintf(top, sizeof top, "/proc/self/fd/%d/.", fd);
	return !tree_visit(top, BROUGHT_MOST, look_at_brought, &b) || b.found;
}

bool guard_is_file(struct guard *g, const struct stat *st)
{
	bool same = false;

	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return false;
	(void)pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < g->now->count && !same; i++)
		same = g->now->items[i].st.st_dev == st->st_dev &&
		       g->now->items[i].st.st_ino == st->st_ino;
	(void)pthread_mutex_unlock(&g->lock);
	return same;
}

/* The pattern with which an operator makes it free. */
static struct str free_pattern(const struct sink_rule *s, const char *shown)
{
	if (str_starts(s->rule, STR("/")))
		return str_from(s->rule, 1);
	return str_of(shown);
}

void guard_explain(struct guard *g, const char *name, const struct sink_rule *s, struct buf *out)
{
	const struct str free = free_pattern(s, guard_shown(g, name));

	buf_addf(out, "a person's programs run it later: %s (rule %.*s); --sink '!%.*s' allows it",
		 s->why, STR_FMT(s->rule), STR_FMT(free));
}

int guard_permits_name(struct guard *g, const char *name, struct err *e)
{
	struct stat st;
	const bool exists = lstat(name, &st) == 0;
	const bool is_dir = exists && S_ISDIR(st.st_mode);
	const struct sink_rule s = guard_class(g, name, is_dir);
	const char *shown = guard_shown(g, name);

	if (s.class == SINK_GUARDED) {
		const struct str free = free_pattern(&s, shown);
		(void)err_set(e, ERR_PROTECTED_PATH,
			      "%s is not changed, because a person's programs run it later: %s "
			      "(rule %.*s).",
			      shown, s.why, STR_FMT(s.rule));
		return err_advise(e, "The operator can allow it with --sink '!%.*s'",
				  STR_FMT(free));
	}
	if (is_dir && guard_is_above(g, name))
		return err_set(e, ERR_PROTECTED_PATH,
			       "%s is not changed: it contains what a person's programs run later",
			       shown);
	if (exists && guard_is_file(g, &st))
		return err_set(e, ERR_PROTECTED_PATH,
			       "%s is not changed: it is another name of a file that a person's "
			       "programs run later",
			       shown);
	return 0;
}

int guard_permits(struct guard *g, int dir, const char *name, struct err *e)
{
	char at[2 * PATH_MAX];

	return canonical_in(dir, name, at) ? guard_permits_name(g, at, e) : 0;
}

int guard_permits_move(struct guard *g, int dir, const char *name, const char *to, struct err *e)
{
	if (!guard_brings(g, dir, name, to))
		return 0;
	(void)err_set(e, ERR_PROTECTED_PATH,
		      "Nothing is moved to %s: what a person's programs run later would come "
		      "there.",
		      guard_shown(g, to));
	return err_advise(e, "The operator can allow it with --sinks allow");
}

void guard_enter(struct guard *g)
{
	(void)pthread_mutex_lock(&g->lock);
	g->fresh = g->running++ == 0;
	if (g->fresh)
		scan(g, g->now);
	(void)pthread_mutex_unlock(&g->lock);
}

void guard_leave(struct guard *g)
{
	(void)pthread_mutex_lock(&g->lock);
	g->fresh = false;
	const bool last = --g->running == 0 && g->orphan;
	(void)pthread_mutex_unlock(&g->lock);
	if (last)
		release(g);
}

/* The time of the last change of any kind cannot be put back by the one who made it. */
static bool differs(const struct stat *a, const struct stat *b)
{
	if (a->st_dev != b->st_dev || a->st_ino != b->st_ino || a->st_mode != b->st_mode)
		return true;
	/* What is in a directory is listed by itself, where that counts. */
	return !S_ISDIR(a->st_mode) &&
	       (a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
		a->st_mtim.tv_nsec != b->st_mtim.tv_nsec ||
		a->st_ctim.tv_sec != b->st_ctim.tv_sec || a->st_ctim.tv_nsec != b->st_ctim.tv_nsec);
}

void guard_accept_name(struct guard *g, const void *by, const char *name)
{
	if (strlen(name) >= PATH_MAX || guard_class(g, name, false).class != SINK_GUARDED)
		return;
	(void)pthread_mutex_lock(&g->lock);
	struct accepted *a = &g->accepted[g->next++ % ACCEPTED];
	a->by = by;
	(void)snprintf(a->name, sizeof a->name, "%s", name);
	(void)pthread_mutex_unlock(&g->lock);
}

void guard_accept(struct guard *g, const void *by, int dir, const char *name)
{
	char at[2 * PATH_MAX];

	if (canonical_in(dir, name, at))
		guard_accept_name(g, by, at);
}

void guard_accepted(struct guard *g, const void *by)
{
	(void)pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < ACCEPTED; i++) {
		struct accepted *a = &g->accepted[i];
		if (a->by != by)
			continue;
		a->by = NULL;
		if (lstat(a->name, &a->is) < 0)
			a->is = (struct stat){ .st_nlink = 0 };
	}
	(void)pthread_mutex_unlock(&g->lock);
}

/* Has an allowed call made it what it is now (NULL: gone), or is one about to? */
static bool is_accepted(const struct guard *g, const char *name, const struct stat *now)
{
	for (size_t i = 0; i < ACCEPTED; i++) {
		const struct accepted *a = &g->accepted[i];
		if (strcmp(a->name, name) == 0 &&
		    (a->by || (now ? !differs(&a->is, now) : !a->is.st_nlink)))
			return true;
	}
	return false;
}

void guard_files(struct guard *g, void (*call)(void *arg, int dir, const char *name), void *arg)
{
	int64_t room = KEPT_MOST;
	char dir[PATH_MAX];

	(void)pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < g->now->count; i++) {
		const struct stat *st = &g->now->items[i].st;
		const char *name = present_name(g->now, i), *last = strrchr(name, '/');
		if (!S_ISREG(st->st_mode) || st->st_size > room)
			continue;
		room -= st->st_size;
		(void)snprintf(dir, sizeof dir, "%.*s", (int)(last - name), name);
		AUTO_FD at = canonical_open(*dir ? dir : "/");
		if (at >= 0)
			call(arg, at, last + 1);
	}
	(void)pthread_mutex_unlock(&g->lock);
}

size_t guard_look(struct guard *g, void (*tell)(void *arg, const char *name), void *arg)
{
	size_t count = 0;

	(void)pthread_mutex_lock(&g->lock);
	struct present *old = g->now, *new = g->spare;
	scan(g, new);
	for (size_t i = 0; i < new->count; i++) {
		const struct present_item *was = present_find(old, present_name(new, i));
		if ((was && !differs(&was->st, &new->items[i].st)) ||
		    is_accepted(g, present_name(new, i), &new->items[i].st))
			continue;
		tell(arg, guard_shown(g, present_name(new, i)));
		count++;
	}
	for (size_t i = 0; i < old->count; i++) {
		if (present_find(new, present_name(old, i)) ||
		    is_accepted(g, present_name(old, i), NULL))
			continue;
		tell(arg, guard_shown(g, present_name(old, i)));
		count++;
	}
	g->now = new;
	g->spare = old;
	for (size_t i = 0; i < ACCEPTED; i++)
		if (!g->accepted[i].by)
			g->accepted[i].name[0] = '\0';
	(void)pthread_mutex_unlock(&g->lock);
	return count;
}

uint32_t guard_covers(struct guard *g, struct buf *names)
{
	uint32_t count = 0;

	(void)pthread_mutex_lock(&g->lock);
	scan(g, g->covered);
	for (size_t i = 0; i < g->covered->count; i++) {
		if (!g->covered->items[i].covered || !below(g, present_name(g->covered, i)).n)
			continue;
		strings_add(names, str_of(present_name(g->covered, i)));
		count++;
	}
	(void)pthread_mutex_unlock(&g->lock);
	return count;
}

/* Is everything that is to be covered in one of them in the other, and the same? */
static bool has_all(const struct present *in, const struct present *of)
{
	for (size_t i = 0; i < of->count; i++) {
		if (!of->items[i].covered)
			continue;
		const struct present_item *other = present_find(in, present_name(of, i));
		if (!other || other->st.st_dev != of->items[i].st.st_dev ||
		    other->st.st_ino != of->items[i].st.st_ino)
			return false;
	}
	return true;
}

bool guard_has_changed(struct guard *g)
{
	(void)pthread_mutex_lock(&g->lock);
	if (!g->fresh)
		scan(g, g->spare);
	const bool same = has_all(g->covered, g->fresh ? g->now : g->spare);
	g->fresh = false;
	(void)pthread_mutex_unlock(&g->lock);
	return !same;
}
