/* SPDX-License-Identifier: MIT */
/* grep: lines of the files of a tree that match a pattern: for programs a limited number of them, or
 * all, page by page; and for models. */

#include "search/grep.h"

#include "base/limits.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/scope.h"
#include "tools/tool.h"
#include "workspace/text.h"
#include "workspace/workspace.h"

/* Of all three tools; each has some of them. */
struct search_args {
	struct str pattern, path, glob, type, cursor;
	const struct json *globs, *types;
	int64_t limit, context, before, after, mode, max_bytes;
	bool ignore_case, literal, multiline, no_ignore, invert;
};

/* What is shown of each hit in a mode. */
static const enum found_show shows[] = {
	[SCAN_LINES] = FOUND_LINES,
	[SCAN_FILES] = FOUND_FILES,
	[SCAN_COUNTS] = FOUND_COUNTS,
	[SCAN_WITHOUT] = FOUND_FILES,
};

/* Search, and leave what was found. */
static int search(const struct call *c, const struct grep_request *request,
		  const struct found_result *found, struct result *ret, struct err *e)
{
	ret->kind = RESULT_FOUND;
	ret->found = *found;
	if (grep_run(request, &ret->found.found, e) < 0)
		return -1;
	return scope_check_found(c, &ret->found.found, e);
}

static const struct arg grep_table[] = {
	A_STR(struct search_args, pattern, "pattern", REQUIRED | NONBLANK, "Pattern to search for"),
	A_STR(struct search_args, path, "path", NONBLANK, "Directory or file; the root if absent"),
	A_STR(struct search_args, glob, "glob", NONBLANK, "Only files whose path fits this glob"),
	A_BOOL(struct search_args, ignore_case, "ignoreCase", false, "Upper and lower case alike"),
	A_BOOL(struct search_args, literal, "literal", false, "The pattern is plain text"),
	A_INT(struct search_args, context, "context", 0, 0, INT64_MAX,
	      "Lines shown around a match"),
	A_INT(struct search_args, limit, "limit", LIMIT_GREP_MATCHES, 1, INT64_MAX, "Most matches"),
	A_END,
};

static const struct field details_fields[] = {
	{ "matchLimitReached", "The limit, if it stopped the search", FIELD_INT, FIELD_OPTIONAL },
	{ "truncation", "What was left out, if anything", FIELD_OBJECT, FIELD_OPTIONAL,
	  truncation_fields },
	{ "linesTruncated", "Whether long lines were cut", FIELD_BOOL, FIELD_OPTIONAL },
	{ "longLinesSkipped", "Lines too long for such a pattern", FIELD_INT, FIELD_OPTIONAL },
	{ "timedOut", "Whether its time was up before all was searched", FIELD_BOOL,
	  FIELD_OPTIONAL },
	{ "ignoredMatches", "Matches in files that ignore rules hide, when there are no others",
	  FIELD_INT, FIELD_OPTIONAL },
	F_END,
};

static const struct field grep_fields[] = {
	{ "content", "path:line: text for a match, path-line- text for its context", FIELD_STR },
	{ "details", "What limited the answer, if anything did", FIELD_OBJECT, FIELD_OPTIONAL,
	  details_fields },
	F_END,
};

/* A file that was searched, as existing clients know it: from the workspace, also if it is outside. */
static struct str file_name(struct call *c, struct str asked, const struct scope *scope)
{
	char room[2 * PATH_MAX];
	struct path path;
	struct err ignored;

	if (scope->file < 0 || call_path(c, asked, &path, &ignored) < 0)
		return scope->shown;
	return arena_dup(c->arena, ws_relative(c->shared->ws, &path, room));
}

static int grep_run_wire(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct search_args *a = args;
	const int64_t limit = a->limit > 0 ? a->limit : LIMIT_GREP_MATCHES;
	AUTO_SCOPE scope = SCOPE_NONE;
	struct str globs[2];

	if (scope_open(c, a->path, STR(""), false, &scope, e) < 0)
		return -1;
	const struct grep_request request = {
		.where = scope_walk(c, &scope, limit < INT32_MAX ? (size_t)limit : 0),
		.file_fd = scope.file,
		.file_path = file_name(c, a->path, &scope),
		.pattern = str_trim(a->pattern),
		.options = { .literal = a->literal, .ignore_case = a->ignore_case },
		.globs = globs,
		.glob_count = scope_globs(c, &scope, a->glob, globs),
		.mode = SCAN_LINES,
		.context = a->context < 0	     ? 0
			   : a->context > UINT32_MAX ? UINT32_MAX
						     : (unsigned)a->context,
	};
	const struct found_result found = { .show = FOUND_LINES, .limit = limit };
	return search(c, &request, &found, ret, e);
}

