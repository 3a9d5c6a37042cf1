/* SPDX-License-Identifier: MIT */
/* paths: what host programs ask of names in the workspace: stat, mkdir, rename, remove, copy;
 * and which paths and commands are allowed, without using them. */

#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "policy/policy.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/seen.h"
#include "tools/tool.h"
#include "workspace/locks.h"
#include "workspace/replace.h"
#include "workspace/workspace.h"

struct paths_args {
	struct str path, from, to;
	struct str command;
	bool recursive, overwrite;
};

#define PATH_ARG(text) A_STR(struct paths_args, path, "path", REQUIRED | NONBLANK, text)
#define FROM_TO                                                                                    \
	A_STR(struct paths_args, from, "from", REQUIRED | NONBLANK, "What is there"),              \
		A_STR(struct paths_args, to, "to", REQUIRED | NONBLANK,                            \
		      "Its new path; missing directories are made")

static const struct arg path_table[] = { PATH_ARG("File or directory; links are followed"), A_END };
static const struct arg validate_table[] = {
	PATH_ARG("An absolute path, or one below the workspace"), A_END
};
static const struct arg mkdir_table[] = {
	PATH_ARG("Directory to make"),
	A_BOOL(struct paths_args, recursive, "recursive", false,
	       "Make missing parents, and accept one that exists"),
	A_END,
};
static const struct arg rename_table[] = { FROM_TO, A_END };
static const struct arg copy_table[] = {
	FROM_TO,
	A_BOOL(struct paths_args, overwrite, "overwrite", false, "Replace the file that is there"),
	A_END,
};
static const struct arg remove_table[] = {
	PATH_ARG("File or directory to remove; of a link the link"),
	A_BOOL(struct paths_args, recursive, "recursive", false, "With everything in it"),
	A_END,
};
static const struct arg policy_table[] = {
	A_STR(struct paths_args, command, "command", REQUIRED | NONBLANK, "A shell command"),
	A_END,
};
static const struct arg no_table[] = { A_END };

static const char *const status_types[] = { "file", "directory", "other", NULL };

static const struct field stat_fields[] = {
	{ "path", "Relative to the workspace", FIELD_STR },
	{ "type", "What it is", FIELD_STR, .choices = status_types },
	{ "size", "Its size in bytes", FIELD_INT },
	{ "mode", "Its permissions, as in 0644", FIELD_STR },
	{ "modifiedMs", "When it was last changed, in milliseconds since 1970", FIELD_INT },
	F_END,
};
static const struct field placed_fields[] = {
	{ "ok", "It is done", FIELD_BOOL },
	{ "path", "Relative to the workspace", FIELD_STR },
	F_END,
};
static const struct field moved_fields[] = {
	{ "ok", "It is done", FIELD_BOOL },
	{ "path", "Where it is now, relative to the workspace", FIELD_STR },
	{ "from", "Where it was, relative to the workspace", FIELD_STR },
	F_END,
};
static const struct field validate_fields[] = {
	{ "path", "The absolute path that it leads to, without links", FIELD_STR },
	F_END,
};
static const struct field allowed_fields[] = {
	{ "paths", "The directories whose contents may be used", FIELD_STR, FIELD_LIST },
	F_END,
};
static const struct field policy_fields[] = {
	{ "blocked", "Whether the command policy refuses it", FIELD_BOOL },
	{ "reason", "Which word, by which rule", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

/* A path of the workspace as it is answered, in the arena. */
static struct str shown(const struct call *c, const struct path *p)
{
	char room[2 * PATH_MAX];

	return arena_dup(c->arena, ws_relative(c->shared->ws, p, room));
}

/* A name was made, moved, copied or removed. */
static int answer_placed(const struct call *c, const struct path *p, const struct path *from,
			 struct result *ret)
{
	const struct json members[] = {
		json_of_bool(STR("ok"), true),
		json_of_str(STR("path"), shown(c, p)),
		json_of_str(STR("from"), from ? shown(c, from) : STR("")),
	};

	return result_say(ret, members, from ? 3 : 2);
}

static int stat_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct paths_args *a = args;
	char mode[8];
	struct path p;
	struct stat st;

	if (call_path(c, a->path, &p, e) < 0 || ws_stat(c->shared->ws, &p, &st, e) < 0)
		return -1;
	const int type = S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? 1 : 2;
	(void)snprintf(mode, sizeof mode, "%04o", st.st_mode & 07777);
	const struct json members[] = {
		json_of_str(STR("path"), shown(c, &p)),
		json_of_str(STR("type"), str_of(status_types[type])),
		json_of_int(STR("size"), st.st_size),
		json_of_str(STR("mode"), arena_dup(c->arena, str_of(mode))),
		json_of_int(STR("modifiedMs"),
			    (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000),
	};
	return result_say(ret, members, ARRAY_LEN(members));
}

static int mkdir_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct paths_args *a = args;
	struct path p;

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &p, e) < 0 ||
	    ws_mkdir(c->shared->ws, c->witness, &p, a->recursive, e) < 0)
		return -1;
	return answer_placed(c, &p, NULL, ret);
}

