/* SPDX-License-Identifier: MIT */
/* find: entries of a tree that match a glob. */

#include <string.h>

#include "base/buf.h"
#include "search/glob.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/scope.h"
#include "tools/tool.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

struct find_args {
	struct str pattern, path, cursor;
	int64_t limit, max_bytes, type;
};

/* enum hit_type, after FIND_ANY */
static const char *const find_types[] = { "any", "file", "directory", "link", NULL };
enum { FIND_ANY };

static const struct arg find_table[] = {
	A_STR(struct find_args, pattern, "pattern", REQUIRED | NONBLANK, "Glob to match"),
	A_STR(struct find_args, path, "path", NONBLANK, "Directory to search; the root if absent"),
	A_INT(struct find_args, limit, "limit", LIMIT_FIND_RESULTS, 1, INT64_MAX, "Most results"),
	A_CHOICE(struct find_args, type, "type", 0, FIND_ANY, find_types,
		 "Only entries of this type"),
	A_STR(struct find_args, cursor, "cursor", 0,
	      "Answer in pages: empty for the first, then nextCursor of the one before"),
	A_END,
};

static const struct field find_fields[] = {
	{ "files", "Paths below the searched directory, \"/\" after directories", FIELD_STR,
	  FIELD_LIST },
	{ "truncated", "Whether there are more", FIELD_BOOL },
	{ "limit", "Most that are returned", FIELD_INT },
	{ "truncation", "What was left out, if anything", FIELD_OBJECT, FIELD_OPTIONAL,
	  truncation_fields },
	{ "nextCursor", "Give this as cursor to continue", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

/* Where a pattern is looked for. */
struct aim {
	struct scope scope;
	struct str pattern; /* what is left of it */
	struct str shown;   /* the path from the searched directory to the scope: "", or "src/" */
	struct str named;   /* the same as the client wrote it, if that was absolute; or empty */
	bool exact_case;
	bool all;     /* also what ignore files hide */
	int64_t type; /* FIND_ANY, or what is found: an enum hit_type plus one */
};

#define AUTO_AIM CLEANUP(aim_done) struct aim

static void aim_done(struct aim *a)
{
	scope_done(&a->scope);
}

/* The path to the entered directory as it is shown before each result. False if an absolute pattern
 * does not lead below the searched directory. */
static bool show_lead(const struct scope *searched, const struct scope *entered, struct str lead,
		      struct str *ret)
{
	if (!str_starts(lead, STR("/"))) {
		while (str_starts(lead, STR("./")))
			lead = str_from(lead, 2);
		*ret = lead;
		return true;
	}
	if (!str_starts(entered->prefix, searched->prefix))
		return false;
	*ret = str_from(entered->prefix, searched->prefix.n);
	return true;
}

/* Whether a path is absolute, and the workspace's own: not one that only means its top. */
static bool names_root(const struct call *c, struct str lead)
{
	const struct path_rules *rules = ws_rules(c->shared->ws);
	const struct str dir = str_upto(lead, lead.n - 1);
	struct str below;

	return str_starts(lead, STR("/")) &&
	       (path_within(rules->root, dir, &below) ||
		(rules->alias.n && path_within(rules->alias, dir, &below)));
}

/*
 * Open the searched directory. The leading components of the pattern that are plain text are
 * entered as if the client had given them as part of the path: links among them are followed, and
 * it does not matter whether ignore rules hide them. If there is no such directory, the pattern may
 * still match others, in another case; and an absolute one that does not lead below the searched
 * directory means the top of that, as it does in an ignore file.
 */
static int take_aim(struct call *c, struct str path, struct str cursor, struct str pattern,
		    struct aim *ret, struct err *e)
{
	AUTO_SCOPE searched = SCOPE_NONE;
	AUTO_SCOPE entered = SCOPE_NONE;
	struct aim aim = { .pattern = pattern };
	struct str lead;

	if (scope_open(c, path, cursor, true, &searched, e) < 0)
		return -1;
	const int length = scope_enter(c, path, cursor, pattern, &lead, &entered, e);
	if (length < 0)
		return -1;
	if (length && show_lead(&searched, &entered, lead, &aim.shown)) {
		/* With its slash: that ties the rest to the top of the entered directory. */
		aim.pattern = str_from(pattern, (size_t)length - 1);
		if (names_root(c, lead))
			aim.named = lead;
		aim.exact_case = glob_has_upper(lead);
		aim.scope = TAKE(entered, ((struct scope)SCOPE_NONE));
	} else {
		aim.scope = TAKE(searched, ((struct scope)SCOPE_NONE));
	}
	*ret = aim;
	return 0;
}

/* Look for what the aim says, and one more than is wanted, to know whether there are more. */
static int find(struct call *c, const struct aim *aim, struct str prefix, size_t most, bool model,
		struct found *ret, struct err *e)
{
	struct scope_names names = { c, aim->scope.prefix };
	struct find_request request = {
		.where = scope_walk(c, &aim->scope, most),
		.prefix = prefix,
		.pattern = aim->pattern,
		.exact_case = aim->exact_case,
		.one_type = aim->type != FIND_ANY,
		.type = (enum hit_type)(aim->type - 1),
		.hides = c->shared->hidden && ws_hides_any(c->shared->ws) ? scope_hides : NULL,
		.hides_arg = &names,
	};

	request.where.all = aim->all;
	request.where.skip_filled = model;
	request.where.spread = model && !aim->scope.from.line;
	return find_run(&request, ret, e) < 0 ? -1 : scope_check_found(c, ret, e);
}

static int find_run_wire(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct find_args *a = args;
	const bool paged = a->cursor.p;
	const int64_t most = paged ? LIMIT_FIND_MOST : INT64_MAX;
	const int64_t asked = a->limit > 0 ? a->limit : LIMIT_FIND_RESULTS;
	const int64_t limit = asked < most ? asked : most;
	AUTO_AIM aim = { .scope = SCOPE_NONE };

	if (take_aim(c, a->path, a->cursor, str_trim(a->pattern), &aim, e) < 0)
		return -1;
	/* As existing clients know it: a pattern with a "/" also finds what ignore files hide, and
	 * an absolute one has absolute results. */
	aim.type = a->type;
	aim.all = !paged && str_index(a->pattern, '/') >= 0;
	const struct str prefix = aim.named.n ? aim.named : aim.shown;
	ret->kind = RESULT_FOUND;
	ret->found = (struct found_result){
		.show = FOUND_PATHS, .limit = limit, .prefix = prefix, .paged = paged
	};
	return find(c, &aim, prefix, limit < INT32_MAX ? (size_t)limit + 1 : 0, false,
		    &ret->found.found, e);
}

const struct tool tool_find = {
	.name = "find",
	.about = "Find files and directories by a glob.",
	.args = find_table,
	.args_size = sizeof(struct find_args),
	.fields = find_fields,
	.flags = TOOL_WIRE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = find_run_wire,
};

static const struct arg find_files_table[] = {
	A_STR(struct find_args, pattern, "pattern", REQUIRED | NONBLANK,
	      "Glob: *.c anywhere, src/**/*.h below src"),
	A_STR(struct find_args, path, "path", NONBLANK, "Directory; default: the workspace"),
	A_INT(struct find_args, limit, "limit", LIMIT_FIND_RESULTS, 1, LIMIT_FIND_MOST,
	      "Most paths (default 1000)"),
	A_STR(struct find_args, cursor, "cursor", RARE, "Goes on from an earlier result"),
	A_INT_FLAGS(struct find_args, max_bytes, "max_bytes", RARE, 0, LIMIT_RESULT_LEAST,
		    LIMIT_RESULT_MOST, "Largest result"),
	A_END,
};

static const struct field find_skipped_fields[] = {
	{ "directories", "Directories that tools fill", FIELD_OBJECT, FIELD_LIST, filled_fields },
	F_END,
};

static const struct field find_files_fields[] = {
	{ "files", "Paths relative to the workspace, in byte order; directories end in /",
	  FIELD_STR, FIELD_LIST },
	{ "total", "Paths returned", FIELD_INT },
	{ "truncated", "Whether there may be more", FIELD_BOOL },
	{ "skipped", "What was left out, if anything", FIELD_OBJECT, FIELD_OPTIONAL,
	  find_skipped_fields },
	{ "more_in", "Where there are more, if the paths are spread over all directories",
	  FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "next_cursor", "Give this as cursor to continue", FIELD_STR, FIELD_OPTIONAL },
	{ "note", "Why nothing was found, if that is known", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

static int find_files_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct find_args *a = args;
	AUTO_AIM aim = { .scope = SCOPE_NONE };

	call_limit(c, a->max_bytes);
	if (take_aim(c, a->path, a->cursor, str_trim(a->pattern), &aim, e) < 0)
		return -1;
	ret->kind = RESULT_FOUND;
	ret->found = (struct found_result){ .show = FOUND_PATHS,
					    .limit = a->limit,
					    .prefix = aim.scope.prefix,
					    .scope = aim.scope.prefix,
					    .spread = !aim.scope.from.line };
	return find(c, &aim, aim.scope.prefix, (size_t)a->limit + 1, true, &ret->found.found, e);
}

const struct tool tool_find_files = {
	.name = "find_files",
	.title = "Find files",
	.about = "Find files by name, without node_modules and the like and what .gitignore "
		 "hides. Use it instead of find.",
	.args = find_files_table,
	.args_size = sizeof(struct find_args),
	.fields = find_files_fields,
	.flags = TOOL_MODEL | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SLOW | TOOL_WORKS,
	.run = find_files_run,
};
