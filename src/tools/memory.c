/* SPDX-License-Identifier: MIT */
/* memory: the files that a model keeps for itself between conversations, below /memories. They are
 * in DATA_DIR/memories, in a directory for each session, reached and contained as every path of the
 * data directory is. */

#include <stdio.h>

#include "base/sha256.h"
#include "tools/editor.h"
#include "tools/result.h"
#include "workspace/workspace.h"

#define MEMORIES "/memories"

static const char *const memory_commands[] = { "view",	 "create", "str_replace", "insert",
					       "delete", "rename", NULL };
enum { MEMORY_DELETE = EDITOR_OTHERS, MEMORY_RENAME };

static const struct arg memory_table[] = {
	A_CHOICE(struct editor_args, command, "command", REQUIRED, 0, memory_commands,
		 "What to do"),
	EDITOR_ARGS,
	A_STR(struct editor_args, old_path, "old_path", NONBLANK, "What gets another name"),
	A_STR(struct editor_args, new_path, "new_path", NONBLANK, "Its name from now on"),
	A_END,
};

/* The directory of a session: its name, or if that is no plain name a hash of it. */
static void add_session(struct buf *out, struct str session)
{
	enum { LONGEST = 100 };
	bool plain = session.n <= LONGEST && !str_starts(session, STR("."));
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_TEXT];

	for (size_t i = 0; i < session.n; i++) {
		const char low = str_lower(session.p[i]);
		plain &= (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9') || low == '-' ||
			 low == '_' || low == '.';
	}
	if (session.n && plain) {
		buf_add(out, session);
	} else if (session.n) {
		sha256_of(session, digest);
		buf_addf(out, "sha256-%.*s", STR_FMT(sha256_text(digest, hex)));
	} else {
		buf_add(out, STR("default"));
	}
}

/* The directory of the session, absolute, in the arena. */
static int find_home(const struct call *c, struct str *ret, struct err *e)
{
	const struct str data = ws_rules(c->shared->ws)->data;
	AUTO_BUF b = { .max = PATH_MAX };

	if (!data.n)
		return err_set(e, ERR_EXECUTION_ERROR,
			       "Memories are kept in the data directory, and this server has none: "
			       "its operator must set DATA_DIR");
	buf_add(&b, data);
	buf_add(&b, STR(MEMORIES "/"));
	add_session(&b, c->session);
	*ret = arena_dup(c->arena, buf_str(&b));
	return ret->p && !b.failed
		       ? 0
		       : err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
}

/* What a path below /memories stands for. */
static int find_file(const struct call *c, struct str home, struct str requested,
		     struct editor *ret, struct err *e)
{
	static const struct path_rules rules = { .root = STR(MEMORIES) };
	AUTO_BUF b = { .max = 2 * PATH_MAX };
	struct path below;

	/* "/" is a name of the workspace's root, and of no memory. */
	const bool root = str_find(requested, STR("memories")) < 0;
	if (path_resolve(&rules, requested, PATH_STRICT, &below, e) < 0 || (root && !*below.name))
		return err_set(e, ERR_PATH_OUTSIDE_WORKSPACE,
			       "Path must be below " MEMORIES ", not %.*s",
			       STR_FMT(str_upto(requested, 200)));
	buf_add(&b, home);
	if (*below.name) {
		buf_addc(&b, '/');
		buf_add(&b, str_of(below.name));
	}
	*ret = (struct editor){ .path = arena_dup(c->arena, buf_str(&b)),
				.shown = requested,
				.memory = true };
	return ret->path.p && !b.failed ? 0 : err_set(e, ERR_INVALID_PATH, "The path is too long");
}

