/* SPDX-License-Identifier: MIT */
/* suggest: look at the names beside a path, then at all names of the workspace. */

#include "tools/suggest.h"

#include "base/arena.h"
#include "base/str.h"
#include "base/own.h"
#include "search/walk.h"
#include "tools/limits.h"
#include "workspace/workspace.h"

/* The path of the directory, "" for the one that the path is relative to, and the name in it. */
static struct str split(struct str path, struct str *name)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	const size_t at = slash ? (size_t)(slash - path.p) : 0;

	*name = slash ? str_from(path, at + 1) : path;
	return str_upto(path, at);
}

/* The sentence before ends with a path, as clients of the existing contract know it. */
static void advise(struct err *e, struct str dir, struct str name)
{
	const size_t n = strlen(e->msg);

	if (n + 1 < sizeof e->msg) {
		e->msg[n] = '.';
		e->msg[n + 1] = '\0';
	}
	(void)err_advise(e, "Did you mean %.*s%s%.*s?", STR_FMT(dir), dir.n ? "/" : "",
			 STR_FMT(name));
}

struct names {
	struct near near;
	struct arena arena; /* of the names */
	size_t left;	    /* how many more are looked at */
};

static void names_done(struct names *n)
{
	arena_done(&n->arena);
}

static int look_at(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct names *n = arg;
	const char *copy = n->left > 0 ? arena_dup(&n->arena, name).p : NULL;

	(void)type;
	if (!copy)
		return err_set(e, ERR_TOO_BUSY, "There are too many names");
	near_try(&n->near, copy);
	n->left--;
	return 0;
}

static bool suggest_sibling(const struct call *c, struct str dir, struct str name, struct err *e)
{
	CLEANUP(names_done)
	struct names names = { .near = near_to(name),
			       .arena = { .max = 1 << 20 },
			       .left = LIMIT_SUGGEST_NAMES };
	struct path path;
	struct err ignored;

	if (call_path(c, dir.n ? dir : STR("."), &path, &ignored) < 0)
		return false;
	const int fd = ws_open_dir(c->shared->ws, &path, &ignored);
	const bool listed = fd >= 0 && ws_list(fd, look_at, &names, &ignored) == 0;
	if (listed && names.near.best)
		advise(e, dir, str_of(names.near.best));
	return listed && names.near.best;
}

struct lookup {
	struct str name;
	int64_t left; /* how many more entries are looked at */
};

static unsigned visit(void *search, const struct walk_entry *entry, struct walk_account *account)
{
	struct lookup *l = search;

	(void)account;
	if (l->left-- <= 0)
		return 0;
	return (str_eq(entry->name, l->name) ? WALK_REPORT : 0) |
	       (entry->type == HIT_DIRECTORY ? WALK_DESCEND : 0);
}

static void report(void *search, const struct walk_entry *entry, struct hits *hits)
{
	(void)search;
	hits_begin(hits, entry->type, STR(""), entry->path);
	hits_end(hits, 0, 0, 0);
}

static void suggest_elsewhere(const struct call *c, struct str name, struct err *e)
{
	struct lookup lookup = { .name = name, .left = LIMIT_SUGGEST_WALK };
	const struct walk_visitor visitor = { .search = &lookup, .entry = visit, .report = report };
	AUTO_FOUND found = { 0 };
	struct hits_reader reader = { .hits = &found.hits };
	struct path root;
	struct err ignored;
	struct hit hit;

	if (call_path(c, STR("."), &root, &ignored) < 0)
		return;
	AUTO_FD dir = ws_open_dir(c->shared->ws, &root, &ignored);
	const struct walk_request request = {
		.dirfd = dir,
		.excludes = c->shared->excludes,
		.threads = 1, /* the visitor counts without a lock */
		.deadline_ms = call_deadline(c),
		.cancel = c->cancel,
		.limit = 2,
	};
	if (dir < 0 || walk_run(&request, &visitor, &found, &ignored) < 0 || lookup.left < 0)
		return;
	if (found.hits.count == 1 && found.account.stopped == WALK_COMPLETE &&
	    hits_next(&reader, &hit))
		advise(e, STR(""), hit.path);
}

void suggest_path(const struct call *c, struct str requested, struct err *e)
{
	char shown[2 * PATH_MAX];
	struct path path;
	struct err ignored;
	struct str name;

	/* Nobody waits for a guess. */
	if (!requested.n || call_path(c, requested, &path, &ignored) < 0 || !call_may_work(c))
		return;
	const struct str dir = split(ws_display(c->shared->ws, &path, shown), &name);
	if (name.n && !suggest_sibling(c, dir, name, e))
		suggest_elsewhere(c, name, e);
}
