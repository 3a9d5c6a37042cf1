/* SPDX-License-Identifier: MIT */
/* ls: the names in a directory; for models also in the directories below it. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/buf.h"
#include "guard/hidden.h"
#include "search/glob.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/scope.h"
#include "tools/tool.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

struct ls_args {
	struct str path;
	int64_t limit, offset;
};

static const struct arg ls_table[] = {
	A_STR(struct ls_args, path, "path", NONBLANK,
	      "Directory to list; the workspace root if absent"),
	A_INT(struct ls_args, limit, "limit", LIMIT_LS_ENTRIES, 1, INT64_MAX,
	      "Most names to return"),
	A_INT(struct ls_args, offset, "offset", 0, 0, INT64_MAX, "Names to leave out at the start"),
	A_END,
};

static const struct field ls_fields[] = {
	{ "output", "One name a line, \"/\" after directories", FIELD_STR },
	{ "truncation", "What was left out, if anything", FIELD_OBJECT, FIELD_OPTIONAL,
	  truncation_fields },
	F_END,
};

struct ls_entry {
	struct str name;
	uint64_t key; /* the first bytes after what all names share, in lower case */
	bool directory;
};

struct listing {
	struct call *c;
	struct ls_entry *entries;
	size_t count, room;
};

static int add(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct listing *l = arg;

	const bool fits = l->count < l->room ||
			  arena_grow(l->c->arena, &l->entries, &l->room, sizeof *l->entries);
	const struct str copy = arena_dup(l->c->arena, name);
	if (l->count % LIMIT_AT_ONCE_NAMES == LIMIT_AT_ONCE_NAMES - 1 &&
	    call_may_go_on(l->c, e) < 0)
		return -1;
	if (!fits || !copy.p)
		return err_set(e, ERR_TOO_BUSY,
			       "The directory has more names than one answer can hold");
	l->entries[l->count++] = (struct ls_entry){ .name = copy, .directory = type == DT_DIR };
	return 0;
}

/* Ignoring case, as people read lists; names that differ only in case are in byte order. */
static int by_name(const void *a, const void *b)
{
	const struct ls_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	const int order = strcasecmp(x->name.p, y->name.p);
	return order ? order : str_cmp(x->name, y->name);
}

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* The names in a directory often begin alike and differ soon after that: most comparisons only need
 * the two keys. */
static void sort(struct listing *l)
{
	const struct str first = l->count ? l->entries[0].name : STR("");
	size_t shared = first.n;

	for (size_t i = 1; i < l->count; i++) {
		const struct str name = l->entries[i].name;
		size_t n = 0;
		while (n < shared && n < name.n && lower(name.p[n]) == lower(first.p[n]))
			n++;
		shared = n;
	}
	for (size_t i = 0; i < l->count; i++) {
		const struct str rest = str_from(l->entries[i].name, shared);
		uint64_t key = 0;
		for (size_t n = 0; n < sizeof key; n++)
			key = key << 8 | (n < rest.n ? lower(rest.p[n]) : 0);
		l->entries[i].key = key;
	}
	if (l->count)
		qsort(l->entries, l->count, sizeof *l->entries, by_name);
}

/* The names from `first` on, a line each. */
static void add_names(struct call *c, const struct listing *l, const struct path *dir, size_t first,
		      size_t end, struct buf *out)
{
	char at[3 * PATH_MAX];
	const bool hides = c->shared->hidden && ws_hides_any(c->shared->ws);
	const size_t n = hides ? ws_absolute(c->shared->ws, dir, at).n : 0;

	for (size_t i = first; i < end; i++) {
		const struct ls_entry *one = &l->entries[i];
		if (i > first)
			buf_addc(out, '\n');
		buf_add(out, one->name);
		if (one->directory)
			buf_addc(out, '/');
		if (!hides)
			continue;
		(void)snprintf(at + n, sizeof at - n, "/%.*s", STR_FMT(one->name));
		if (hidden_has(c->shared->hidden, at))
			buf_add(out, STR(" (hidden)"));
	}
}

static int ls_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct ls_args *a = args;
	const int64_t limit = a->limit > 0 ? a->limit : LIMIT_LS_ENTRIES;
	struct listing l = { .c = c };
	struct path path;
	AUTO_BUF text = { .max = LIMIT_ANSWER };

	if (call_path(c, a->path.n ? a->path : STR("."), &path, e) < 0)
		return -1;
	const int dir = ws_open_dir(c->shared->ws, &path, e);
	if (dir < 0 && e->code == ERR_NOT_A_DIRECTORY)
		return err_set(e, ERR_NOT_A_DIRECTORY, "Path is not a directory");
	if (dir < 0 || ws_list(dir, add, &l, e) < 0)
		return -1;
	sort(&l);
	const size_t first = a->offset < 0		    ? 0
			     : a->offset < (int64_t)l.count ? (size_t)a->offset
							    : l.count;
	const size_t left = l.count - first;
	add_names(c, &l, &path, first, (int64_t)left < limit ? l.count : first + (size_t)limit,
		  &text);
	if (l.count == 0)
		buf_add(&text, STR("(empty directory)"));
	ret->kind = RESULT_NAMES;
	ret->names.text = arena_dup(c->arena, buf_str(&text));
	if (text.failed || !ret->names.text.p)
		return err_set(e, ERR_TOO_BUSY,
			       "The listing is too long; ask for fewer with limit");
	return 0;
}

