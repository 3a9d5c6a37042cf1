/* SPDX-License-Identifier: MIT */
/* ls: the names in a directory. */

#include <dirent.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "tools/tool.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

struct ls_args {
	struct str path;
	int64_t limit;
};

static const struct arg ls_table[] = {
	A_STR(struct ls_args, path, "path", NONBLANK,
	      "Directory to list; the workspace root if absent"),
	A_INT(struct ls_args, limit, "limit", LIMIT_LS_ENTRIES, 1, INT64_MAX,
	      "Most names to return"),
	A_END,
};

struct entry {
	struct str name;
	bool directory;
};

struct listing {
	struct arena *arena;
	struct entry *entries;
	size_t count, room;
};

static int add(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct listing *l = arg;

	if (l->count == l->room) {
		const size_t room = l->room ? l->room * 2 : 64;
		struct entry *more = arena_alloc(l->arena, room * sizeof *more);
		if (!more)
			return err_set(e, ERR_TOO_BUSY,
				       "The directory has more names than one answer can hold");
		if (l->count)
			memcpy(more, l->entries, l->count * sizeof *more);
		l->entries = more;
		l->room = room;
	}
	const struct str copy = arena_dup(l->arena, name);
	if (!copy.p)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to list the directory");
	l->entries[l->count++] = (struct entry){ copy, type == DT_DIR };
	return 0;
}

/* Without case, as people read lists; names that differ only in case in byte order. */
static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	const int order = strcasecmp(x->name.p, y->name.p);

	return order ? order : str_cmp(x->name, y->name);
}

static int ls_run(struct call *c, const void *args, struct err *e)
{
	const struct ls_args *a = args;
	const int64_t limit = a->limit > 0 ? a->limit : LIMIT_LS_ENTRIES;
	struct listing l = { .arena = c->arena };
	struct path path;
	struct text t;
	AUTO_BUF text = { .max = LIMIT_ANSWER };

	if (call_path(c, a->path.n ? a->path : STR("."), &path, e) < 0)
		return -1;
	const int dir = ws_open_dir(c->ws, &path, e);
	if (dir < 0 && e->code == ERR_NOT_A_DIRECTORY)
		return err_set(e, ERR_NOT_A_DIRECTORY, "Path is not a directory");
	if (dir < 0 || ws_list(dir, add, &l, e) < 0)
		return -1;
	if (l.count)
		qsort(l.entries, l.count, sizeof *l.entries, by_name);
	for (size_t i = 0; i < l.count && (int64_t)i < limit; i++) {
		if (i)
			buf_addc(&text, '\n');
		buf_add(&text, l.entries[i].name);
		if (l.entries[i].directory)
			buf_addc(&text, '/');
	}
	if (text.failed)
		return err_set(e, ERR_TOO_BUSY,
			       "The listing is too long; ask for fewer with limit");
	if (l.count == 0)
		buf_add(&text, STR("(empty directory)"));
	text_cut_head(buf_str(&text), LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES, &t);
	jw_str(c->out, "output", t.content);
	if (t.cut != TEXT_WHOLE)
		text_write_truncation(c->out, "truncation", &t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}

const struct tool tool_ls = {
	.name = "ls",
	.about = "List the names in a directory.",
	.args = ls_table,
	.args_size = sizeof(struct ls_args),
	.flags = TOOL_WIRE,
	.run = ls_run,
};
