/* SPDX-License-Identifier: MIT */
/* editor: each command by one of our own tools, in the words of the provider; and OpenAI's
 * apply_patch by ours. */

#include "tools/editor.h"

#include <limits.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/io.h"
#include "changes/journal.h"
#include "search/glob.h"
#include "tools/edit.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/scope.h"
#include "workspace/workspace.h"

extern const struct tool tool_read_file, tool_write_file, tool_undo_change, tool_apply_patch;

int editor_missing(struct err *e, const char *name, const char *command)
{
	return err_set(e, ERR_INVALID_ARGUMENTS, "Parameter `%s` is required for command: %s", name,
		       command);
}

/* What the listing of a directory leaves out, with everything below it. */
static bool is_hidden(struct str name)
{
	return str_starts(name, STR(".")) || str_eq(name, STR("node_modules/"));
}

/* A listing as it grows, in the arena. */
struct view_list {
	struct call *c;
	struct file_entry *entries;
	size_t count, room;
	bool more; /* there are others */
};

static struct str below(const struct call *c, struct str dir, struct str name)
{
	AUTO_BUF path = { .max = 2 * PATH_MAX };

	buf_add(&path, dir);
	if (!str_ends(dir, STR("/")))
		buf_addc(&path, '/');
	buf_add(&path, name);
	return path.failed ? (struct str){ NULL, 0 } : arena_dup(c->arena, buf_str(&path));
}

/* Add an entry. False if there is no room for it. */
static bool add_entry(struct view_list *l, struct str shown, int64_t size, unsigned depth)
{
	if (l->count > LIMIT_LIST_ENTRIES || !shown.p ||
	    (l->count == l->room &&
	     !arena_grow(l->c->arena, &l->entries, &l->room, sizeof *l->entries)))
		return false;
	l->entries[l->count++] = (struct file_entry){ shown, { .st_size = size }, depth };
	return true;
}

/* Add the entries of a directory, and what is in those, two levels in all. */
static int list_level(struct view_list *l, const struct editor *dir, unsigned depth, struct err *e)
{
	enum { LEVELS = 2 };
	AUTO_SCOPE scope = SCOPE_NONE;
	AUTO_FOUND found = { 0 };
	struct hits_reader reader = { .hits = &found.hits };
	struct hit hit;
	struct err ignored; /* a directory below may be gone, or may not be read */

	if (scope_open(l->c, dir->path, STR(""), true, &scope, e) < 0)
		return -1;
	struct find_request request = { .where = scope_walk(l->c, &scope, LIMIT_VIEW_SEEN),
					.sizes = true };
	request.where.all = true;
	request.where.threads = 1;
	request.where.max_depth = 1;
	if (find_run(&request, &found, e) < 0 || scope_check_found(l->c, &found, e) < 0)
		return -1;
	l->more |= found.account.stopped != WALK_COMPLETE;
	while (hits_next(&reader, &hit)) {
		if (is_hidden(hit.path))
			continue;
		const struct editor entry = { .path = below(l->c, dir->path, hit.path),
					      .shown = below(l->c, dir->shown, hit.path) };
		if (!entry.path.p || !add_entry(l, entry.shown, hit.value, depth)) {
			l->more = true;
			return 0;
		}
		if (hit.type == HIT_DIRECTORY && depth < LEVELS)
			(void)list_level(l, &entry, depth + 1, &ignored);
	}
	return 0;
}

/* Two levels of a directory. */
static int view_directory(struct call *c, const struct editor *to, struct result *ret,
			  struct err *e)
{
	struct view_list l = { .c = c };
	struct str shown = to->shown;
	struct path path;
	struct stat st;

	if (call_path(c, to->path, &path, e) < 0 || ws_stat(c->shared->ws, &path, &st, e) < 0)
		return -1;
	while (shown.n > 1 && shown.p[shown.n - 1] == '/')
		shown.n--;
	if (!add_entry(&l, shown, st.st_size, 0))
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to list the directory");
	if (list_level(&l, &(struct editor){ .path = to->path, .shown = shown }, 1, e) < 0)
		return -1;
	ret->kind = RESULT_ENTRIES;
	ret->heading =
		(struct sentence){ "Here're the files and directories up to 2 levels deep in ",
				   shown, ", excluding hidden items and node_modules:\n" };
	ret->entries = (struct entries){ .list = l.entries, .count = l.count, .more = l.more };
	return 0;
}

