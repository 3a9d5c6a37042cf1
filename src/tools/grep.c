/* SPDX-License-Identifier: MIT */
/* grep: lines of the files of a tree that match a pattern. */

#include "search/grep.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/human.h"
#include "tools/findings.h"
#include "tools/limits.h"
#include "tools/scope.h"
#include "tools/seen.h"
#include "tools/tool.h"
#include "workspace/text.h"

#define MAX_SAFE_INTEGER INT64_C(9007199254740991) /* "no limit" to the existing clients */

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

/* Each match is followed by its own context block, even if blocks overlap. Returns whether a line
 * was cut. */
static bool write_lines(const struct hits *hits, struct buf *out)
{
	struct hits_reader reader = { .hits = hits };
	struct hit_line line;
	struct hit hit;
	bool any_cut = false;

	while (hits_next(&reader, &hit)) {
		while (hit_next_line(&hit, &line)) {
			const char sign = line.match ? ':' : '-';
			bool cut = line.cut;
			const struct str text = findings_line(line.text, &cut);
			if (out->n)
				buf_addc(out, '\n');
			buf_add(out, hit.path);
			buf_addc(out, sign);
			buf_addi(out, line.number);
			buf_addc(out, sign);
			buf_addc(out, ' ');
			if (line.headless)
				buf_add(out, STR("[truncated] ..."));
			buf_add(out, text);
			if (cut)
				buf_add(out, STR("... [truncated]"));
			any_cut |= cut || line.headless;
		}
	}
	return any_cut;
}

static void add_notice(struct buf *notices, const char *text)
{
	buf_addf(notices, "%s%s", notices->n ? ". " : "", text);
}

struct outcome {
	struct text text;
	bool limit_reached, lines_cut, timed_out;
	int64_t limit, ignored_matches, long_lines;
};

static void write_result(struct call *c, const struct outcome *o)
{
	struct jw *w = c->out;
	char room[512], reached[120];
	struct buf notices = buf_over(room, sizeof room);

	if (o->limit_reached) {
		(void)snprintf(
			reached, sizeof reached,
			"%lld matches limit reached. Use limit=%lld for more, or refine pattern",
			(long long)o->limit, (long long)o->limit * 2);
		add_notice(&notices, reached);
	}
	if (o->text.cut != TEXT_WHOLE)
		add_notice(&notices, "50KB limit reached");
	if (o->lines_cut)
		add_notice(&notices,
			   "Some lines truncated to 500 chars. Use read tool to see full lines");
	jw_open_str(w, "content");
	jw_piece(w, o->text.content);
	if (notices.n) {
		jw_piece(w, STR("\n\n["));
		jw_piece(w, buf_str(&notices));
		jw_piece(w, STR("]"));
	}
	jw_close_str(w);
	if (!notices.n && !o->ignored_matches && !o->long_lines && !o->timed_out)
		return;
	jw_object(w, "details");
	if (o->limit_reached)
		jw_int(w, "matchLimitReached", o->limit);
	if (o->text.cut != TEXT_WHOLE)
		call_write_truncation(c, &o->text, MAX_SAFE_INTEGER, LIMIT_HEAD_BYTES);
	if (o->lines_cut)
		jw_bool(w, "linesTruncated", true);
	if (o->ignored_matches)
		jw_int(w, "ignoredMatches", o->ignored_matches);
	if (o->long_lines)
		jw_int(w, "longLinesSkipped", o->long_lines);
	if (o->timed_out)
		jw_bool(w, "timedOut", true);
	jw_end(w);
}

