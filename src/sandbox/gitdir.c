/* SPDX-License-Identifier: MIT */
/* gitdir: follow `.git`, look for the way back; and the names that git writes. */

#include "sandbox/gitdir.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "base/str.h"
#include "sandbox/canonical.h"

enum { CONFIG_ROOM = 64 << 10 };

/* The content of a small regular file, without the line's end. */
static struct str read_small(const char *dir, const char *name, char *room, size_t size)
{
	char path[PATH_MAX];
	struct stat st;
	const struct str none = { room, 0 };

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return none;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return none;
	ssize_t n = io_read_full(fd, room, size);
	while (n > 0 && (room[n - 1] == '\n' || room[n - 1] == '\r'))
		n--;
	return (struct str){ room, n > 0 ? (size_t)n : 0 };
}

/* Where a path leads that is absolute, or relative to a directory. */
static bool resolve(const char *dir, struct str path, char ret[PATH_MAX])
{
	char text[2 * PATH_MAX];

	if (path.n == 0 || path.n >= PATH_MAX || str_index(path, '\0') >= 0)
		return false;
	(void)snprintf(text, sizeof text, "%s%s%.*s", path.p[0] == '/' ? "" : dir,
		       path.p[0] == '/' ? "" : "/", STR_FMT(path));
	return canonical_name(text, NULL, ret);
}

static bool has(const char *dir, const char *name, mode_t type)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path &&
	       stat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

/* Does a file in a git directory name `dir`/.git? */
static bool points_to(const char *git, const char *dir)
{
	char room[PATH_MAX], found[PATH_MAX], wanted[PATH_MAX];

	return resolve(git, read_small(git, "gitdir", room, sizeof room), found) &&
	       resolve(dir, STR(".git"), wanted) && strcmp(found, wanted) == 0;
}

static bool is_worktree(const char *dir, struct gitdir *g)
{
	char room[PATH_MAX], parent[PATH_MAX], place[PATH_MAX + 16];

	if (!resolve(g->own, read_small(g->own, "commondir", room, sizeof room), g->common) ||
	    !resolve(g->own, STR(".."), parent))
		return false;
	(void)snprintf(place, sizeof place, "%s/worktrees", g->common);
	return strcmp(parent, place) == 0 && points_to(g->own, dir);
}

/* The value of core.worktree. */
static struct str worktree_of(struct str config)
{
	struct str line, key, value, found = { NULL, 0 };
	bool core = false;

	while (config.n) {
		(void)str_cut(config, '\n', &line, &config);
		line = str_trim(line);
		if (line.n && line.p[0] == '[')
			core = str_eq(line, STR("[core]"));
		if (core && str_cut(line, '=', &key, &value) &&
		    str_eq(str_trim(key), STR("worktree")))
			found = str_trim(value);
	}
	return found;
}

static bool is_submodule(const char *dir, struct gitdir *g)
{
	char room[CONFIG_ROOM] UNINITIALISED, found[PATH_MAX];
	const struct str config = read_small(g->own, "config", room, sizeof room);

	memcpy(g->common, g->own, sizeof g->common);
	return !has(g->own, "commondir", S_IFREG) && has(g->own, "config", S_IFREG) &&
	       resolve(g->own, worktree_of(config), found) && strcmp(found, dir) == 0;
}

void gitdir_find(const char *dir, struct gitdir *ret)
{
	char room[PATH_MAX], path[PATH_MAX];
	struct stat st;

	*ret = (struct gitdir){ .kind = GITDIR_NONE };
	if (snprintf(path, sizeof path, "%s/.git", dir) >= (int)sizeof path || lstat(path, &st) < 0)
		return;
	if (S_ISLNK(st.st_mode)) {
		const bool inside = canonical_name(path, NULL, room) && canonical_is_in(room, dir);
		ret->kind = inside ? GITDIR_NONE : GITDIR_FOREIGN;
		return;
	}
	const struct str text = read_small(dir, ".git", room, sizeof room);
	if (!str_starts(text, STR("gitdir: ")) || !resolve(dir, str_from(text, 8), ret->own) ||
	    canonical_is_in(ret->own, dir))
		return;
	ret->kind = is_worktree(dir, ret)    ? GITDIR_WORKTREE
		    : is_submodule(dir, ret) ? GITDIR_SUBMODULE
					     : GITDIR_FOREIGN;
	if (ret->kind != GITDIR_FOREIGN &&
	    (!has(ret->own, "HEAD", S_IFREG) || !has(ret->common, "HEAD", S_IFREG) ||
	     !has(ret->common, "objects", S_IFDIR)))
		ret->kind = GITDIR_FOREIGN;
}

void gitdir_describe(const struct gitdir *g, const char *dir, char *out, size_t size)
{
	char of[PATH_MAX], up[PATH_MAX] = "";
	size_t same = 0, n;

	/* The directory with the files of the repository; of a bare one, itself. */
	(void)snprintf(of, sizeof of, "%s", g->common);
	char *end = strstr(of, "/.git/modules/");
	if (!end && strlen(of) > 5 && strcmp(of + strlen(of) - 5, "/.git") == 0)
		end = of + strlen(of) - 5;
	if (end)
		*end = '\0';
	for (size_t i = 0; of[i] == dir[i] || (!of[i] && dir[i] == '/'); i++) {
		if ((of[i] == '/' || !of[i]) && (dir[i] == '/' || !dir[i]))
			same = i;
		if (!of[i] || !dir[i])
			break;
	}
	for (const char *at = dir + same; (at = strchr(at, '/')); at++)
		(void)strncat(up, "../", sizeof up - strlen(up) - 1);
	(void)snprintf(out, size, "%s of %s%s",
		       g->kind == GITDIR_WORKTREE ? "linked worktree" : "submodule", up,
		       of[same] == '/' ? of + same + 1 : of + same);
	n = strnlen(out, size);
	if (n && out[n - 1] == '/')
		out[n - 1] = '\0';
}

