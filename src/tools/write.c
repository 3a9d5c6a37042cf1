/* SPDX-License-Identifier: MIT */
/* write: a whole file, atomically. */

#include <stdio.h>

#include "base/human.h"
#include "base/utf8.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/seen.h"
#include "tools/tool.h"
#include "workspace/diff.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

struct write_args {
	struct str path, content;
	int64_t encoding;
	bool create_dirs;
};

static const struct arg write_table[] = {
	A_STR(struct write_args, path, "path", REQUIRED | NONBLANK, "File to write"),
	A_STR(struct write_args, content, "content", REQUIRED, "Its whole new content"),
	A_CHOICE(struct write_args, encoding, "encoding", 0, CALL_UTF8, call_encodings,
		 "What the content is; base64 for a file that is not text"),
	A_END,
};

static const struct field write_fields[] = {
	{ "ok", "It is written", FIELD_BOOL },
	{ "path", "The file, relative to the workspace", FIELD_STR },
	{ "bytes", "Its size now", FIELD_INT },
	F_END,
};

/* A redaction mark is allowed only if the old content has it, which is read only for that. */
static int check_marks(const struct call *c, const struct replace *r, struct str content,
		       struct err *e)
{
	AUTO_BUF old = { .max = LIMIT_EDIT_BYTES };
	struct err why;

	if (call_may_write(c, content, STR(""), &why) == 0)
		return 0;
	if (r->old >= 0 && replace_read(r, &old, e) < 0)
		return -1;
	return call_may_write(c, content, buf_str(&old), e);
}

/* What changed in a file that was there, for those who are shown it. */
static void compare(struct call *c, const struct replace *r, struct str content, struct edited *f)
{
	AUTO_BUF old = { .max = LIMIT_EDIT_BYTES }, diff = { .max = LIMIT_ANSWER };
	char size[HUMAN_SIZE], more[64];
	struct err why;

	(void)snprintf(more, sizeof more, ", %s", human_bytes((int64_t)content.n, size));
	f->more = arena_dup(c->arena, str_of(more));
	f->done = r->old < 0 ? "created" : "replaced";
	/* What cannot be compared is still written. */
	if (r->old < 0 || !c->for_reader || replace_read(r, &old, &why) < 0 ||
	    !utf8_valid(buf_str(&old)) ||
	    diff_lines(buf_str(&old), content, c->arena, &diff, &why) < 0)
		return;
	const bool same = str_eq(buf_str(&old), content);
	f->done = same ? "unchanged" : "edited";
	f->more = STR("");
	f->diff = same ? STR("") : arena_dup(c->arena, buf_str(&diff));
	f->size = diff_size(f->diff);
}

/* Write the file. `name` is its path as it is shown. */
static int write_content(struct call *c, const struct path *path, struct str name,
			 struct str content, bool make_dirs, struct result *ret, struct err *e)
{
	const unsigned flags =
		(make_dirs ? REPLACE_MAKE_DIRS : 0) | (c->shared->sync ? REPLACE_SYNC : 0);
	struct edited *f = arena_array(c->arena, 1, sizeof *f);
	AUTO_REPLACE r = REPLACE_NONE;

	if (!f)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	if (call_before_bytes(c, (int64_t)content.n, e) < 0 ||
	    replace_begin(c->shared->ws, c->witness, path, flags, &r, e) < 0)
		return -1;
	if (seen_may_overwrite(c, path, &r, e) < 0 || check_marks(c, &r, content, e) < 0)
		return -1;
	f->path = arena_dup(c->arena, name);
	compare(c, &r, content, f);
	ret->kind = RESULT_EDITS;
	ret->edits = (struct edits){ .by = EDITS_BY_WRITE,
				     .files = f,
				     .count = 1,
				     .bytes = (int64_t)content.n,
				     .created = r.old < 0 };
	if (c->arena->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	if (call_reserve(c, &ret->edits, e) < 0 || replace_commit(&r, content, e) < 0)
		return -1;
	seen_wrote(c, path, content, true);
	return 0;
}

static int write_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct write_args *a = args;
	char shown[2 * PATH_MAX];
	struct path path;
	struct str content;

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &path, e) < 0 ||
	    call_decode(c, "content", a->content, a->encoding, &content, e) < 0)
		return -1;
	return write_content(c, &path, ws_relative(c->shared->ws, &path, shown), content, true, ret,
			     e);
}

const struct tool tool_write = {
	.name = "write",
	.about = "Write a whole file; missing directories are made.",
	.args = write_table,
	.args_size = sizeof(struct write_args),
	.fields = write_fields,
	.flags = TOOL_WIRE,
	.run = write_run,
};

static const struct arg write_file_table[] = {
	A_STR(struct write_args, path, "path", REQUIRED | NONBLANK, "File in the workspace"),
	A_STR(struct write_args, content, "content", REQUIRED, "The whole content"),
	A_BOOL(struct write_args, create_dirs, "create_dirs", true,
	       "Make missing directories (default true)"),
	A_END,
};

static const struct field write_file_fields[] = {
	{ "path", "The file, relative to the workspace", FIELD_STR },
	{ "bytes_written", "Its size now", FIELD_INT },
	{ "created", "Whether there was no such file before", FIELD_BOOL },
	F_END,
};

static int write_file_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct write_args *a = args;
	char shown[2 * PATH_MAX];
	struct path path;

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &path, e) < 0)
		return -1;
	const struct str name = ws_display(c->shared->ws, &path, shown);
	if (write_content(c, &path, name, a->content, a->create_dirs, ret, e) == 0)
		return 0;
	if (e->code != ERR_FILE_NOT_FOUND || a->create_dirs)
		return -1;
	(void)err_set(e, ERR_FILE_NOT_FOUND, "The directory of %.*s does not exist.",
		      STR_FMT(name));
	return err_advise(e, "To have it made, leave out create_dirs.");
}

const struct tool tool_write_file = {
	.name = "write_file",
	.title = "Write file",
	.about = "Create a file, or replace all of it. Use it instead of shell redirection.",
	.args = write_file_table,
	.args_size = sizeof(struct write_args),
	.fields = write_file_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_DESTRUCTIVE | TOOL_IDEMPOTENT,
	.run = write_file_run,
};
