/* SPDX-License-Identifier: MIT */
/* present: look for each name of the table, and for those of the operator. */

#include "guard/present.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "guard/gitconfig.h"
#include "guard/tree.h"
#include "sandbox/canonical.h"

enum { MODULES_DEEP = 6, INCLUDED_DEEP = 4, WALK_MOST = 1000000, CONFIG_MOST = 1 << 20 };

struct lookout {
	struct present *p;
	const char *root;
	const struct sinks *sinks;
};

/* The part of a name below the workspace. */
static struct str below(const struct lookout *s, const char *name)
{
	const size_t n = strlen(s->root);

	if (strcmp(s->root, "/") == 0)
		return str_of(name + 1);
	return canonical_is_in(name, s->root) && name[n] ? str_of(name + n + 1) : STR("");
}

static bool is_free(const struct lookout *s, const char *name, bool is_dir)
{
	return patterns_match(&s->sinks->own, below(s, name), is_dir) == PATTERNS_FREE;
}

static size_t keep_name(struct present *p, const char *name)
{
	const size_t at = p->text.n;

	buf_add(&p->text, str_of(name));
	buf_addc(&p->text, '\0');
	return at;
}

/* If there is something of that name, list it. */
static bool add(const struct lookout *s, const char *name, bool covered)
{
	struct present *p = s->p;
	struct stat st;

	if (lstat(name, &st) < 0 || is_free(s, name, S_ISDIR(st.st_mode)))
		return false;
	if (p->count == PRESENT_MOST) {
		p->full = true;
		return false;
	}
	p->items[p->count++] =
		(struct present_item){ keep_name(p, name), st, covered && !S_ISLNK(st.st_mode) };
	return true;
}

/* What lies at `to` in the workspace is what `from` would be. */
static bool add_way(const struct lookout *s, const char *from, const char *to)
{
	struct present *p = s->p;

	if (!below(s, to).n || strcmp(from, to) == 0)
		return false;
	if (p->way_count == PRESENT_WAYS) {
		p->full = true;
		return false;
	}
	p->ways[p->way_count].to = keep_name(p, to);
	p->ways[p->way_count++].from = keep_name(p, from);
	return true;
}

/* List what a name leads to as well, if it is a link. `to` is where its content lies. */
static bool add_link(const struct lookout *s, const char *name, bool covered, char to[PATH_MAX])
{
	struct stat st;

	(void)snprintf(to, PATH_MAX, "%s", name);
	if (!add(s, name, covered))
		return false;
	if (lstat(name, &st) == 0 && S_ISLNK(st.st_mode) && canonical_lead(name, to) &&
	    add_way(s, name, to))
		(void)add(s, to, true);
	return true;
}

/* The directory of guarded names below another one, which has no links: it may be one. */
static bool directory(const struct lookout *s, const char *parent, struct str part,
		      char ret[PATH_MAX])
{
	char name[PATH_MAX];
	struct stat st;

	(void)snprintf(ret, PATH_MAX, "%.3500s%s%.*s", parent, part.n ? "/" : "", STR_FMT(part));
	if (!part.n)
		return true;
	if (lstat(ret, &st) < 0)
		return false;
	if (!S_ISLNK(st.st_mode))
		return S_ISDIR(st.st_mode);
	memcpy(name, ret, sizeof name);
	return canonical_name(name, NULL, ret) && add_way(s, name, ret);
}

/* Call with each name in a directory that fits the pattern. */
static void each(const struct lookout *s, const char *dir, const char *pattern,
		 void (*call)(const struct lookout *s, const char *name, int depth), int depth)
{
	char name[PATH_MAX];
	const struct dirent *d;
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *open = fd < 0 ? NULL : fdopendir(fd);

	if (!open) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((d = readdir(open)))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
		    fnmatch(pattern, d->d_name, 0) == 0 &&
		    snprintf(name, sizeof name, "%s/%s", dir, d->d_name) < (int)sizeof name)
			call(s, name, depth);
	(void)closedir(open);
}

static void add_covered(const struct lookout *s, const char *name, int depth)
{
	char to[PATH_MAX];

	(void)depth;
	(void)add_link(s, name, true, to);
}

/* What git brings as examples is not run. */
static void add_hook(const struct lookout *s, const char *name, int depth)
{
	char to[PATH_MAX];

	(void)depth;
	if (fnmatch("*.sample", name, 0) != 0)
		(void)add_link(s, name, false, to);
}

static void scan_git(const struct lookout *s, const char *dir)
{
	struct present *p = s->p;
	char name[2 * PATH_MAX], at[PATH_MAX], to[PATH_MAX];
	const char *row;

	if (p->git_count == PRESENT_GITS) {
		p->full = true;
		return;
	}
	p->gits[p->git_count++] = keep_name(p, dir);
	for (size_t i = 0; (row = sinks_git_name(i)); i++) {
		const char *last = strrchr(row, '/');
		const struct str part = { row, last ? (size_t)(last - row) : 0 };
		if (!directory(s, dir, part, at))
			continue;
		(void)snprintf(name, sizeof name, "%s/%s", at, last ? last + 1 : row);
		if (add_link(s, name, true, to) && strcmp(row, "hooks") == 0)
			each(s, to, "*", add_hook, 0);
	}
}