static int grep_run_wire(struct call *c, const void *args, struct err *e)
{
	const struct grep_args *a = args;
	const int64_t limit = a->limit > 0 ? a->limit : LIMIT_GREP_MATCHES;
	AUTO_SCOPE scope = SCOPE_NONE;
	AUTO_FOUND found = { 0 };
	AUTO_BUF lines = { .max = LIMIT_ANSWER };
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
	if (grep_run(&request, &found, e) < 0 || scope_check_found(c, &found, e) < 0)
		return -1;
	struct outcome o = {
		.lines_cut = write_lines(&found.hits, &lines),
		.limit = limit,
		.limit_reached = (int64_t)found.hits.count >= limit,
		.timed_out = found.account.stopped == WALK_TIMEOUT,
		.ignored_matches = found.ignored_matches,
		.long_lines = found.account.long_lines,
	};
	if (found.hits.count == 0)
		buf_add(&lines, STR("No matches found"));
	if (lines.failed)
		return err_set(e, ERR_TOO_BUSY,
			       "Too many matching lines: use a smaller limit or context");
	text_cut_head(buf_str(&lines), MAX_SAFE_INTEGER, LIMIT_HEAD_BYTES, &o.text);
	write_result(c, &o);
	return 0;
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

static void write_piece(struct call *c, const struct hit_line *line)
{
	bool cut;

	if (line->headless)
		jw_piece(c->out, STR("..."));
	jw_piece(c->out, findings_model_line(c, line, &cut));
	if (cut)
		jw_piece(c->out, STR("..."));
}

enum part { BEFORE, CONTENT, AFTER };

static enum part part_of(const struct hit *hit, const struct hit_line *line)
{
	if (line->number < hit->line)
		return BEFORE;
	return line->match ? CONTENT : AFTER;
}

static void write_content(struct call *c, struct hit hit)
{
	struct hit_line line;
	const char *separator = "";

	jw_open_str(c->out, "content");
	while (hit_next_line(&hit, &line)) {
		if (part_of(&hit, &line) != CONTENT)
			continue;
		jw_piece(c->out, str_of(separator));
		write_piece(c, &line);
		separator = "\n";
	}
	jw_close_str(c->out);
}

/* Writes nothing if the hit has no such lines. */
static void write_context(struct call *c, const char *name, struct hit hit, enum part part)
{
	struct hit_line line;
	bool any = false;

	while (hit_next_line(&hit, &line)) {
		if (part_of(&hit, &line) != part)
			continue;
		if (!any)
			jw_array(c->out, name);
		any = true;
		jw_open_str(c->out, NULL);
		write_piece(c, &line);
		jw_close_str(c->out);
	}
	if (any)
		jw_end(c->out);
}

/* How much of a hit each mode shows. */
static const enum findings_part parts_of[] = {
	[SCAN_LINES] = FINDINGS_CONTEXT,
	[SCAN_FILES] = FINDINGS_PATH,
	[SCAN_COUNTS] = FINDINGS_PATH,
};

/* Write the first `max` hits, fewer if they are too large for one answer. Returns how many; *last
 * is the last one. */
static int64_t write_matches(struct call *c, const struct hits *hits, enum scan_mode mode,
			     int64_t max, struct hit *last)
{
	struct hits_reader reader = { .hits = hits };
	struct findings f = findings_begin(c);
	struct jw *w = c->out;
	const size_t start = jw_length(w);
	enum findings_part part = parts_of[mode];
	struct hit hit;

	jw_array(w, "matches");
	while (f.count < max && jw_length(w) - start < LIMIT_SEARCH_ANSWER &&
	       hits_next(&reader, &hit) && findings_fit(&f, &hit, &part)) {
		jw_object(w, NULL);
		jw_str(w, "file", hit.path);
		if (mode == SCAN_LINES) {
			jw_int(w, "line", hit.line);
			write_content(c, hit);
			if (part == FINDINGS_CONTEXT) {
				write_context(c, "before", hit, BEFORE);
				write_context(c, "after", hit, AFTER);
			}
		}
		if (mode == SCAN_COUNTS)
			jw_int(w, "count", hit.value);
		jw_end(w);
		*last = hit;
	}
	jw_end(w);
	return f.count;
}

static void write_skipped(struct jw *w, const struct walk_account *account)
{
	jw_object(w, "skipped");
	jw_int(w, "ignored", account->ignored);
	jw_int(w, "hidden", account->hidden);
	jw_int(w, "binary", account->binary);
	jw_int(w, "too_large", account->too_large);
	jw_int(w, "unreadable", account->unreadable);
	if (account->long_lines)
		jw_int(w, "long_lines", account->long_lines);
	jw_end(w);
}

/* Where the next page begins, if the first n hits were written. After a timeout there are gaps
 * before the last match, which a cursor would skip. */
static struct str next_cursor(const struct call *c, const struct found *found, int64_t n,
			      const struct hit *last, enum scan_mode mode, struct str prefix)
{
	const bool more = (size_t)n < found->hits.count || found->account.stopped == WALK_LIMIT;

	if (!more || n == 0 || found->account.stopped == WALK_TIMEOUT)
		return (struct str){ NULL, 0 };
	return cursor_text(&(struct cursor){ str_from(last->path, prefix.n),
					     mode == SCAN_LINES ? last->line : INT64_MAX },
			   c->arena);
}

static void write_found(struct call *c, const struct search_args *a, const struct found *found,
			struct str prefix)
{
	const enum scan_mode mode = (enum scan_mode)a->mode;
	struct hit last = { 0 };
	const int64_t n = write_matches(c, &found->hits, mode, a->max_results, &last);
	if (mode == SCAN_LINES)
		seen_found(c, &found->hits, (size_t)n);
	const enum walk_stop stopped =
		(size_t)n < found->hits.count ? WALK_LIMIT : found->account.stopped;
	const struct str cursor = next_cursor(c, found, n, &last, mode, prefix);

	jw_int(c->out, "total_matches", n);
	jw_int(c->out, "files_searched", found->account.files);
	jw_bool(c->out, "truncated", stopped != WALK_COMPLETE);
	if (stopped != WALK_COMPLETE)
		jw_str(c->out, "stopped_because", str_of(scope_stops[stopped]));
	write_skipped(c->out, &found->account);
	if (cursor.n)
		jw_str(c->out, "next_cursor", cursor);
	scope_write_note(c->out, found);
}

/* "31 matches in 4 files" */
static void summarise(const struct findings *f, const struct walk_account *account,
		      enum scan_mode mode, char *room, size_t size)
{
	char matches[HUMAN_SIZE], files[HUMAN_SIZE];
	const int64_t searched = f->count ? f->files : account->files;
	const char *const plural = searched == 1 ? "" : "s";

	(void)human_count(f->matches, matches);
	(void)human_count(searched, files);
	if (f->count == 0 && searched == 0)
		(void)snprintf(room, size, "no matches: there was no file to search");
	else if (f->count == 0)
		(void)snprintf(room, size, "no matches in %s file%s", files, plural);
	else if (mode == SCAN_FILES)
		(void)snprintf(room, size, "%s file%s", files, plural);
	else
		(void)snprintf(room, size, "%s match%s in %s file%s", matches,
			       f->matches == 1 ? "" : "es", files, plural);
}

static void add_hit(struct findings *f, enum scan_mode mode, const struct hit *hit,
		    const struct hit *next, enum findings_part part)
{
	if (mode == SCAN_FILES)
		findings_add_path(f, hit);
	else if (mode == SCAN_COUNTS)
		findings_add_count(f, hit);
	else
		findings_add_lines(f, *hit, next, part);
}

static void show_found(struct call *c, const struct search_args *a, const struct found *found,
		       struct str prefix)
{
	const enum scan_mode mode = (enum scan_mode)a->mode;
	struct hits_reader reader = { .hits = &found->hits };
	struct findings f = findings_begin(c);
	struct hit hit = { 0 }, next, last = { 0 };
	enum findings_part part = parts_of[mode];
	bool more = hits_next(&reader, &next);
	int64_t before = 0; /* hits of the files before this one */
	char summary[128], note[SCOPE_NOTE];

	while (more && f.count < a->max_results && findings_fit(&f, &next, &part)) {
		if (!str_eq(next.path, last.path))
			before = f.count - 1;
		hit = last = next;
		more = hits_next(&reader, &next);
		add_hit(&f, mode, &hit, more ? &next : NULL, part);
	}
	/* Of a file that goes on in the next answer, lines were left to that. */
	if (part == FINDINGS_CONTEXT)
		seen_found(c, &found->hits,
			   (size_t)(more && str_eq(next.path, last.path) ? before : f.count));
	summarise(&f, &found->account, mode, summary, sizeof summary);
	if (mode == SCAN_LINES && f.count)
		buf_addc(c->text->text, '\n');
	findings_end(&f, &(struct findings_end){
				 .summary = summary,
				 .account = &found->account,
				 .note = scope_note(found, note),
				 .stopped = found->account.stopped,
				 .cursor = next_cursor(c, found, f.count, &last, mode, prefix),
			 });
}

static int search_run(struct call *c, const void *args, struct err *e)
{
	const struct search_args *a = args;
	struct str globs[2];
	AUTO_SCOPE scope = SCOPE_NONE;
	AUTO_FOUND found = { 0 };

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
	if (grep_run(&request, &found, e) < 0 || scope_check_found(c, &found, e) < 0)
		return -1;
	if (c->text)
		show_found(c, a, &found, request.prefix);
	else
		write_found(c, a, &found, request.prefix);
	return scope_check_found(c, &found, e);
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