const struct tool tool_ls = {
	.name = "ls",
	.about = "List the names in a directory.",
	.args = ls_table,
	.args_size = sizeof(struct ls_args),
	.fields = ls_fields,
	.flags = TOOL_WIRE | TOOL_READ_ONLY,
	.run = ls_run,
};

struct list_args {
	struct str path, pattern, cursor;
	bool recursive;
	int64_t max_bytes;
};

static const struct arg list_table[] = {
	A_STR(struct list_args, path, "path", REQUIRED, "Directory, . for the workspace"),
	A_BOOL(struct list_args, recursive, "recursive", false,
	       "Also what is below, 5 levels deep"),
	A_STR(struct list_args, pattern, "pattern", NONBLANK, "Glob for names: *.py"),
	A_STR(struct list_args, cursor, "cursor", RARE, "Goes on from an earlier result"),
	A_INT_FLAGS(struct list_args, max_bytes, "max_bytes", RARE, 0, LIMIT_RESULT_LEAST,
		    LIMIT_RESULT_MOST, "Largest result"),
	A_END,
};

const char *const found_types[] = { "file", "directory", "symlink", "other", NULL };

static const struct field entry_fields[] = {
	{ "name", "Path relative to the listed directory", FIELD_STR },
	{ "type", "What it is; links are not followed", FIELD_STR, .choices = found_types },
	{ "size", "Bytes", FIELD_INT },
	F_END,
};

static const struct field list_skipped_fields[] = {
	{ "ignored", "Entries left out because of .gitignore; a directory counts once", FIELD_INT },
	{ "hidden", "Entries called .git", FIELD_INT },
	{ "unreadable", "Entries that could not be read", FIELD_INT },
	{ "directories", "Directories that tools fill", FIELD_OBJECT, FIELD_LIST | FIELD_OPTIONAL,
	  filled_fields },
	F_END,
};

static const struct field list_fields[] = {
	{ "entries", "In byte order of their names", FIELD_OBJECT, FIELD_LIST, entry_fields },
	{ "total", "Entries returned", FIELD_INT },
	{ "path", "The directory, relative to the workspace", FIELD_STR },
	{ "truncated", "Whether there are more entries", FIELD_BOOL },
	{ "skipped", "What was left out, if anything", FIELD_OBJECT, FIELD_OPTIONAL,
	  list_skipped_fields },
	{ "more_in", "Where there are more, if the entries are spread over all directories",
	  FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "next_cursor", "Give this as cursor to continue", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

static int list_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct list_args *a = args;
	AUTO_SCOPE scope = SCOPE_NONE;

	call_limit(c, a->max_bytes);
	if (scope_open(c, a->path, a->cursor, true, &scope, e) < 0)
		return -1;
	struct scope_names names = { c, scope.prefix };
	/* One more than is shown, to know whether there are more. */
	struct find_request request = {
		.where = scope_walk(c, &scope, LIMIT_LIST_ENTRIES + 1),
		.pattern = a->pattern,
		.sizes = true,
		.hides = c->shared->hidden && ws_hides_any(c->shared->ws) ? scope_hides : NULL,
		.hides_arg = &names,
	};
	/* A directory is shown as it is. In a tree, what the ignore rules hide would fill the
	 * answer. */
	request.where.all = !a->recursive;
	request.where.skip_filled = a->recursive;
	request.where.spread = !a->cursor.n;
	request.where.max_depth = a->recursive ? LIMIT_LIST_DEPTH + 1 : 1;
	ret->kind = RESULT_FOUND;
	ret->found = (struct found_result){
		.show = FOUND_TREE,
		.limit = LIMIT_LIST_ENTRIES,
		.path = scope.shown,
		.scope = scope.prefix,
		.spread = request.where.spread,
		.by_name = a->pattern.n,
	};
	if (find_run(&request, &ret->found.found, e) < 0)
		return -1;
	return scope_check_found(c, &ret->found.found, e);
}

const struct tool tool_list_directory = {
	.name = "list_directory",
	.title = "List directory",
	.about = "List a directory with sizes, or a tree without node_modules and the like and "
		 "what .gitignore hides. Use it instead of ls and tree.",
	.args = list_table,
	.args_size = sizeof(struct list_args),
	.fields = list_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SLOW | TOOL_WORKS,
	.slow_with = "recursive",
	.run = list_run,
};
