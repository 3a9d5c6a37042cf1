/* SPDX-License-Identifier: MIT */
/* grep: lines of the files of a tree that match a pattern. */

#include "search/grep.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "tools/scope.h"
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

/* The first part of a line that is as long as the contract shows: counted as JavaScript counts. */
static struct str cut_line(struct str line, bool *cut)
{
	size_t at = 0, bad;

	for (size_t units = 0; at < line.n;) {
		const struct str rest = str_from(line, at);
		const size_t n = utf8_next(rest, &bad);
		units += n == 4 ? 2 : 1;
		if (units > LIMIT_GREP_LINE) {
			*cut = true;
			return str_upto(line, at);
		}
		at += n ? n : bad;
	}
	return line;
}

/* Each match is followed by its own context block, whether or not blocks overlap. */
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
			const struct str text = cut_line(line.text, &cut);
			buf_addf(out, "%s%.*s%c%lld%c ", out->n ? "\n" : "", STR_FMT(hit.path),
				 sign, (long long)line.number, sign);
			buf_add(out, text);
			if (cut)
				buf_add(out, STR("... [truncated]"));
			any_cut |= cut;
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
	bool limit_reached, lines_cut;
	int64_t limit, ignored_matches;
};

static void write_result(struct jw *w, const struct outcome *o, struct buf *content)
{
	AUTO_BUF notices = { .max = 1024 };
	char reached[120];

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
	buf_add(content, o->text.content);
	if (notices.n)
		buf_addf(content, "\n\n[%.*s]", STR_FMT(buf_str(&notices)));
	jw_str(w, "content", buf_str(content));
	if (!notices.n && !o->ignored_matches)
		return;
	jw_object(w, "details");
	if (o->limit_reached)
		jw_int(w, "matchLimitReached", o->limit);
	if (o->text.cut != TEXT_WHOLE)
		text_write_truncation(w, "truncation", &o->text, MAX_SAFE_INTEGER,
				      LIMIT_HEAD_BYTES);
	if (o->lines_cut)
		jw_bool(w, "linesTruncated", true);
	if (o->ignored_matches)
		jw_int(w, "ignoredMatches", o->ignored_matches);
	jw_end(w);
}

static int grep_run_wire(struct call *c, const void *args, struct err *e)
{
	const struct grep_args *a = args;
	const int64_t limit = a->limit > 0 ? a->limit : LIMIT_GREP_MATCHES;
	AUTO_SCOPE scope = { .dir = -1, .file = -1 };
	AUTO_FOUND found = { 0 };
	AUTO_BUF lines = { .max = LIMIT_ANSWER };
	AUTO_BUF content = { .max = LIMIT_ANSWER };

	if (scope_open(c, a->path, false, &scope, e) < 0)
		return -1;
	const struct grep_request request = {
		.where = scope_walk(c, &scope, limit < INT32_MAX ? (size_t)limit : 0),
		.file_fd = scope.file,
		.file_path = scope.shown,
		.pattern = str_trim(a->pattern),
		.options = { .literal = a->literal, .ignore_case = a->ignore_case },
		.globs = &a->glob,
		.glob_count = a->glob.n ? 1 : 0,
		.mode = SCAN_LINES,
		.context = a->context < 0	     ? 0
			   : a->context > UINT32_MAX ? UINT32_MAX
						     : (unsigned)a->context,
	};
	if (grep_run(&request, &found, e) < 0)
		return -1;
	if (found.hits.count == 0 && found.account.stopped == WALK_TIMEOUT)
		return err_set(e, ERR_SEARCH_TIMEOUT, "%s",
			       *found.why.msg
				       ? found.why.msg
				       : "No match was found before the time was up: search a "
					 "smaller directory or refine the pattern");
	struct outcome o = {
		.lines_cut = write_lines(&found.hits, &lines),
		.limit = limit,
		.limit_reached = (int64_t)found.hits.count >= limit,
		.ignored_matches = found.ignored_matches,
	};
	if (found.hits.count == 0)
		buf_add(&lines, STR("No matches found"));
	if (lines.failed)
		return err_set(e, ERR_TOO_BUSY,
			       "Too many matching lines: use a smaller limit or context");
	text_cut_head(buf_str(&lines), MAX_SAFE_INTEGER, LIMIT_HEAD_BYTES, &o.text);
	write_result(c->out, &o, &content);
	return 0;
}

const struct tool tool_grep = {
	.name = "grep",
	.about = "Search the contents of files for a pattern.",
	.args = grep_table,
	.args_size = sizeof(struct grep_args),
	.flags = TOOL_WIRE | TOOL_SLOW,
	.run = grep_run_wire,
};