/* [first, last], where -1 is the end. */
static int read_range(const struct json *v, int64_t *first, int64_t *last, struct err *e)
{
	const struct json *a = v->first, *b = a ? a->next : NULL;

	if (v->type != JSON_ARRAY || !b || b->next || !a->whole || !b->whole ||
	    a->type != JSON_NUMBER || b->type != JSON_NUMBER)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Invalid `view_range`. It should be a list of two integers.");
	if (a->integer < 1 || (b->integer != -1 && b->integer < a->integer))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Invalid `view_range`: [%lld, %lld]. Lines are counted from 1, and "
			       "the second is the last line, or -1 for the end of the file.",
			       (long long)a->integer, (long long)b->integer);
	*first = a->integer;
	*last = b->integer;
	return 0;
}

static int view(struct call *c, const struct editor *to, const struct editor_args *a,
		struct result *ret, struct err *e)
{
	struct json members[4] = { json_of_str(STR("path"), to->path),
				   json_of_bool(STR("line_numbers"), true) };
	size_t n = 2;
	int64_t first = 1, last = -1;

	if (a->view_range && read_range(a->view_range, &first, &last, e) < 0)
		return -1;
	if (a->view_range)
		members[n++] = json_of_int(STR("start_line"), first);
	if (last > 0)
		members[n++] = json_of_int(STR("end_line"), last);
	const struct json object = json_of_members(members, n);
	if (tool_call(&tool_read_file, c, &object, ret, e) == 0) {
		if (to->memory)
			ret->heading = (struct sentence){ "Here's the content of ", to->shown,
							  " with line numbers:\n" };
		return 0;
	}
	if (e->code != ERR_NOT_A_FILE)
		return -1;
	if (a->view_range)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "The `view_range` parameter is not allowed when `path` points to a "
			       "directory.");
	return view_directory(c, to, ret, e);
}

static int create(struct call *c, const struct editor *to, const struct editor_args *a,
		  struct result *ret, struct err *e)
{
	struct json members[] = { json_of_str(STR("path"), to->path),
				  json_of_str(STR("content"), a->file_text) };
	const struct json object = json_of_members(members, ARRAY_LEN(members));
	struct path path;
	struct stat st;
	struct err none;

	if (!a->file_text.p)
		return editor_missing(e, "file_text", "create");
	if (to->memory && call_path(c, to->path, &path, &none) == 0 &&
	    ws_stat(c->shared->ws, &path, &st, &none) == 0)
		return err_set(e, ERR_FILE_EXISTS, "File %.*s already exists", STR_FMT(to->shown));
	if (tool_call(&tool_write_file, c, &object, ret, e) < 0)
		return -1;
	const char *const done = ret->edits.files[0].done;
	if (ret->edits.created)
		ret->edits.instead =
			(struct sentence){ "File created successfully at: ", to->shown, "" };
	else if (strcmp(done, "unchanged") == 0)
		ret->edits.instead =
			(struct sentence){ "The file ", to->shown, " had this content already." };
	else if (strcmp(done, "replaced") == 0) /* it was not text */
		ret->edits.instead =
			(struct sentence){ "The file ", to->shown, " has been overwritten." };
	else
		ret->edits.instead =
			(struct sentence){ "The file ", to->shown,
					   " has been overwritten. This is the change:" };
	return 0;
}

/* Write the numbers of the lines on which a text begins. */
static void name_lines(struct call *c, const struct editor *to, struct str what, struct buf *out)
{
	struct path path;
	struct stat st;
	struct err ignored;
	int64_t line = 1;

	if (call_path(c, to->path, &path, &ignored) < 0)
		return;
	AUTO_FD fd = ws_open_file(c->shared->ws, &path, &st, &ignored);
	AUTO_BUF all = { .max = LIMIT_EDIT_BYTES };
	char *room =
		fd < 0 || st.st_size > LIMIT_EDIT_BYTES ? NULL : buf_room(&all, (size_t)st.st_size);
	const ssize_t n = room ? io_read_full(fd, room, (size_t)st.st_size) : 0;
	buf_filled(&all, n > 0 ? (size_t)n : 0);
	struct str rest = buf_str(&all);
	ptrdiff_t at;
	for (int named = 0; (at = str_find(rest, what)) >= 0; named++) {
		if (named == LIMIT_LINES_NAMED) {
			buf_add(out, STR(" ..."));
			return;
		}
		line += (int64_t)bytes_count(str_upto(rest, (size_t)at), '\n');
		buf_addf(out, "%s%lld", named ? ", " : "", (long long)line);
		line += (int64_t)bytes_count(what, '\n');
		rest = str_from(rest, (size_t)at + what.n);
	}
}

/* The provider's words for a text that is not there, or not once; ours say why. */
static int fail_change(struct call *c, const struct editor *to, const struct edit *edit,
		       struct err *e)
{
	enum { SHOWN = 200 }; /* bytes of the text */
	const struct str text = str_upto(edit->old_text, SHOWN);
	const char *const cut = edit->old_text.n > SHOWN ? "..." : "";
	const struct err why = *e;
	char room[320];
	struct buf lines = buf_over(room, sizeof room);