/* Directories of which everything may be written, and files directly in a common directory. */
static const char *const free_dirs[] = {
	"objects", "refs", "logs", "lfs", "sequencer", "rebase-*"
};
static const char *const free_files[] = { "packed-refs*", "index*",   "HEAD*",
					  "*_HEAD*",	  "shallow*", "gc.pid*" };

/* What says which programs run, and where the other directories are. */
static const char *const kept_names[] = { "hooks*",   "config*", "commondir*", "gitdir*",
					  "modules*", "info*",	 "worktrees*" };

/* Git writes its configuration there first; what becomes of it is judged (supervise/guardian.h). */
static bool is_config_lock(const char *name)
{
	return strcmp(name, "config.lock") == 0 || strcmp(name, "config.worktree.lock") == 0;
}

static bool matches(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

static enum gitdir_use rule_of_info(const char *rest)
{
	if (!*rest)
		return GITDIR_DIRECTORY;
	const bool is_known =
		strncmp(rest, "refs", 4) == 0 || strncmp(rest, "sparse-checkout", 15) == 0;
	return is_known && !strchr(rest, '/') ? GITDIR_WRITE : GITDIR_READ;
}

/* Below `modules`: the git directories of submodules, whose names may have slashes. */
static enum gitdir_use rule_of_module(const char *below)
{
	static const char *const names[] = { "hooks", "info", "config", "config.worktree",
					     "commondir" };
	enum gitdir_use use = GITDIR_MODULE;
	const char *part = below;

	while (use == GITDIR_MODULE && (part = strchr(part, '/'))) {
		const size_t n = strcspn(++part, "/");
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (strlen(names[i]) == n && strncmp(part, names[i], n) == 0)
				use = i < 2 && !part[n] ? GITDIR_DIRECTORY : GITDIR_READ;
	}
	/* Git copies examples. */
	const bool is_free = fnmatch("*/hooks/*.sample", below, 0) == 0 ||
			     (fnmatch("*/info/*", below, 0) == 0 &&
			      strcmp(strrchr(below, '/'), "/attributes") != 0);
	return use == GITDIR_READ && is_free ? GITDIR_MODULE : use;
}

/* Another worktree's directory: its files are here, or it has none yet. */
static enum gitdir_use rule_of_worktree(const char *common, const char *workspace, struct str name)
{
	char git[PATH_MAX], room[PATH_MAX], text[PATH_MAX];

	if (snprintf(git, sizeof git, "%s/worktrees/%.*s", common, STR_FMT(name)) >= PATH_MAX)
		return GITDIR_READ;
	if (!has(git, "gitdir", S_IFREG))
		return GITDIR_WRITE;
	const struct str files = read_small(git, "gitdir", room, sizeof room);
	(void)snprintf(text, sizeof text, "%.*s", STR_FMT(files));
	return files.n && canonical_is_in(text, workspace) && !strstr(text, "/../") ? GITDIR_WRITE
										    : GITDIR_READ;
}

static enum gitdir_use rule_of_common(const char *common, const char *workspace, const char *below)
{
	struct str first, rest;
	char name[NAME_MAX + 1];
	const bool deeper = str_cut(str_of(below), '/', &first, &rest);

	(void)snprintf(name, sizeof name, "%.*s", STR_FMT(first));
	if (strcmp(name, "info") == 0)
		return rule_of_info(deeper ? rest.p : "");
	if (strcmp(name, "worktrees") == 0) {
		if (!deeper)
			return GITDIR_DIRECTORY;
		(void)str_cut(rest, '/', &first, &rest);
		return rule_of_worktree(common, workspace, first);
	}
	if (matches(name, free_dirs, ARRAY_LEN(free_dirs)) ||
	    (!deeper && (matches(name, free_files, ARRAY_LEN(free_files)) || is_config_lock(name))))
		return GITDIR_WRITE;
	return GITDIR_READ;
}

enum gitdir_use gitdir_rule(const char *own, const char *common, const char *workspace,
			    const char *name)
{
	char first[NAME_MAX + 1];

	if (strcmp(name, own) == 0 || strcmp(name, common) == 0 || !canonical_is_in(name, common))
		return GITDIR_READ;
	if (!canonical_is_in(name, own))
		return rule_of_common(common, workspace, name + strlen(common) + 1);
	const char *below = name + strlen(own) + 1;
	(void)snprintf(first, sizeof first, "%.*s", (int)strcspn(below, "/"), below);
	if (!matches(first, kept_names, ARRAY_LEN(kept_names)) || is_config_lock(below))
		return GITDIR_WRITE;
	if (strcmp(first, "modules") == 0)
		return below[7] ? rule_of_module(below + 8) : GITDIR_DIRECTORY;
	if (strcmp(first, "info") == 0 || strcmp(own, common) == 0)
		return rule_of_common(common, workspace, below);
	return GITDIR_READ;
}
