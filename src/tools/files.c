/* SPDX-License-Identifier: MIT */
/* files: whole files as bytes, for the routes of agent-sandbox: upload, download, list. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tools/limits.h"
#include "tools/result.h"
#include "tools/seen.h"
#include "tools/tool.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

struct files_args {
	struct str path;
	struct str content; /* bytes of any kind */
	int64_t mode;	    /* permissions; -1: the file keeps its own */
};

static const struct arg path_table[] = {
	A_STR(struct files_args, path, "path", 0, "Which file or directory"),
	A_END,
};

static const struct arg exists_table[] = {
	A_STR(struct files_args, path, "path", REQUIRED, "Which file or directory"),
	A_END,
};

static const struct field exists_fields[] = {
	{ "path", "As it was asked for", FIELD_STR },
	{ "exists", "Whether there is such a file or directory", FIELD_BOOL },
	F_END,
};

static const struct arg put_table[] = {
	A_STR(struct files_args, path, "path", 0, "Which file"),
	A_STR(struct files_args, content, "content", 0, "Its new bytes"),
	A_INT(struct files_args, mode, "mode", -1, -1, 0777, "Its permissions"),
	A_END,
};

static int put(const struct call *c, const struct files_args *a, struct err *e)
{
	const unsigned flags = REPLACE_MAKE_DIRS | (c->shared->sync ? REPLACE_SYNC : 0) |
			       (a->mode >= 0 ? REPLACE_MODE : 0);
	AUTO_REPLACE r = REPLACE_NONE;
	struct path p;

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &p, e) < 0 ||
	    replace_begin(c->shared->ws, c->witness, &p, flags, &r, e) < 0 ||
	    seen_may_overwrite(c, &p, &r, e) < 0)
		return -1;
	r.mode = (mode_t)a->mode;
	if (replace_commit(&r, a->content, e) < 0)
		return -1;
	seen_wrote(c, &p, a->content, true);
	return 0;
}

static int upload_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct files_args *a = args;

	ret->kind = RESULT_SENTENCE;
	ret->sentence = (struct sentence){ "File '", a->path, "' uploaded successfully." };
	return put(c, a, e);
}

static int put_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	return put(c, args, e);
}

/* Leave the file open for the front end. A slow client occupies its thread while it reads. */
static int open_file(struct call *c, const struct path *p, struct result *ret, struct err *e)
{
	ret->kind = RESULT_FILE;
	ret->file.fd = ws_open_file(c->shared->ws, p, &ret->file.st, e);
	return ret->file.fd < 0 ? -1 : call_before_slow(c, e);
}

static int download_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct files_args *a = args;
	struct path p;

	if (call_path(c, a->path, &p, e) < 0)
		return -1;
	if (open_file(c, &p, ret, e) == 0)
		return 0;
	return e->code == ERR_NOT_A_FILE ? err_set(e, ERR_FILE_NOT_FOUND, "File not found") : -1;
}

/* The entries of a directory, in the call's arena. */
struct file_list {
	struct call *c;
	const struct path *dir;
	struct file_entry *entries;
	size_t count, room;
};

/* A link is described by its target. One that leads nowhere, or out of the workspace, is left out,
 * and so is a file that has vanished. */
static int add_entry(void *arg, struct str name, unsigned char type, struct err *e)
{
	struct file_list *l = arg;
	struct path p = { .base = l->dir->base };
	struct err why;
	struct stat st;
	const int n = snprintf(p.name, sizeof p.name, "%s%s%.*s", l->dir->name,
			       *l->dir->name ? "/" : "", STR_FMT(name));

	(void)type;
	if (l->count % LIMIT_AT_ONCE_NAMES == LIMIT_AT_ONCE_NAMES - 1 &&
	    call_may_go_on(l->c, e) < 0)
		return -1;
	if (n < 0 || (size_t)n >= sizeof p.name || ws_stat(l->c->shared->ws, &p, &st, &why) < 0)
		return 0;
	const bool fits = l->count < l->room ||
			  arena_grow(l->c->arena, &l->entries, &l->room, sizeof *l->entries);
	const struct str copy = arena_dup(l->c->arena, name);
	if (!fits || !copy.p)
		return err_set(e, ERR_TOO_BUSY,
			       "The directory has more names than one answer can hold");
	l->entries[l->count++] = (struct file_entry){ copy, st, 1 };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct file_entry *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

/* List the directory. `described`: with its path, and all that is known of each entry. */
static int list(struct call *c, const struct path *dir, bool described, struct result *ret,
		struct err *e)
{
	struct file_list l = { .c = c, .dir = dir };
	const int fd = ws_open_dir(c->shared->ws, dir, e);

	if (fd < 0 || ws_list(fd, add_entry, &l, e) < 0)
		return -1;
	if (l.count)
		qsort(l.entries, l.count, sizeof *l.entries, by_name);
	ret->kind = RESULT_ENTRIES;
	ret->entries = (struct entries){
		.list = l.entries,
		.count = l.count,
		.described = described,
	};
	return 0;
}

static int list_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct files_args *a = args;
	struct path p;

	return call_path(c, a->path, &p, e) < 0 ? -1 : list(c, &p, false, ret, e);
}

static int exists_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct files_args *a = args;
	struct path p;
	struct stat st;
	struct err why;
	const bool found =
		call_path(c, a->path, &p, &why) == 0 && ws_stat(c->shared->ws, &p, &st, &why) == 0;

	if (!found && why.code != ERR_FILE_NOT_FOUND && why.code != ERR_NOT_A_DIRECTORY) {
		*e = why;
		return -1;
	}
	return result_say(ret,
			  (struct json[]){ json_of_str(STR("path"), a->path),
					   json_of_bool(STR("exists"), found) },
			  2);
}

static int get_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct files_args *a = args;
	struct path p;
	struct stat st;

	if (call_path(c, a->path, &p, e) < 0 || ws_stat(c->shared->ws, &p, &st, e) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		return open_file(c, &p, ret, e);
	if (list(c, &p, true, ret, e) < 0)
		return -1;
	ret->entries.path = a->path;
	return 0;
}

#define FILE_TOOL(id, text, table, function, more)                                                 \
	{                                                                                          \
		.name = (id), .about = (text), .args = (table),                                    \
		.args_size = sizeof(struct files_args), .flags = TOOL_ROUTE | (more),              \
		.run = (function)                                                                  \
	}

const struct tool tool_upload = FILE_TOOL(
	"upload", "Replace a file, or make it with its directories.", put_table, upload_run, 0);
const struct tool tool_download =
	FILE_TOOL("download", "The bytes of a file.", path_table, download_run, TOOL_READ_ONLY);
/* The items of an array that the front end has opened. */
const struct tool tool_list =
	FILE_TOOL("list", "The entries of a directory.", path_table, list_run, TOOL_READ_ONLY);
const struct tool tool_exists = {
	.name = "exists",
	.about = "Whether there is such a file or directory. A link that leads nowhere is none.",
	.args = exists_table,
	.args_size = sizeof(struct files_args),
	.fields = exists_fields,
	.flags = TOOL_WIRE | TOOL_ROUTE | TOOL_READ_ONLY,
	.run = exists_run,
};
const struct tool tool_get_file =
	FILE_TOOL("get_file", "The bytes of a file, or the entries of a directory.", path_table,
		  get_run, TOOL_READ_ONLY);
const struct tool tool_put_file = FILE_TOOL(
	"put_file", "Replace a file, or make it with its directories.", put_table, put_run, 0);