	if (why.code == ERR_TEXT_NOT_FOUND) {
		(void)err_set(e, why.code,
			      "No replacement was performed, old_str `%.*s%s` did not appear "
			      "verbatim in %.*s.",
			      STR_FMT(text), cut, STR_FMT(str_upto(to->shown, SHOWN)));
		return err_advise(e, "%s", why.msg + why.advice);
	}
	if (why.code != ERR_TEXT_NOT_UNIQUE)
		return -1;
	name_lines(c, to, edit->old_text, &lines);
	return err_set(e, why.code,
		       "No replacement was performed. Multiple occurrences of old_str `%.*s%s` in "
		       "lines: %.*s. Please ensure it is unique",
		       STR_FMT(text), cut, STR_FMT(buf_str(&lines)));
}

static int change(struct call *c, const struct editor *to, const struct edit *edit,
		  struct result *ret, struct err *e)
{
	if (edit_run_one(c, to->path, edit, ret, e) < 0)
		return fail_change(c, to, edit, e);
	if (to->memory && !edit->insert)
		ret->edits.instead = (struct sentence){ "The memory file has been edited.", STR(""),
							" This is the change, with line numbers:" };
	else
		ret->edits.instead = (struct sentence){
			"The file ", to->shown,
			" has been edited. This is the change, with line numbers:"
		};
	return 0;
}

int editor_run(struct call *c, const struct editor *to, const struct editor_args *a,
	       struct result *ret, struct err *e)
{
	const struct str lines = a->insert_text.p ? a->insert_text : a->new_str;

	switch ((enum editor_command)a->command) {
	case EDITOR_VIEW:
		return view(c, to, a, ret, e);
	case EDITOR_CREATE:
		return create(c, to, a, ret, e);
	case EDITOR_STR_REPLACE:
		if (!a->old_str.n)
			return editor_missing(e, "old_str", "str_replace");
		return change(c, to,
			      &(struct edit){ .old_text = a->old_str, .new_text = a->new_str }, ret,
			      e);
	case EDITOR_INSERT:
		if (a->insert_line == EDITOR_NO_LINE)
			return editor_missing(e, "insert_line", "insert");
		if (!lines.p)
			return editor_missing(e, "insert_text", "insert");
		return change(c, to,
			      &(struct edit){ .new_text = lines,
					      .insert = true,
					      .after_line = a->insert_line },
			      ret, e);
	case EDITOR_OTHERS:
		break;
	}
	return err_set(e, ERR_INVALID_ARGUMENTS, "There is no such command");
}

/* Whether the change touched that path. */
static bool touched(const struct change *change, struct str path)
{
	for (size_t i = 0; i < change->item_count; i++)
		if (str_eq(change->items[i].path, path))
			return true;
	return false;
}

/* The newest change of a file that the session has made and not undone; 0 if there is none. */
static uint64_t last_change(struct call *c, struct str path)
{
	const size_t count = journal_list(c->shared->journal, 0, NULL, 0);
	struct change_entry *list = arena_array(c->arena, count + 1, sizeof *list);
	size_t looked = 0;
	struct change change;
	struct err ignored;

	if (!list)
		return 0;
	const size_t all = journal_list(c->shared->journal, 0, list, count);
	for (size_t i = all < count ? all : count; i-- > 0 && looked < LIMIT_UNDO_LOOKED;) {
		if (list[i].undone_by || list[i].session != journal_session(c->session))
			continue;
		looked++;
		if (journal_read(c->shared->journal, &list[i], true, c->arena, &change, &ignored) ==
			    0 &&
		    touched(&change, path))
			return list[i].id;
	}
	return 0;
}

/* undo_edit of older versions: take back the session's last change of the file. */
static int undo(struct call *c, const struct editor *to, struct result *ret, struct err *e)
{
	char shown[2 * PATH_MAX];
	struct path path;

	if (call_has_journal(c, e) < 0 || call_path(c, to->path, &path, e) < 0)
		return -1;
	struct json only = { .type = JSON_STRING,
			     .string = ws_display(c->shared->ws, &path, shown) };
	const uint64_t id = last_change(c, only.string);
	if (!id)
		return err_set(e, ERR_CHANGE_NOT_FOUND, "No edit history found for %.*s.",
			       STR_FMT(to->shown));
	struct json members[] = {
		json_of_int(STR("id"), (int64_t)id),
		{ .type = JSON_ARRAY, .name = STR("paths"), .first = &only },
	};
	const struct json object = json_of_members(members, ARRAY_LEN(members));
	if (tool_call(&tool_undo_change, c, &object, ret, e) < 0)
		return -1;
	ret->kind = RESULT_SENTENCE;
	ret->sentence = (struct sentence){ "Last edit to ", to->shown, " undone successfully." };
	return 0;
}