/* Errors speak of what the model knows, and not of where it is kept. */
static int fail(struct str home, struct str shown, struct err *e)
{
	const struct err why = *e;
	const ptrdiff_t at = str_find(str_of(why.msg), home);

	/* No file of the workspace is meant, so none is suggested. */
	if (e->code == ERR_FILE_NOT_FOUND)
		return err_set(e, ERR_INVALID_PATH,
			       "The path %.*s does not exist. Please provide a valid path.",
			       STR_FMT(str_upto(shown, 200)));
	if (at >= 0)
		return err_set(e, why.code, "%.*s" MEMORIES "%s", (int)at, why.msg,
			       why.msg + at + home.n);
	return -1;
}

/* Make the directory, so that it can be listed before there is a memory. */
static void make_home(const struct call *c, struct str home)
{
	CLEANUP(file_place_done) struct file_place at = { .dir = -1 };
	AUTO_BUF b = { .max = 2 * PATH_MAX };
	struct path path;
	struct err ignored; /* then it cannot be listed */

	buf_add(&b, home);
	buf_add(&b, STR("/file"));
	if (!c->shared->read_only && call_path(c, buf_str(&b), &path, &ignored) == 0)
		(void)ws_place(c->shared->ws, &path, true, NULL, &at, &ignored);
}

static int remove_memory(struct call *c, const struct editor *to, struct str home,
			 struct result *ret, struct err *e)
{
	struct path path;

	if (call_may_change(c, e) < 0 || call_path(c, to->path, &path, e) < 0)
		return -1;
	if (str_eq(to->path, home))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Cannot delete the " MEMORIES " directory itself");
	const struct removal how = { c->witness, true, call_may_go_on, c };
	if (ws_remove(c->shared->ws, &how, &path, e) < 0)
		return -1;
	ret->kind = RESULT_SENTENCE;
	ret->sentence = (struct sentence){ "Successfully deleted ", to->shown, "" };
	return 0;
}

static int rename_memory(struct call *c, const struct editor *from, const struct editor *to,
			 struct str home, struct result *ret, struct err *e)
{
	struct path old, new;

	if (call_may_change(c, e) < 0 || call_path(c, from->path, &old, e) < 0 ||
	    call_path(c, to->path, &new, e) < 0)
		return -1;
	if (str_eq(from->path, home))
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Cannot rename the " MEMORIES " directory itself");
	if (ws_rename(c->shared->ws, c->witness, &old, &new, e) < 0)
		return e->code != ERR_FILE_EXISTS
			       ? -1
			       : err_set(e, ERR_FILE_EXISTS, "The destination %.*s already exists",
					 STR_FMT(to->shown));
	ret->kind = RESULT_SENTENCE;
	ret->heading = (struct sentence){ "Successfully renamed ", from->shown, " to " };
	ret->sentence = (struct sentence){ "", to->shown, "" };
	return 0;
}

static int memory_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct editor_args *a = args;
	const char *const word = memory_commands[a->command];
	const bool renames = a->command == MEMORY_RENAME;
	const struct str first = renames && a->old_path.n ? a->old_path : a->path;
	struct editor from, to;
	struct str home;
	int rc;

	if (!first.n)
		return editor_missing(e, renames ? "old_path" : "path", word);
	if (renames && !a->new_path.n)
		return editor_missing(e, "new_path", word);
	if (find_home(c, &home, e) < 0 || find_file(c, home, first, &from, e) < 0 ||
	    (renames && find_file(c, home, a->new_path, &to, e) < 0))
		return -1;
	/* What it has been shown of a memory is not what it has read of the workspace. */
	c->reads = CALL_READS_NONE;
	if (str_eq(from.path, home))
		make_home(c, home);
	if (a->command == MEMORY_DELETE)
		rc = remove_memory(c, &from, home, ret, e);
	else if (renames)
		rc = rename_memory(c, &from, &to, home, ret, e);
	else
		rc = editor_run(c, &from, a, ret, e);
	return rc < 0 ? fail(home, first, e) : 0;
}

const struct tool tool_memory = {
	.name = "memory",
	.about = "Files that a model keeps between conversations.",
	.args = memory_table,
	.args_size = sizeof(struct editor_args),
	.flags = TOOL_NATIVE,
	.run = memory_run,
};