static int rename_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct paths_args *a = args;
	struct file_locks *locks = ws_locks(c->shared->ws);
	struct path from, to;

	if (call_may_change(c, e) < 0 || call_path(c, a->from, &from, e) < 0 ||
	    call_path(c, a->to, &to, e) < 0 || locks_take_all(locks, e) < 0)
		return -1;
	const int rc = ws_rename(c->shared->ws, c->witness, &from, &to, e);
	locks_release_all(locks);
	return rc < 0 ? -1 : answer_placed(c, &to, &from, ret);
}

/* A session that must have read what it changes must have read a file that it removes. */
static int may_remove(const struct call *c, const struct path *p, struct err *e)
{
	AUTO_REPLACE r = REPLACE_NONE;
	struct err why;

	if (c->reads == CALL_READS_NONE ||
	    replace_begin(c->shared->ws, NULL, p, REPLACE_MUST_EXIST, &r, &why) < 0)
		return 0;
	return seen_may_overwrite(c, p, &r, e);
}

static int remove_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct paths_args *a = args;
	const struct removal how = { c->witness, a->recursive, call_may_go_on, c };
	struct file_locks *locks = ws_locks(c->shared->ws);
	struct path p;

	if (call_may_change(c, e) < 0 || call_path(c, a->path, &p, e) < 0)
		return -1;
	if (!*p.name)
		return err_set(e, ERR_INVALID_PATH, "The workspace itself is not removed");
	if (may_remove(c, &p, e) < 0 || (a->recursive && call_before_work(c, e) < 0) ||
	    locks_take_all(locks, e) < 0)
		return -1;
	const int rc = ws_remove(c->shared->ws, &how, &p, e);
	locks_release_all(locks);
	return rc < 0 ? -1 : answer_placed(c, &p, NULL, ret);
}

static int copy_content(struct call *c, int fd, struct stat *st, const struct path *to,
			bool overwrite, struct err *e)
{
	const unsigned flags =
		REPLACE_MAKE_DIRS | REPLACE_MODE | (c->shared->sync ? REPLACE_SYNC : 0);
	AUTO_BUF content = { .max = LIMIT_EDIT_BYTES };
	AUTO_REPLACE r = REPLACE_NONE;
	char room[2 * PATH_MAX];

	if (st->st_size > LIMIT_EDIT_BYTES)
		return err_set(e, ERR_FILE_TOO_LARGE, "Files of up to %d bytes can be copied",
			       LIMIT_EDIT_BYTES);
	char *bytes = buf_room(&content, (size_t)st->st_size + 1);
	if (!bytes)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to copy the file, try again");
	const ssize_t n = io_read_full(fd, bytes, (size_t)st->st_size);
	if (n < 0)
		return err_errno(e, "Cannot read the file");
	if (replace_begin(c->shared->ws, c->witness, to, flags, &r, e) < 0)
		return -1;
	if (r.old >= 0 && !overwrite)
		return err_set(e, ERR_FILE_EXISTS, "There is a file of that name: %.*s",
			       STR_FMT(ws_display(c->shared->ws, to, room)));
	if (r.old >= 0 && seen_may_overwrite(c, to, &r, e) < 0)
		return -1;
	r.mode = st->st_mode & 0777;
	return replace_commit(&r, (struct str){ bytes, (size_t)n }, e);
}