static void scan_worktree(const struct lookout *s, const char *name, int depth)
{
	(void)depth;
	scan_git(s, name);
}

/* A directory of submodules has git directories in it, perhaps further down: their names may have
 * slashes. */
static void scan_module(const struct lookout *s, const char *name, int depth)
{
	char head[PATH_MAX];
	struct stat st;

	if (depth > MODULES_DEEP || snprintf(head, sizeof head, "%s/HEAD", name) >= PATH_MAX)
		return;
	if (lstat(head, &st) < 0) {
		each(s, name, "*", scan_module, depth + 1);
		return;
	}
	scan_git(s, name);
	if (snprintf(head, sizeof head, "%s/modules", name) < PATH_MAX)
		each(s, head, "*", scan_module, depth + 1);
}

static void scan_modules(const struct lookout *s, const char *git)
{
	char name[PATH_MAX];

	(void)snprintf(name, sizeof name, "%.4000s/modules", git);
	each(s, name, "*", scan_module, 0);
}

static bool read_file(const char *name, int flags, struct buf *out)
{
	struct stat st;
	AUTO_FD fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > CONFIG_MOST)
		return false;
	const size_t most = (size_t)st.st_size + 1;
	char *to = buf_room(out, most);
	const ssize_t n = to ? io_read_full(fd, to, most) : -1;
	buf_filled(out, n > 0 ? (size_t)n : 0);
	return n >= 0;
}

bool present_read(const char *name, struct buf *out)
{
	return read_file(name, O_NOFOLLOW, out);
}

/* A file of git's configuration that is read for the workspace, and the git directory of that. */
struct config_file {
	const struct lookout *s;
	const char *name, *git;
	int depth; /* of files that include others */
};

/* Where a value leads that is a path, relative to `dir`, or would lead. */
static bool lead(struct str value, const char *dir, char to[PATH_MAX])
{
	const char *home = getenv("HOME");
	char name[2 * PATH_MAX];

	while (value.n > 1 && value.p[value.n - 1] == '/')
		value.n--;
	if (str_starts(value, STR("~/")) && home)
		(void)snprintf(name, sizeof name, "%.4000s%.*s", home, STR_FMT(str_from(value, 1)));
	else if (str_starts(value, STR("/")))
		(void)snprintf(name, sizeof name, "%.*s", STR_FMT(value));
	else
		(void)snprintf(name, sizeof name, "%.4000s/%.*s", dir, STR_FMT(value));
	return value.n && canonical_lead(name, to);
}

/* Hooks are where the files of the workspace are, or relative to them. */
static void add_hooks_path(void *arg, struct str value)
{
	const struct config_file *c = arg;
	char name[PATH_MAX], found[PATH_MAX];

	if (!lead(value, c->s->root, found) || !below(c->s, found).n)
		return;
	(void)snprintf(name, sizeof name, "%.4000s/hooks", c->git);
	(void)add_way(c->s, name, found);
	if (!present_find(c->s->p, found) && add(c->s, found, true))
		each(c->s, found, "*", add_hook, 0);
}

static void scan_config(const struct config_file *c);

/* What a file includes is configuration as well: guarded if it lies in the workspace. */
static void add_included(void *arg, struct str value)
{
	const struct config_file *c = arg;
	char dir[PATH_MAX], name[PATH_MAX], found[PATH_MAX];

	(void)snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(c->name, '/') - c->name), c->name);
	if (!lead(value, dir, found))
		return;
	if (below(c->s, found).n) {
		(void)snprintf(name, sizeof name, "%.4000s/config", c->git);
		(void)add_way(c->s, name, found);
		if (!present_find(c->s->p, found))
			(void)add(c->s, found, true);
	}
	const struct config_file included = { c->s, found, c->git, c->depth + 1 };
	if (included.depth < INCLUDED_DEEP)
		scan_config(&included);
}

static void scan_config(const struct config_file *c)
{
	AUTO_BUF text = { .max = SIZE_MAX / 2 };

	if (!read_file(c->name, 0, &text))
		return;
	gitconfig_each(buf_str(&text), "core.hookspath", add_hooks_path, (void *)c);
	gitconfig_each(buf_str(&text), "include.path", add_included, (void *)c);
	gitconfig_each(buf_str(&text), "includeif.path", add_included, (void *)c);
}

static void scan_config_at(const struct lookout *s, const char *dir, const char *file,
			   const char *git)
{
	char name[PATH_MAX];

	if (!dir || snprintf(name, sizeof name, "%s/%s", dir, file) >= (int)sizeof name)
		return;
	scan_config(&(struct config_file){ s, name, git, 0 });
}

