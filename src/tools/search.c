/* SPDX-License-Identifier: MIT */
/* search: the lines of a tree that match a pattern, for programs: all of them, page by page. */

#include "search/grep.h"

#include "tools/limits.h"
#include "tools/scope.h"
#include "tools/tool.h"

struct page_args {
	struct str pattern, path, cursor;
	const struct json *globs, *types;
	bool ignore_case, literal, multiline, no_ignore;
	int64_t mode, before, after, limit;
};

static const struct arg page_table[] = {
	A_STR(struct page_args, pattern, "pattern", REQUIRED, "Pattern to search for"),
	A_STR(struct page_args, path, "path", NONBLANK, "Directory or file; the root if absent"),
	A_STRINGS(
		struct page_args, globs, "globs", 0,
		"Only files that these choose; the last that matches decides, !x decides against"),
	A_STRINGS(struct page_args, types, "types", 0, "Only files of these kinds: c, py, js ..."),
	A_BOOL(struct page_args, ignore_case, "ignoreCase", false, "Upper and lower case alike"),
	A_BOOL(struct page_args, literal, "literal", false, "The pattern is plain text"),
	A_BOOL(struct page_args, multiline, "multiline", false, "A match may cross lines"),
	A_BOOL(struct page_args, no_ignore, "noIgnore", false, "Also what ignore files hide"),
	A_CHOICE(struct page_args, mode, "mode", 0, SCAN_LINES, scope_modes,
		 "Matching lines, files with a match, or the number of matching lines of each"),
	A_INT(struct page_args, before, "before", 0, 0, LIMIT_SEARCH_CONTEXT,
	      "Lines to show before each match"),
	A_INT(struct page_args, after, "after", 0, 0, LIMIT_SEARCH_CONTEXT,
	      "Lines to show after each match"),
	A_INT(struct page_args, limit, "limit", LIMIT_SEARCH_MOST, 1, LIMIT_PAGE_MATCHES,
	      "Most matches in this answer"),
	A_STR(struct page_args, cursor, "cursor", 0, "nextCursor of the answer before"),
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

/* Lines of a hit that are one member of its match. */
struct part {
	const char *name;
	int64_t first, last; /* line numbers */
};

static void write_part(struct call *c, const struct part *p, struct hit hit, int64_t *lines,
		       bool *cut)
{
	struct hit_line line;
	bool any = false;

	while (hit_next_line(&hit, &line)) {
		if (line.number < p->first || line.number > p->last)
			continue;
		if (!any)
			jw_array(c->out, p->name);
		any = true;
		jw_str(c->out, NULL, line.text);
		*cut |= line.cut || line.headless;
		++*lines;
	}
	if (any)
		jw_end(c->out);
}

/* The number of the last line that matches. */
static int64_t last_line(struct hit hit)
{
	struct hit_line line;
	int64_t last = hit.line;

	while (hit_next_line(&hit, &line))
		if (line.match && line.number == last + 1)
			last = line.number;
	return last;
}

/* Write one hit. Returns how many lines it has. */
static int64_t write_match(struct call *c, const struct page_args *a, const struct hit *hit)
{
	int64_t lines = 1;
	bool cut = false;

	jw_object(c->out, NULL);
	jw_str(c->out, "path", hit->path);
	if (a->mode == SCAN_COUNTS)
		jw_int(c->out, "count", hit->value);
	if (a->mode == SCAN_LINES) {
		const int64_t last = a->multiline ? last_line(*hit) : hit->line;
		const struct part parts[] = {
			{ "lines", hit->line, last },
			{ "before", hit->line - a->before, hit->line - 1 },
			{ "after", last + 1, last + a->after },
		};
		jw_int(c->out, "line", hit->line);
		for (size_t i = 0; i < ARRAY_LEN(parts); i++)
			write_part(c, &parts[i], *hit, &lines, &cut);
		if (cut)
			jw_bool(c->out, "cut", true);
	}
	jw_end(c->out);
	return lines;
}

static void write_page(struct call *c, const struct page_args *a, const struct found *found,
		       bool is_file)
{
	struct hits_reader reader = { .hits = &found->hits };
	const size_t start = jw_length(c->out);
	struct hit hit = { 0 }, last = { 0 };
	int64_t n = 0, lines = 0;

	jw_array(c->out, "matches");
	while (n < a->limit && lines < LIMIT_PAGE_LINES &&
	       jw_length(c->out) - start < LIMIT_PAGE_BYTES && hits_next(&reader, &hit)) {
		lines += write_match(c, a, &hit);
		last = hit;
		n++;
	}
	jw_end(c->out);
	const enum walk_stop stopped =
		(size_t)n < found->hits.count ? WALK_LIMIT : found->account.stopped;
	jw_bool(c->out, "isFile", is_file);
	jw_int(c->out, "filesSearched", found->account.files);
	jw_str(c->out, "stoppedBecause", str_of(scope_stops[stopped]));
	jw_object(c->out, "skipped");
	jw_int(c->out, "ignored", found->account.ignored);
	jw_int(c->out, "binary", found->account.binary);
	jw_int(c->out, "unreadable", found->account.unreadable);
	jw_int(c->out, "longLines", found->account.long_lines);
	jw_end(c->out);
	/* After a timeout there are gaps before the last match, which a cursor would skip. */
	if (stopped == WALK_LIMIT && found->account.stopped != WALK_TIMEOUT && n)
		jw_str(c->out, "nextCursor",
		       cursor_text(&(struct cursor){ last.path, a->mode == SCAN_LINES
									? last_line(last)
									: INT64_MAX },
				   c->arena));
	scope_write_note(c->out, found);
}

static int64_t within(int64_t n, int64_t least, int64_t most)
{
	return n < least ? least : n > most ? most : n;
}

static int page_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	(void)ret;
	struct page_args asked = *(const struct page_args *)args;
	const struct page_args *a = &asked;
	AUTO_SCOPE scope = SCOPE_NONE;
	AUTO_FOUND found = { 0 };
	const struct str *globs, *types;

	if (a->pattern.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid pattern");
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
		.context = (unsigned)(a->before > a->after ? a->before : a->after),
		.after_line = scope.from.line,
	};
	request.where.all = a->no_ignore;
	if (grep_run(&request, &found, e) < 0 || scope_check_found(c, &found, e) < 0)
		return -1;
	write_page(c, a, &found, scope.file >= 0);
	return scope_check_found(c, &found, e);
}

const struct tool tool_search = {
	.name = "search",
	.about = "Search the contents of files; page by page, without a limit in all.",
	.args = page_table,
	.args_size = sizeof(struct page_args),
	.fields = page_fields,
	.flags = TOOL_WIRE | TOOL_READ_ONLY | TOOL_SLOW | TOOL_WORKS,
	.run = page_run,
};
