/* SPDX-License-Identifier: MIT */
/* files: whole files as bytes, for the routes of agent-sandbox: upload, download, list, remove. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/own.h"
#include "base/utc.h"
#include "tools/limits.h"
#include "tools/tool.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

struct files_args {
	struct str path;
	struct str content; /* bytes of any kind */
	int64_t mode;	    /* permissions; -1: the file keeps its own */
	bool recursive;
};

static const struct arg path_table[] = {
	A_STR(struct files_args, path, "path", 0, "Which file or directory"),
	A_END,
};

static const struct arg put_table[] = {
	A_STR(struct files_args, path, "path", 0, "Which file"),
	A_STR(struct files_args, content, "content", 0, "Its new bytes"),
	A_INT(struct files_args, mode, "mode", -1, -1, 0777, "Its permissions"),
	A_END,
};

static const struct arg remove_table[] = {
	A_STR(struct files_args, path, "path", 0, "Which file or directory"),
	A_BOOL(struct files_args, recursive, "recursive", false, "With everything in it"),
	A_END,
};

static int put(const struct call *c, const struct files_args *a, struct err *e)
{
	const unsigned flags = REPLACE_MAKE_DIRS | (c->sync ? REPLACE_SYNC : 0) |
			       (a->mode >= 0 ? REPLACE_MODE : 0);
	AUTO_REPLACE r = REPLACE_NONE;
	struct path p;

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &p, e) < 0 ||
	    replace_begin(c->ws, c->witness, &p, flags, &r, e) < 0)
		return -1;
	r.mode = (mode_t)a->mode;
	return replace_commit(&r, a->content, e);
}

static int upload_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct files_args *a = args;

	if (put(c, a, e) < 0)
		return -1;
	jw_open_str(c->out, "message");
	jw_piece(c->out, STR("File '"));
	jw_piece(c->out, a->path);
	jw_piece(c->out, STR("' uploaded successfully."));
	jw_close_str(c->out);
	return 0;
}

static int put_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	return put(c, args, e);
}

/* Leave the file open for the front end. A slow client occupies its thread while it reads. */
static int open_file(struct call *c, const struct path *p, struct err *e)
{
	struct stat st;
	AUTO_FD fd = ws_open_file(c->ws, p, &st, e);

	if (fd < 0 || call_before_slow(c, e) < 0)
		return -1;
	*c->file = (struct call_file){ .fd = TAKE(fd, -1), .size = st.st_size };
	return 0;
}

static int download_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct files_args *a = args;
	struct path p;

	if (call_path(c, a->path, &p, e) < 0)
		return -1;
	if (open_file(c, &p, e) == 0)
		return 0;
	return e->code == ERR_NOT_A_FILE ? err_set(e, ERR_FILE_NOT_FOUND, "File not found") : -1;
}

struct file_entry {
	struct str name;
	struct stat st;
};

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
	if (n < 0 || (size_t)n >= sizeof p.name || ws_stat(l->c->ws, &p, &st, &why) < 0)
		return 0;
	const bool fits = l->count < l->room ||
			  arena_grow(l->c->arena, &l->entries, &l->room, sizeof *l->entries);
	const struct str copy = arena_dup(l->c->arena, name);
	if (!fits || !copy.p)
		return err_set(e, ERR_TOO_BUSY,
			       "The directory has more names than one answer can hold");
	l->entries[l->count++] = (struct file_entry){ copy, st };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct file_entry *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

static int list(struct file_list *l, struct err *e)
{
	const int dir = ws_open_dir(l->c->ws, l->dir, e);

	if (dir < 0 || ws_list(dir, add_entry, l, e) < 0)
		return -1;
	if (l->count)
		qsort(l->entries, l->count, sizeof *l->entries, by_name);
	return 0;
}

static void write_entry(struct jw *w, const struct file_entry *f, bool standard)
{
	char text[40];

	jw_object(w, NULL);
	jw_str(w, "name", f->name);
	jw_int(w, "size", f->st.st_size);
	jw_str(w, "type", S_ISDIR(f->st.st_mode) ? STR("directory") : STR("file"));
	if (standard) {
		const struct utc t = utc_of(f->st.st_mtim.tv_sec);
		(void)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)t.year,
			       t.month, t.day, t.hour, t.minute, t.second);
		jw_str(w, "modified_at", str_of(text));
		(void)snprintf(text, sizeof text, "%04o", f->st.st_mode & 0777);
		jw_str(w, "mode", str_of(text));
	} else {
		jw_num(w, "mod_time",
		       (double)f->st.st_mtim.tv_sec + (double)f->st.st_mtim.tv_nsec / 1e9);
	}
	jw_end(w);
}

static int list_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct files_args *a = args;
	struct path p;
	struct file_list l = { .c = c, .dir = &p };

	if (call_path(c, a->path, &p, e) < 0 || list(&l, e) < 0)
		return -1;
	for (size_t i = 0; i < l.count; i++)
		write_entry(c->out, &l.entries[i], false);
	return 0;
}

static int exists_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct files_args *a = args;
	struct path p;
	struct stat st;
	struct err why;
	const bool found =
		call_path(c, a->path, &p, &why) == 0 && ws_stat(c->ws, &p, &st, &why) == 0;

	if (!found && why.code != ERR_FILE_NOT_FOUND && why.code != ERR_NOT_A_DIRECTORY) {
		*e = why;
		return -1;
	}
	jw_str(c->out, "path", a->path);
	jw_bool(c->out, "exists", found);
	return 0;
}

static int get_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct files_args *a = args;
	struct path p;
	struct file_list l = { .c = c, .dir = &p };
	struct stat st;

	if (call_path(c, a->path, &p, e) < 0 || ws_stat(c->ws, &p, &st, e) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		return open_file(c, &p, e);
	if (list(&l, e) < 0)
		return -1;
	jw_open_str(c->out, "path");
	jw_piece(c->out, str_starts(a->path, STR("/")) ? STR("") : STR("/"));
	jw_piece(c->out, a->path);
	jw_close_str(c->out);
	jw_array(c->out, "entries");
	for (size_t i = 0; i < l.count; i++)
		write_entry(c->out, &l.entries[i], true);
	jw_end(c->out);
	return 0;
}

static int delete_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	const struct files_args *a = args;
	struct path p;

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &p, e) < 0 ||
	    (a->recursive && call_before_work(c, e) < 0))
		return -1;
	return ws_remove(c->ws, c->witness, &p, a->recursive, e);
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
/* Writes the items of an array that the front end has opened. */
const struct tool tool_list =
	FILE_TOOL("list", "The entries of a directory.", path_table, list_run, TOOL_READ_ONLY);
const struct tool tool_exists = FILE_TOOL("exists", "Whether there is such a file or directory.",
					  path_table, exists_run, TOOL_READ_ONLY);
const struct tool tool_get_file =
	FILE_TOOL("get_file", "The bytes of a file, or the entries of a directory.", path_table,
		  get_run, TOOL_READ_ONLY);
const struct tool tool_put_file = FILE_TOOL(
	"put_file", "Replace a file, or make it with its directories.", put_table, put_run, 0);
/* NOT_A_FILE for a directory that is not empty, unless `recursive` is set. */
const struct tool tool_delete_file =
	FILE_TOOL("delete_file", "Remove a file or directory.", remove_table, delete_run, 0);