/* What git's configuration names in the workspace: the repository's, and that of the person. */
static void scan_configs(const struct lookout *s, const char *const *outside, size_t outside_count)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char git[PATH_MAX];

	if (!s->p->git_count)
		return;
	/* The names move when one is added. */
	(void)snprintf(git, sizeof git, "%s", s->p->text.p + s->p->gits[0]);
	scan_config_at(s, git, "config", git);
	scan_config_at(s, git, "config.worktree", git);
	for (size_t i = 0; i < outside_count; i++) {
		scan_config_at(s, outside[i], "config", git);
		scan_config_at(s, outside[i], "config.worktree", git);
	}
	scan_config_at(s, home, ".gitconfig", git);
	if (xdg && *xdg)
		scan_config_at(s, xdg, "git/config", git);
	else
		scan_config_at(s, home, ".config/git/config", git);
	scan_config_at(s, "/etc", "gitconfig", git);
}

static void scan_repository(const struct lookout *s)
{
	char name[PATH_MAX], git[PATH_MAX];
	struct stat st;

	(void)snprintf(name, sizeof name, "%.4000s/.git", s->root);
	if (lstat(name, &st) < 0)
		return;
	s->p->has_git = true;
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		(void)add(s, name, true);
	if (!canonical_name(name, NULL, git) || !canonical_is_in(git, s->root) ||
	    stat(git, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	scan_git(s, git);
	(void)snprintf(name, sizeof name, "%.4000s/worktrees", git);
	each(s, name, "*", scan_worktree, 0);
	scan_modules(s, git);
}

/* The same git directories, as they are now. */
static void scan_again(const struct lookout *s, const struct present *first)
{
	char name[PATH_MAX];

	s->p->has_git = first->has_git;
	(void)snprintf(name, sizeof name, "%.4000s/.git", s->root);
	if (first->has_git && present_find(first, name))
		(void)add(s, name, true);
	for (size_t i = 0; i < first->git_count; i++)
		scan_git(s, first->text.p + first->gits[i]);
}

static void scan_table(const struct lookout *s)
{
	char name[2 * PATH_MAX], at[PATH_MAX];
	const char *row;

	for (size_t i = 0; (row = sinks_pattern(i)); i++) {
		const char *last = strrchr(row, '/') + 1;
		const struct str part = { row + 1, last > row + 1 ? (size_t)(last - row - 2) : 0 };
		if (!directory(s, s->root, part, at))
			continue;
		(void)snprintf(name, sizeof name, "%s/%s", strcmp(at, "/") == 0 ? "" : at, last);
		if (strchr(last, '*'))
			each(s, at, last, add_covered, 0);
		else
			add_covered(s, name, 0);
	}
}

/* The operator's patterns may be about any name. */
static bool visit(void *arg, const char *name, bool is_dir)
{
	const struct lookout *s = arg;

	if (patterns_match_name(&s->sinks->own, below(s, name), is_dir) < 0)
		return true;
	add_covered(s, name, 0);
	return false;
}

/* Of the operator's names those that were there, and those without wildcards at the top: the whole
 * workspace is searched only once. */
static void add_own(const struct lookout *s, const struct present *first)
{
	const struct patterns *own = &s->sinks->own;
	char name[PATH_MAX];

	for (size_t i = 0; i < first->count; i++) {
		const char *was = present_name(first, i);
		if (patterns_match(own, below(s, was), S_ISDIR(first->items[i].st.st_mode)) >= 0)
			add_covered(s, was, 0);
	}
	for (size_t i = 0; i < own->count; i++) {
		struct str rule = own->text[i];
		size_t plain = 0;
		rule = str_from(rule, str_starts(rule, STR("/")));
		rule = str_upto(rule, rule.n - str_ends(rule, STR("/")));
		while (plain < rule.n && !strchr("!*?[\\", rule.p[plain]))
			plain++;
		if (!rule.n || plain < rule.n)
			continue;
		(void)snprintf(name, sizeof name, "%.2000s/%.*s", s->root, STR_FMT(rule));
		if (!present_find(s->p, name))
			add_covered(s, name, 0);
	}
}

void present_scan(struct present *p, const char *root, const struct sinks *sinks,
		  const char *const *outside, size_t outside_count, const struct present *first)
{
	struct lookout s = { .p = p, .root = root, .sinks = sinks };

	p->text.max = SIZE_MAX / 2;
	buf_reset(&p->text, SIZE_MAX);
	p->count = p->git_count = 0;
	p->way_count = 0;
	p->has_git = p->full = false;
	if (first)
		scan_again(&s, first);
	else
		scan_repository(&s);
	for (size_t i = 0; !first && i < outside_count; i++) {
		scan_git(&s, outside[i]);
		scan_modules(&s, outside[i]);
	}
	scan_configs(&s, outside, outside_count);
	scan_table(&s);
	if (sinks->own.count && !first)
		p->full |= !tree_visit(root, WALK_MOST, visit, &s);
	else if (sinks->own.count)
		add_own(&s, first);
	if (p->text.failed)
		p->count = p->git_count = 0;
}

void present_done(struct present *p)
{
	buf_done(&p->text);
}

const struct present_item *present_find(const struct present *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(present_name(p, i), name) == 0)
			return &p->items[i];
	return NULL;
}
