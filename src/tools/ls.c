/* SPDX-License-Identifier: MIT */
/* ls: what is in a directory; for models also in those below. */

#include <dirent.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "search/find.h"
#include "tools/scope.h"
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

struct list_args {
	struct str path, pattern;
	bool recursive;
};

static const struct arg list_table[] = {
	A_STR(struct list_args, path, "path", REQUIRED, "Directory; \".\" is the workspace"),
	A_BOOL(struct list_args, recursive, "recursive", false,
	       "Also what is in directories below, 5 deep"),
	A_STR(struct list_args, pattern, "pattern", NONBLANK, "Only names that fit this glob"),
	A_END,
};

static const char *const entry_types[] = { "file", "directory", "symlink", "other", NULL };

static const struct field entry_fields[] = {
	{ "name", "Path relative to the listed directory", FIELD_STR },
	{ "type", "What it is; links are not followed", FIELD_STR, .choices = entry_types },
	{ "size", "Bytes", FIELD_INT },
	F_END,
};

static const struct field list_skipped_fields[] = {
	{ "ignored", "Entries left out because of .gitignore; a directory counts once", FIELD_INT },
	{ "hidden", "Entries called .git", FIELD_INT },
	{ "unreadable", "Entries that could not be read", FIELD_INT },
	F_END,
};

static const struct field list_fields[] = {
	{ "entries", "In byte order of their names", FIELD_OBJECT, FIELD_LIST, entry_fields },
	{ "total", "Entries returned", FIELD_INT },
	{ "path", "The directory, relative to the workspace", FIELD_STR },
	{ "truncated", "Whether there are more entries", FIELD_BOOL },
	{ "skipped", "What was left out, if anything", FIELD_OBJECT, FIELD_OPTIONAL,
	  list_skipped_fields },
	F_END,
};

static void write_entries(struct jw *w, const struct hits *hits)
{
	struct hits_reader reader = { .hits = hits };
	struct hit hit;

	jw_array(w, "entries");
	for (int i = 0; i < LIMIT_LIST_ENTRIES && hits_next(&reader, &hit); i++) {
		const bool dir = hit.type == HIT_DIRECTORY;
		jw_object(w, NULL);
		jw_str(w, "name", str_upto(hit.path, hit.path.n - dir));
		jw_str(w, "type", str_of(entry_types[hit.type]));
		jw_int(w, "size", hit.value);
		jw_end(w);
	}
	jw_end(w);
}

static void write_skipped(struct jw *w, const struct walk_account *account)
{
	if (!account->ignored && !account->hidden && !account->unreadable)
		return;
	jw_object(w, "skipped");
	jw_int(w, "ignored", account->ignored);
	jw_int(w, "hidden", account->hidden);
	jw_int(w, "unreadable", account->unreadable);
	jw_end(w);
}

static int list_run(struct call *c, const void *args, struct err *e)
{
	const struct list_args *a = args;
	AUTO_SCOPE scope = { .dir = -1, .file = -1 };
	AUTO_FOUND found = { 0 };

	if (scope_open(c, a->path, true, &scope, e) < 0)
		return -1;
	/* One more than is shown tells whether there are more. */
	struct find_request request = {
		.where = scope_walk(c, &scope, LIMIT_LIST_ENTRIES + 1),
		.pattern = a->pattern,
		.sizes = true,
	};
	/* A directory is shown as it is; of a tree what the ignore rules hide would fill the
	 * answer. */
	request.where.all = !a->recursive;
	request.where.threads = a->recursive ? c->threads : 1;
	request.where.max_depth = a->recursive ? LIMIT_LIST_DEPTH + 1 : 1;
	if (find_run(&request, &found, e) < 0)
		return -1;
	const bool more = found.hits.count > LIMIT_LIST_ENTRIES;
	write_entries(c->out, &found.hits);
	jw_int(c->out, "total", more ? LIMIT_LIST_ENTRIES : (int64_t)found.hits.count);
	jw_str(c->out, "path", scope.shown);
	jw_bool(c->out, "truncated", more || found.account.stopped != WALK_COMPLETE);
	write_skipped(c->out, &found.account);
	return 0;
}

const struct tool tool_list_directory = {
	.name = "list_directory",
	.title = "List directory",
	.about = "List up to 500 entries of a directory. A recursive listing leaves out what "
		 ".gitignore hides.",
	.args = list_table,
	.args_size = sizeof(struct list_args),
	.fields = list_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SLOW,
	.run = list_run,
};