static const char *const editor_commands[] = { "view",	 "create",    "str_replace",
					       "insert", "undo_edit", NULL };

static const struct arg editor_table[] = {
	A_CHOICE(struct editor_args, command, "command", REQUIRED, 0, editor_commands,
		 "What to do"),
	EDITOR_ARGS,
	A_END,
};

static int text_editor_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct editor_args *a = args;
	const struct editor to = { .path = a->path, .shown = a->path };

	if (!a->path.n)
		return editor_missing(e, "path", editor_commands[a->command]);
	const int rc =
		a->command == EDITOR_OTHERS ? undo(c, &to, ret, e) : editor_run(c, &to, a, ret, e);
	/* It may believe in another root. */
	if (rc < 0 && e->code == ERR_FILE_NOT_FOUND && str_starts(a->path, STR("/")))
		return err_set(e, e->code, "File not found: %.*s (the workspace is %.*s)",
			       STR_FMT(str_upto(a->path, PATH_MAX / 8)),
			       STR_FMT(ws_rules(c->shared->ws)->root));
	return rc;
}

const struct tool tool_text_editor = {
	.name = "text_editor",
	.about = "View and change files.",
	.args = editor_table,
	.args_size = sizeof(struct editor_args),
	.flags = TOOL_NATIVE,
	.run = text_editor_run,
};

struct operation_args {
	int64_t type;
	struct str path, diff;
};

static const char *const operation_types[] = { "create_file", "update_file", "delete_file", NULL };
enum { OPERATION_CREATE, OPERATION_UPDATE, OPERATION_DELETE };

static const struct arg operation_table[] = {
	A_CHOICE(struct operation_args, type, "type", REQUIRED, 0, operation_types, "What to do"),
	A_STR(struct operation_args, path, "path", REQUIRED | NONBLANK, "File in the workspace"),
	A_STR(struct operation_args, diff, "diff", 0, "A patch of that file, without its envelope"),
	A_END,
};

/* A diff is about its own file: it must not begin another one. That of a new file only adds. */
static int check_diff(struct str diff, bool only_adds, struct err *e)
{
	struct str line;

	for (size_t n = 1; diff.n; n++) {
		(void)str_cut(diff, '\n', &line, &diff);
		if (only_adds && line.n && line.p[0] != '+')
			return err_set(e, ERR_INVALID_PATCH,
				       "Line %zu of the diff of a new file must begin with +", n);
		if (str_starts(line, STR("***")) && !str_eq(str_trim(line), STR("*** End of File")))
			return err_set(e, ERR_INVALID_PATCH,
				       "The diff of an operation is about one file, without "
				       "headers: it must not have the line \"%.*s\"",
				       STR_FMT(str_upto(line, 100)));
	}
	return 0;
}

/* OpenAI's apply_patch: a patch in which the envelope is missing. */
static int operation_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	static const char *const headers[] = { "Add", "Update", "Delete" };
	const struct operation_args *a = args;
	AUTO_BUF patch = { .max = LIMIT_ANSWER };

	if (str_index(a->path, '\n') >= 0)
		return err_set(e, ERR_INVALID_PATH, "The path has a newline");
	if (a->type == OPERATION_UPDATE && !a->diff.n)
		return err_set(e, ERR_INVALID_PATCH, "The diff is missing");
	if (check_diff(a->diff, a->type == OPERATION_CREATE, e) < 0)
		return -1;
	buf_addf(&patch, "*** Begin Patch\n*** %s File: ", headers[a->type]);
	buf_add(&patch, a->path);
	buf_addc(&patch, '\n');
	if (a->type != OPERATION_DELETE)
		buf_add(&patch, a->diff);
	buf_add(&patch, str_ends(buf_str(&patch), STR("\n")) ? STR("") : STR("\n"));
	buf_add(&patch, STR("*** End Patch\n"));
	struct json members[] = { json_of_str(STR("patch"), buf_str(&patch)),
				  json_of_str(STR("format"), STR("v4a")) };
	const struct json object = json_of_members(members, ARRAY_LEN(members));
	return patch.failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory for this patch")
			    : tool_call(&tool_apply_patch, c, &object, ret, e);
}

const struct tool tool_patch_operation = {
	.name = "patch_operation",
	.about = "Make, change or delete one file by a patch.",
	.args = operation_table,
	.args_size = sizeof(struct operation_args),
	.flags = TOOL_NATIVE,
	.run = operation_run,
};