const struct tool tool_grep = {
	.name = "grep",
	.about = "Search the contents of files for a pattern.",
	.args = grep_table,
	.args_size = sizeof(struct search_args),
	.fields = grep_fields,
	.flags = TOOL_WIRE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = grep_run_wire,
};

static const struct arg search_table[] = {
	A_STR(struct search_args, pattern, "pattern", REQUIRED, "Regular expression"),
	A_STR(struct search_args, path, "path", NONBLANK,
	      "Directory, file or output:<n>; default: the workspace"),
	A_STR(struct search_args, glob, "file_pattern", NONBLANK, "Glob for files: *.js"),
	A_INT(struct search_args, limit, "max_results", LIMIT_SEARCH_MATCHES, 1, LIMIT_SEARCH_MOST,
	      "Most matches (default 50)"),
	A_BOOL_FLAGS(struct search_args, ignore_case, "ignore_case", RARE, false, "Ignore case"),
	A_BOOL_FLAGS(struct search_args, literal, "literal", RARE, false,
		     "The pattern is plain text"),
	A_INT_FLAGS(struct search_args, context, "context", RARE, 0, 0, LIMIT_SEARCH_AROUND,
		    "Lines around each match"),
	A_CHOICE(struct search_args, mode, "mode", RARE, SCAN_LINES, scope_modes,
		 "What is returned of each file"),
	A_BOOL_FLAGS(struct search_args, multiline, "multiline", RARE, false,
		     "Matches may cross lines"),
	A_STR(struct search_args, type, "type", RARE | NONBLANK, "Kind of files: c, py, js, rust"),
	A_STR(struct search_args, cursor, "cursor", RARE, "Goes on from an earlier result"),
	A_INT_FLAGS(struct search_args, max_bytes, "max_bytes", RARE, 0, LIMIT_RESULT_LEAST,
		    LIMIT_RESULT_MOST, "Largest result"),
	A_END,
};

static const struct field match_fields[] = {
	{ "file", "Path relative to the workspace", FIELD_STR },
	{ "line", "Number of the first matching line; in mode lines", FIELD_INT, FIELD_OPTIONAL },
	{ "content",
	  "The matching line; over 500 characters it is cut and ends in ...; one that "
	  "begins in ... is so long that only a later part of it was shown",
	  FIELD_STR, FIELD_OPTIONAL },
	{ "before", "Lines before it, with context", FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "after", "Lines after it, with context", FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "count", "Matching lines in the file; in mode counts", FIELD_INT, FIELD_OPTIONAL },
	F_END,
};

static const struct field search_skipped_fields[] = {
	{ "ignored", "Entries that .gitignore hides; a directory counts once", FIELD_INT },
	{ "hidden", "Entries called .git", FIELD_INT },
	{ "binary", "Binary files", FIELD_INT },
	{ "too_large", "Files that are too large", FIELD_INT },
	{ "unreadable", "Entries that could not be read", FIELD_INT },
	{ "long_lines", "Lines over 8 KB, when the pattern needs look-around or the like",
	  FIELD_INT, FIELD_OPTIONAL },
	{ "directories", "Directories that tools fill", FIELD_OBJECT, FIELD_LIST | FIELD_OPTIONAL,
	  filled_fields },
	F_END,
};