static int copy_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct paths_args *a = args;
	struct path from, to;
	struct stat st;

	if (call_may_change(c, e) < 0 || call_path(c, a->from, &from, e) < 0 ||
	    call_path(c, a->to, &to, e) < 0)
		return -1;
	AUTO_FD fd = ws_open_file(c->shared->ws, &from, &st, e);
	if (fd < 0 || call_before_bytes(c, st.st_size, e) < 0 ||
	    copy_content(c, fd, &st, &to, a->overwrite, e) < 0)
		return -1;
	return answer_placed(c, &to, &from, ret);
}

/* As sidecar_validate_path of the library: an absolute path is literal. */
static int validate_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct paths_args *a = args;
	const struct workspace *ws = c->shared->ws;
	char room[2 * PATH_MAX];
	struct path p;

	if (ws_resolve(ws, a->path, PATH_STRICT, &p, e) < 0 || ws_canonical(ws, &p, &p, e) < 0)
		return -1;
	const struct json path =
		json_of_str(STR("path"), arena_dup(c->arena, ws_absolute(ws, &p, room)));
	return result_say(ret, &path, 1);
}

static int allowed_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	struct json *items = arena_array(c->arena, WS_TREES, sizeof *items);
	const char *trees[WS_TREES];
	size_t n = 0;

	(void)args;
	if (!items)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	for (ws_trees(c->shared->ws, trees); trees[n]; n++)
		items[n] = json_of_str(STR(""), str_of(trees[n]));
	struct json paths = json_of_members(items, n);
	paths.type = JSON_ARRAY;
	paths.name = STR("paths");
	return result_say(ret, &paths, 1);
}

static int policy_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct paths_args *a = args;
	struct err why = { .msg = "" };

	(void)e;
	const bool blocked = c->rules && policy_check(c->rules, a->command, false, &why) < 0;
	const struct json members[] = {
		json_of_bool(STR("blocked"), blocked),
		json_of_str(STR("reason"), arena_dup(c->arena, str_of(why.msg))),
	};
	return result_say(ret, members, blocked ? 2 : 1);
}

#define PATHS_TOOL(id, text, table, out, function, more)                                           \
	{                                                                                          \
		.name = (id), .about = (text), .args = (table),                                    \
		.args_size = sizeof(struct paths_args), .fields = (out), .flags = (more),          \
		.run = (function)                                                                  \
	}

const struct tool tool_stat =
	PATHS_TOOL("stat", "What a path leads to. Links are followed.", path_table, stat_fields,
		   stat_run, TOOL_WIRE | TOOL_READ_ONLY);
const struct tool tool_mkdir =
	PATHS_TOOL("mkdir", "Make a directory.", mkdir_table, placed_fields, mkdir_run, TOOL_WIRE);
const struct tool tool_rename = PATHS_TOOL(
	"rename", "Give a file or directory another path. FILE_EXISTS if something has that path.",
	rename_table, moved_fields, rename_run, TOOL_WIRE);
const struct tool tool_remove = PATHS_TOOL(
	"remove",
	"Remove a file or directory. DIRECTORY_NOT_EMPTY if something is in it, unless recursive.",
	remove_table, placed_fields, remove_run, TOOL_WIRE);
const struct tool tool_copy = PATHS_TOOL("copy", "Copy a file, with its permissions.", copy_table,
					 moved_fields, copy_run, TOOL_WIRE);
/* With routes of their own. */
const struct tool tool_validate_path =
	PATHS_TOOL("validate_path",
		   "Where a path leads, if it may be used. An absolute path is taken literally.",
		   validate_table, validate_fields, validate_run, TOOL_ROUTE | TOOL_READ_ONLY);
const struct tool tool_allowed_paths =
	PATHS_TOOL("allowed_paths", "The directories whose contents may be used.", no_table,
		   allowed_fields, allowed_run, TOOL_ROUTE | TOOL_READ_ONLY);
const struct tool tool_policy = PATHS_TOOL(
	"policy", "Whether the command policy refuses a command of a model. It is not run.",
	policy_table, policy_fields, policy_run, TOOL_ROUTE | TOOL_READ_ONLY);
