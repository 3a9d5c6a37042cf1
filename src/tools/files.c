/* SPDX-License-Identifier: MIT */
/* files: the operations of the workspace, one call each. */

#include "tools/files.h"

#include <stdio.h>
#include <stdlib.h>

#include "workspace/replace.h"
#include "workspace/workspace.h"

int files_stat(const struct call *c, struct str path, struct stat *st, struct err *e)
{
	struct path p;

	return call_path(c, path, &p, e) < 0 ? -1 : ws_stat(c->ws, &p, st, e);
}

int files_open(const struct call *c, struct str path, struct stat *st, struct err *e)
{
	struct path p;

	return call_path(c, path, &p, e) < 0 ? -1 : ws_open_file(c->ws, &p, st, e);
}

/* A listing under way. */
struct lister {
	const struct call *c;
	const struct path *dir;
	struct file_list *list;
};

static int add(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct lister *l = arg;
	struct file_list *list = l->list;
	struct path p = { .base = l->dir->base };
	struct err why;
	struct stat st;
	const int n = snprintf(p.name, sizeof p.name, "%s%s%.*s", l->dir->name,
			       *l->dir->name ? "/" : "", STR_FMT(name));

	(void)type;
	/* What vanished, leads nowhere or leads out is not there for the caller. */
	if (n < 0 || (size_t)n >= sizeof p.name || ws_stat(l->c->ws, &p, &st, &why) < 0)
		return 0;
	if (list->count == list->room)
		list->entries =
			arena_grow(l->c->arena, list->entries, &list->room, sizeof *list->entries);
	const struct str copy = arena_dup(l->c->arena, name);
	if (!list->entries || !copy.p)
		return err_set(e, ERR_TOO_BUSY,
			       "The directory has more names than one answer can hold");
	list->entries[list->count++] = (struct file_entry){ copy, st };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct file_entry *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

int files_list(const struct call *c, struct str path, struct file_list *ret, struct err *e)
{
	struct path p;
	struct lister l = { .c = c, .dir = &p, .list = ret };

	*ret = (struct file_list){ 0 };
	if (call_path(c, path, &p, e) < 0)
		return -1;
	const int dir = ws_open_dir(c->ws, &p, e);
	if (dir < 0 || ws_list(dir, add, &l, e) < 0)
		return -1;
	if (ret->count)
		qsort(ret->entries, ret->count, sizeof *ret->entries, by_name);
	return 0;
}

int files_put(const struct call *c, struct str path, struct str content, int mode, struct err *e)
{
	const unsigned flags =
		REPLACE_MAKE_DIRS | (c->sync ? REPLACE_SYNC : 0) | (mode >= 0 ? REPLACE_MODE : 0);
	AUTO_REPLACE r = REPLACE_NONE;
	struct path p;

	if (call_may_change(c, e) < 0 || call_path(c, path, &p, e) < 0 ||
	    replace_begin(c->ws, &p, flags, &r, e) < 0)
		return -1;
	r.mode = (mode_t)mode;
	return replace_commit(&r, content, e);
}

int files_remove(const struct call *c, struct str path, bool tree, struct err *e)
{
	struct path p;

	if (call_may_change(c, e) < 0 || call_path(c, path, &p, e) < 0)
		return -1;
	return ws_remove(c->ws, &p, tree, e);
}
