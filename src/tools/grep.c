/* SPDX-License-Identifier: MIT */
/* grep: lines of the files of a tree that match a pattern. */

#include "search/grep.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/human.h"
#include "base/limits.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/scope.h"
#include "tools/tool.h"
#include "workspace/text.h"

struct grep_args {
	struct str pattern, path, glob;
	bool ignore_case, literal;
	int64_t context, limit;
};

static const struct arg grep_table[] = {
	A_STR(struct grep_args, pattern, "pattern", REQUIRED | NONBLANK, "Pattern to search for"),
	A_STR(struct grep_args, path, "path", NONBLANK, "Directory or file; the root if absent"),
	A_STR(struct grep_args, glob, "glob", NONBLANK, "Only files whose path fits this glob"),
	A_BOOL(struct grep_args, ignore_case, "ignoreCase", false, "Upper and lower case alike"),
	A_BOOL(struct grep_args, literal, "literal", false, "The pattern is plain text"),
	A_INT(struct grep_args, context, "context", 0, 0, INT64_MAX, "Lines shown around a match"),
	A_INT(struct grep_args, limit, "limit", LIMIT_GREP_MATCHES, 1, INT64_MAX, "Most matches"),
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

static int grep_run_wire(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct grep_args *a = args;
	const int64_t limit = a->limit > 0 ? a->limit : LIMIT_GREP_MATCHES;
	AUTO_SCOPE scope = SCOPE_NONE;
	struct str globs[2];

	if (scope_open(c, a->path, STR(""), false, &scope, e) < 0)
		return -1;
	const struct grep_request request = {
		.where = scope_walk(c, &scope, limit < INT32_MAX ? (size_t)limit : 0),
		.file_fd = scope.file,
		.file_path = scope.shown,
		.pattern = str_trim(a->pattern),
		.options = { .literal = a->literal, .ignore_case = a->ignore_case },
		.globs = globs,
		.glob_count = scope_globs(c, &scope, a->glob, globs),
		.mode = SCAN_LINES,
		.context = a->context < 0	     ? 0
			   : a->context > UINT32_MAX ? UINT32_MAX
						     : (unsigned)a->context,
	};
	ret->kind = RESULT_FOUND;
	ret->found = (struct found_result){ .show = FOUND_LINES, .limit = limit };
	if (grep_run(&request, &ret->found.found, e) < 0)
		return -1;
	return scope_check_found(c, &ret->found.found, e);
}

const struct tool tool_grep = {
	.name = "grep",
	.about = "Search the contents of files for a pattern.",
	.args = grep_table,
	.args_size = sizeof(struct grep_args),
	.fields = grep_fields,
	.flags = TOOL_WIRE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = grep_run_wire,
};

struct search_args {
	struct str pattern, path, file_pattern, type, cursor;
	int64_t max_results, context, mode, max_bytes;
	bool ignore_case, literal, multiline;
};

static const struct arg search_table[] = {
	A_STR(struct search_args, pattern, "pattern", REQUIRED, "Regular expression"),
	A_STR(struct search_args, path, "path", NONBLANK,
	      "Directory, file or output:<n>; default: the workspace"),
	A_STR(struct search_args, file_pattern, "file_pattern", NONBLANK, "Glob for files: *.js"),
	A_INT(struct search_args, max_results, "max_results", LIMIT_SEARCH_MATCHES, 1,
	      LIMIT_SEARCH_MOST, "Most matches (default 50)"),
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
	{ "next_cursor", "Give this as cursor to continue", FIELD_STR, FIELD_OPTIONAL },
	{ "note", "Why nothing was found, if that is known", FIELD_STR, FIELD_OPTIONAL },
	F_END,
};

static int search_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct search_args *a = args;
	static const enum found_show shows[] = {
		[SCAN_LINES] = FOUND_LINES,
		[SCAN_FILES] = FOUND_FILES,
		[SCAN_COUNTS] = FOUND_COUNTS,
	};
	struct str globs[2];
	AUTO_SCOPE scope = SCOPE_NONE;

	call_limit(c, a->max_bytes);
	/* A space or a tab is a valid pattern. */
	if (a->pattern.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Invalid arguments for search_files: pattern must be a non-empty "
			       "string, not \"\"");
	if (scope_open(c, a->path, a->cursor, false, &scope, e) < 0)
		return -1;
	/* One more than is wanted, to know whether there are more. */
	const struct grep_request request = {
		.where = scope_walk(c, &scope, (size_t)a->max_results + 1),
		.file_fd = scope.file,
		.file_path = scope.shown,
		.prefix = scope.prefix,
		.pattern = a->pattern,
		.options = { a->literal, a->ignore_case, a->multiline },
		.globs = globs,
		.glob_count = scope_globs(c, &scope, a->file_pattern, globs),
		.types = &a->type,
		.type_count = a->type.n ? 1 : 0,
		.mode = (enum scan_mode)a->mode,
		.context = (unsigned)a->context,
		.after_line = scope.from.line,
	};
	ret->kind = RESULT_FOUND;
	ret->found = (struct found_result){
		.show = shows[a->mode],
		.limit = a->max_results,
		.prefix = request.prefix,
	};
	if (grep_run(&request, &ret->found.found, e) < 0)
		return -1;
	return scope_check_found(c, &ret->found.found, e);
}

const struct tool tool_search_files = {
	.name = "search_files",
	.title = "Search files",
	.about = "Search the contents of files, without binaries and what .gitignore hides. Use "
		 "it instead of grep and rg.",
	.args = search_table,
	.args_size = sizeof(struct search_args),
	.fields = search_fields,
	.flags = TOOL_MODEL | TOOL_CORE | TOOL_READ_ONLY | TOOL_IDEMPOTENT | TOOL_SLOW |
		 TOOL_WORKS | TOOL_SCRUB,
	.run = search_run,
};
