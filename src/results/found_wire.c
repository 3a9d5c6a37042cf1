/* SPDX-License-Identifier: MIT */
/* found_wire: what a search found, for programs. */

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "results/findings.h"
#include "results/limits.h"
#include "results/results.h"
#include "tools/limits.h"

#define MAX_SAFE_INTEGER INT64_C(9007199254740991) /* "no limit" to the existing clients */

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

static void write_outcome(const struct way *out, const struct outcome *o)
{
	struct jw *w = out->members;
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
		way_write_truncation(out, &o->text, MAX_SAFE_INTEGER, LIMIT_HEAD_BYTES);
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

static int write_found_lines(const struct way *out, const struct found_result *r, struct err *e)
{
	const struct found *found = &r->found;
	AUTO_BUF lines = { .max = LIMIT_ANSWER };
	struct outcome o = {
		.lines_cut = write_lines(&found->hits, &lines),
		.limit = r->limit,
		.limit_reached = (int64_t)found->hits.count >= r->limit,
		.timed_out = found->account.stopped == WALK_TIMEOUT,
		.ignored_matches = found->ignored_matches,
		.long_lines = found->account.long_lines,
	};

	if (found->hits.count == 0)
		buf_add(&lines, STR("No matches found"));
	if (lines.failed)
		return err_set(e, ERR_TOO_BUSY,
			       "Too many matching lines: use a smaller limit or context");
	text_cut_head(buf_str(&lines), MAX_SAFE_INTEGER, LIMIT_HEAD_BYTES, &o.text);
	write_outcome(out, &o);
	return 0;
}

/* As many whole paths as the limits allow, joined by newlines: the wire contract cuts results as if
 * they were a text. text_cut_head would not do, because a name may contain a newline. */
static void cut_paths(const struct hits *hits, int64_t limit, struct buf *joined, struct text *t)
{
	struct hits_reader reader = { .hits = hits };
	struct hit hit;

	*t = (struct text){ 0 };
	while (hits_next(&reader, &hit)) {
		const int64_t length = (int64_t)utf8_replaced_length(hit.path) + (t->lines > 0);
		t->lines++;
		t->bytes += length;
		if (t->cut == TEXT_WHOLE && t->lines > limit)
			t->cut = TEXT_CUT_LINES;
		if (t->cut == TEXT_WHOLE && t->bytes > LIMIT_HEAD_BYTES)
			t->cut = TEXT_CUT_BYTES;
		if (t->cut != TEXT_WHOLE)
			continue;
		if (joined->n)
			buf_addc(joined, '\n');
		buf_add(joined, hit.path);
		t->out_lines++;
		t->out_bytes += length;
	}
	t->content = buf_str(joined);
}

static void write_files(struct jw *w, const struct hits *hits, int64_t count)
{
	struct hits_reader reader = { .hits = hits };
	struct hit hit;

	jw_array(w, "files");
	while (count-- > 0 && hits_next(&reader, &hit))
		jw_str(w, NULL, hit.path);
	jw_end(w);
}

/* A page is cut only by its limit, and the next one continues after it. */
static void write_page_of_paths(const struct way *out, const struct found_result *r)
{
	const bool more = (int64_t)r->found.hits.count > r->limit;
	const size_t count = more ? (size_t)r->limit : r->found.hits.count;
	struct hits_reader reader = { .hits = &r->found.hits };
	struct hit last = { 0 };

	for (size_t i = 0; i < count && hits_next(&reader, &last); i++)
		;
	write_files(out->members, &r->found.hits, (int64_t)count);
	jw_bool(out->members, "truncated", more || r->found.account.stopped != WALK_COMPLETE);
	jw_int(out->members, "limit", r->limit);
	const struct str cursor = findings_cursor(out, r, (int64_t)count, &last);
	if (cursor.n)
		jw_str(out->members, "nextCursor", cursor);
}

static int write_found_paths(const struct way *out, const struct found_result *r)
{
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct text t;

	if (r->paged) {
		write_page_of_paths(out, r);
		return 0;
	}
	cut_paths(&r->found.hits, r->limit, &text, &t);
	write_files(out->members, &r->found.hits, t.out_lines);
	jw_bool(out->members, "truncated", t.cut != TEXT_WHOLE);
	jw_int(out->members, "limit", r->limit);
	if (t.cut != TEXT_WHOLE)
		way_write_truncation(out, &t, r->limit, LIMIT_HEAD_BYTES);
	return 0;
}

/* Lines of a hit that are one member of its match. */
struct match_part {
	const char *name;
	int64_t first, last; /* line numbers */
};

static void write_part(struct jw *w, const struct match_part *p, struct hit hit, int64_t *lines,
		       bool *cut)
{
	struct hit_line line;
	bool any = false;

	while (hit_next_line(&hit, &line)) {
		if (line.number < p->first || line.number > p->last)
			continue;
		if (!any)
			jw_array(w, p->name);
		any = true;
		jw_str(w, NULL, line.text);
		*cut |= line.cut || line.headless;
		++*lines;
	}
	if (any)
		jw_end(w);
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
static int64_t write_page_match(struct jw *w, const struct found_result *r, const struct hit *hit)
{
	int64_t lines = 1;
	bool cut = false;

	jw_object(w, NULL);
	jw_str(w, "path", hit->path);
	if (r->show == FOUND_COUNTS)
		jw_int(w, "count", hit->value);
	if (r->show == FOUND_LINES) {
		const int64_t last = r->multiline ? last_line(*hit) : hit->line;
		const struct match_part parts[] = {
			{ "lines", hit->line, last },
			{ "before", hit->line - r->before, hit->line - 1 },
			{ "after", last + 1, last + r->after },
		};
		jw_int(w, "line", hit->line);
		for (size_t i = 0; i < ARRAY_LEN(parts); i++)
			write_part(w, &parts[i], *hit, &lines, &cut);
		if (cut)
			jw_bool(w, "cut", true);
	}
	jw_end(w);
	return lines;
}

/* One page of matches, for programs. */
static void write_page_of_matches(const struct way *out, const struct found_result *r)
{
	const struct found *found = &r->found;
	struct jw *w = out->members;
	struct hits_reader reader = { .hits = &found->hits };
	const size_t start = jw_length(w);
	struct hit hit = { 0 }, last = { 0 };
	int64_t n = 0, lines = 0;

	jw_array(w, "matches");
	while (n < r->limit && lines < LIMIT_PAGE_LINES &&
	       jw_length(w) - start < LIMIT_PAGE_BYTES && hits_next(&reader, &hit)) {
		lines += write_page_match(w, r, &hit);
		last = hit;
		n++;
	}
	jw_end(w);
	const enum walk_stop stopped =
		(size_t)n < found->hits.count ? WALK_LIMIT : found->account.stopped;
	jw_bool(w, "isFile", r->is_file);
	jw_int(w, "filesSearched", found->account.files);
	jw_str(w, "stoppedBecause", str_of(scope_stops[stopped]));
	jw_object(w, "skipped");
	jw_int(w, "ignored", found->account.ignored);
	jw_int(w, "binary", found->account.binary);
	jw_int(w, "unreadable", found->account.unreadable);
	jw_int(w, "longLines", found->account.long_lines);
	jw_end(w);
	last.line = last_line(last);
	const struct str cursor = findings_cursor(out, r, n, &last);
	if (cursor.n)
		jw_str(w, "nextCursor", cursor);
	scope_write_note(w, found);
}

int found_wire(const struct way *out, struct result *r, struct err *e)
{
	if (r->found.paged && r->found.show != FOUND_PATHS) {
		write_page_of_matches(out, &r->found);
		return 0;
	}
	return r->found.show == FOUND_LINES ? write_found_lines(out, &r->found, e)
					    : write_found_paths(out, &r->found);
}