static const struct field search_fields[] = {
	{ "matches", "In byte order of the file, then by line", FIELD_OBJECT, FIELD_LIST,
	  match_fields },
	{ "total_matches", "Matches returned", FIELD_INT },
	{ "files_searched", "Files whose content was searched", FIELD_INT },
	{ "truncated", "Whether there may be more matches", FIELD_BOOL },
	{ "stopped_because", "Why there may be more", FIELD_STR, FIELD_OPTIONAL,
	  .choices = scope_stops },
	{ "skipped", "What was not searched", FIELD_OBJECT, 0, search_skipped_fields },
	{ "more_in", "Where there are more, if the matches are spread over all directories",
	  FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "next_cursor", "Give this as cursor to continue", FIELD_STR, FIELD_OPTIONAL },
	{ "note", "Why nothing was found, if that is known", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

/* Enter the directory that a glob names at its beginning, as find_files does. */
static int enter_named(struct call *c, const struct search_args *a, struct str *glob,
		       struct scope *scope, struct err *e)
{
	AUTO_SCOPE entered = SCOPE_NONE;
	struct str lead;

	if (scope->dir < 0 || str_starts(a->glob, STR("!")))
		return 0;
	const int length = scope_enter(c, a->path, a->cursor, a->glob, &lead, &entered, e);
	if (length <= 0 || !str_starts(entered.prefix, scope->prefix))
		return length < 0 ? -1 : 0;
	/* With its slash: that ties the rest to the top of the entered directory. */
	*glob = str_from(a->glob, (size_t)length - 1);
	scope_done(scope);
	*scope = TAKE(entered, ((struct scope)SCOPE_NONE));
	return 0;
}

static int search_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct search_args *a = args;
	struct str globs[2], glob = a->glob;
	AUTO_SCOPE scope = SCOPE_NONE;

	call_limit(c, a->max_bytes);
	/* A space or a tab is a valid pattern. */
	if (a->pattern.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Invalid arguments for search_files: pattern must be a non-empty "
			       "string, not \"\"");
	if (scope_open(c, a->path, a->cursor, false, &scope, e) < 0 ||
	    enter_named(c, a, &glob, &scope, e) < 0)
		return -1;
	/* One more than is wanted, to know whether there are more. */
	struct grep_request request = {
		.where = scope_walk(c, &scope, (size_t)a->limit + 1),
		.file_fd = scope.file,
		.file_path = scope.shown,
		.prefix = scope.prefix,
		.pattern = a->pattern,
		.options = { a->literal, a->ignore_case, a->multiline },
		.globs = globs,
		.glob_count = scope_globs(c, &scope, glob, globs),
		.types = &a->type,
		.type_count = a->type.n ? 1 : 0,
		.mode = (enum scan_mode)a->mode,
		.context = (unsigned)a->context,
		.after_line = scope.from.line,
	};
	request.where.skip_filled = true;
	request.where.spread = !a->cursor.n;
	const struct found_result found = {
		.show = shows[a->mode],
		.limit = a->limit,
		.prefix = request.prefix,
		.scope = scope.prefix,
		.spread = request.where.spread,
	};
	return search(c, &request, &found, ret, e);
}

const struct tool tool_search_files = {
	.name = "search_files",
	.title = "Search files",
	.about = "Search the contents of files, without binaries, node_modules and the like, and "
		 "what .gitignore hides. Use it instead of grep and rg.",
	.args = search_table,
	.args_size = sizeof(struct search_args),
	.fields = search_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SLOW |
		 TOOL_WORKS | TOOL_SCRUB,
	.run = search_run,
};

/* scope_modes, and one that models have no use for. */
static const char *const page_modes[] = { "lines", "files", "counts", "without", NULL };

static const struct arg page_table[] = {
	A_STR(struct search_args, pattern, "pattern", REQUIRED, "Pattern to search for"),
	A_STR(struct search_args, path, "path", NONBLANK, "Directory or file; the root if absent"),
	A_STRINGS(
		struct search_args, globs, "globs", 0,
		"Only files that these choose; the last that matches decides, !x decides against"),
	A_STRINGS(struct search_args, types, "types", 0,
		  "Only files of these kinds: c, py, js ..."),
	A_BOOL(struct search_args, ignore_case, "ignoreCase", false, "Upper and lower case alike"),
	A_BOOL(struct search_args, literal, "literal", false, "The pattern is plain text"),
	A_BOOL(struct search_args, multiline, "multiline", false, "A match may cross lines"),
	A_BOOL(struct search_args, no_ignore, "noIgnore", false, "Also what ignore files hide"),
	A_BOOL(struct search_args, invert, "invert", false, "Lines that do not match"),
	A_CHOICE(struct search_args, mode, "mode", 0, SCAN_LINES, page_modes,
		 "Matching lines, files with a match, the number of matching lines of each, or "
		 "files "
		 "without a match"),
	A_INT(struct search_args, before, "before", 0, 0, LIMIT_SEARCH_CONTEXT,
	      "Lines to show before each match"),
	A_INT(struct search_args, after, "after", 0, 0, LIMIT_SEARCH_CONTEXT,
	      "Lines to show after each match"),
	A_INT(struct search_args, limit, "limit", LIMIT_SEARCH_MOST, 1, LIMIT_PAGE_MATCHES,
	      "Most matches in this answer"),
	A_STR(struct search_args, cursor, "cursor", 0, "nextCursor of the answer before"),
	A_END,
};

static const struct field page_match_fields[] = {
	{ "path", "Below the searched directory; a searched file is called as it was asked for",
	  FIELD_STR },
	{ "line", "Number of the first matching line; in mode lines", FIELD_INT, FIELD_OPTIONAL },
	{ "lines", "The matching line; several in a multiline search", FIELD_STR,
	  FIELD_LIST | FIELD_OPTIONAL },
	{ "before", "Lines before it", FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "after", "Lines after it", FIELD_STR, FIELD_LIST | FIELD_OPTIONAL },
	{ "cut", "Whether one of these lines is longer than shown", FIELD_BOOL, FIELD_OPTIONAL },
	{ "count", "Matching lines in the file; in mode counts", FIELD_INT, FIELD_OPTIONAL },
	F_END,
};

static const struct field page_skipped_fields[] = {
	{ "ignored", "Entries that ignore files hide; a directory counts once", FIELD_INT },
	{ "binary", "Binary files", FIELD_INT },
	{ "unreadable", "Entries that could not be read", FIELD_INT },
	{ "longLines", "Lines too long for such a pattern", FIELD_INT },
	F_END,
};

static const struct field page_fields[] = {
	{ "matches", "In byte order of the path, then by line", FIELD_OBJECT, FIELD_LIST,
	  page_match_fields },
	{ "isFile", "Whether a single file was searched", FIELD_BOOL },
	{ "filesSearched", "Files whose content was searched for this answer", FIELD_INT },
	{ "stoppedBecause", "Whether there may be more, and why", FIELD_STR,
	  .choices = scope_stops },
	{ "skipped", "What was not searched", FIELD_OBJECT, 0, page_skipped_fields },
	{ "nextCursor", "Give this as cursor to continue", FIELD_STR, FIELD_OPTIONAL },
	{ "note", "Why nothing was found, if that is known", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

/* The strings of a list; for globs (globs_of is not NULL) each also as it is meant from the
 * workspace. Returns how many. */
static int bind_list(const struct call *c, const struct scope *globs_of, const char *name,
		     const struct json *list, const struct str **ret, struct err *e)
{
	size_t n = 0;

	for (const struct json *v = list ? list->first : NULL; v; v = v->next)
		n++;
	if (n > LIMIT_SEARCH_FILTERS)
		return err_set(e, ERR_INVALID_ARGUMENTS, "%s must have at most %d items", name,
			       LIMIT_SEARCH_FILTERS);
	struct str *items = arena_array(c->arena, 2 * n + 1, sizeof *items);
	if (!items)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	*ret = items;
	n = 0;
	for (const struct json *v = list ? list->first : NULL; v; v = v->next) {
		if (globs_of)
			n += scope_globs(c, globs_of, v->string, &items[n]);
		else
			items[n++] = v->string;
	}
	return (int)n;
}

static int64_t within(int64_t n, int64_t least, int64_t most)
{
	return n < least ? least : n > most ? most : n;
}

static int page_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	struct search_args asked = *(const struct search_args *)args;
	const struct search_args *a = &asked;
	AUTO_SCOPE scope = SCOPE_NONE;
	const struct str *globs, *types;

	if (a->pattern.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid pattern");
	if (a->invert && a->multiline)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "invert and multiline cannot be used together");
	asked.before = within(asked.before, 0, LIMIT_SEARCH_CONTEXT);
	asked.after = within(asked.after, 0, LIMIT_SEARCH_CONTEXT);
	asked.limit = within(asked.limit, 1, LIMIT_PAGE_MATCHES);
	if (scope_open(c, a->path, a->cursor, false, &scope, e) < 0)
		return -1;
	const int glob_count = bind_list(c, &scope, "globs", a->globs, &globs, e);
	const int type_count =
		glob_count < 0 ? -1 : bind_list(c, NULL, "types", a->types, &types, e);
	if (type_count < 0)
		return -1;
	/* One more than is wanted, to know whether there are more. */
	struct grep_request request = {
		.where = scope_walk(c, &scope, (size_t)a->limit + 1),
		.file_fd = scope.file,
		.file_path = scope.shown,
		.pattern = a->pattern,
		.options = { a->literal, a->ignore_case, a->multiline },
		.globs = globs,
		.glob_count = (size_t)glob_count,
		.types = types,
		.type_count = (size_t)type_count,
		.mode = (enum scan_mode)a->mode,
		.invert = a->invert,
		.context = (unsigned)(a->before > a->after ? a->before : a->after),
		.after_line = scope.from.line,
	};
	request.where.all = a->no_ignore;
	const struct found_result found = {
		.show = shows[a->mode],
		.limit = a->limit,
		.paged = true,
		.before = a->before,
		.after = a->after,
		.multiline = a->multiline,
		.is_file = scope.file >= 0,
	};
	return search(c, &request, &found, ret, e);
}

const struct tool tool_search = {
	.name = "search",
	.about = "Search the contents of files; page by page, without a limit in all.",
	.args = page_table,
	.args_size = sizeof(struct search_args),
	.fields = page_fields,
	.flags = TOOL_WIRE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = page_run,
};
