/* SPDX-License-Identifier: MIT */
/* wire: results as members of the answers of the HTTP endpoints, as the existing contract has them. */

#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "results/findings.h"
#include "results/results.h"
#include "tools/limits.h"

static int show_page(const struct call *c, struct page *p)
{
	const struct text *t = &p->text;

	jw_str(c->out, "type", STR("text"));
	jw_str(c->out, "content", t->content);
	jw_int(c->out, "totalLines", t->total_lines);
	jw_bool(c->out, "hasMore",
		t->cut != TEXT_WHOLE || p->first - 1 + t->lines < t->total_lines);
	if (t->cut != TEXT_WHOLE)
		call_write_truncation(c, t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}

static int show_image(const struct call *c, const struct image *i)
{
	jw_str(c->out, "type", STR("image"));
	jw_base64(c->out, "data", i->bytes);
	jw_str(c->out, "mimeType", str_of(i->type));
	return 0;
}

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

static void write_outcome(const struct call *c, const struct outcome *o)
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

static int show_lines(const struct call *c, const struct found_result *r, struct err *e)
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
	write_outcome(c, &o);
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
static void show_page_of_paths(const struct call *c, const struct found_result *r)
{
	const bool more = (int64_t)r->found.hits.count > r->limit;
	const size_t count = more ? (size_t)r->limit : r->found.hits.count;
	struct hits_reader reader = { .hits = &r->found.hits };
	struct hit last = { 0 };

	for (size_t i = 0; i < count && hits_next(&reader, &last); i++)
		;
	write_files(c->out, &r->found.hits, (int64_t)count);
	jw_bool(c->out, "truncated", more || r->found.account.stopped != WALK_COMPLETE);
	jw_int(c->out, "limit", r->limit);
	const struct str cursor = findings_cursor(c, r, (int64_t)count, &last);
	if (cursor.n)
		jw_str(c->out, "nextCursor", cursor);
}

static int show_paths(const struct call *c, const struct found_result *r)
{
	AUTO_BUF text = { .max = LIMIT_ANSWER };
	struct text t;

	if (r->paged) {
		show_page_of_paths(c, r);
		return 0;
	}
	cut_paths(&r->found.hits, r->limit, &text, &t);
	write_files(c->out, &r->found.hits, t.out_lines);
	jw_bool(c->out, "truncated", t.cut != TEXT_WHOLE);
	jw_int(c->out, "limit", r->limit);
	if (t.cut != TEXT_WHOLE)
		call_write_truncation(c, &t, r->limit, LIMIT_HEAD_BYTES);
	return 0;
}

static int show_names(const struct call *c, const struct name_list *n)
{
	struct text t;

	text_cut_head(n->text, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES, &t);
	jw_str(c->out, "output", t.content);
	if (t.cut != TEXT_WHOLE)
		call_write_truncation(c, &t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}

static void write_file(struct jw *w, const struct edited *f)
{
	jw_object(w, NULL);
	jw_str(w, "path", f->path);
	jw_str(w, "kind", str_of(f->kind));
	if (f->from.n)
		jw_str(w, "from", f->from);
	jw_int(w, "added", f->size.added);
	jw_int(w, "removed", f->size.removed);
	jw_str(w, "diff", f->diff);
	jw_end(w);
}

static int show_edits(const struct call *c, const struct edits *d)
{
	struct jw *w = c->out;

	if (d->by == EDITS_BY_PATCH) {
		jw_array(w, "files");
		for (size_t i = 0; i < d->count; i++)
			write_file(w, &d->files[i]);
		jw_end(w);
		results_write_notes(w, d);
		return 0;
	}
	jw_bool(w, "ok", true);
	jw_str(w, "path", d->files[0].path);
	if (d->by == EDITS_BY_WRITE) {
		jw_int(w, "bytes", d->bytes);
		return 0;
	}
	jw_str(w, "diff", d->files[0].diff);
	if (d->counted)
		jw_int(w, "replacements", d->places);
	return 0;
}

int wire_show(const struct call *c, struct result *r, struct err *e)
{
	switch (r->kind) {
	case RESULT_PAGE:
		return show_page(c, &r->page);
	case RESULT_IMAGE:
		return show_image(c, &r->image);
	case RESULT_FOUND:
		return r->found.show == FOUND_LINES ? show_lines(c, &r->found, e)
						    : show_paths(c, &r->found);
	case RESULT_NAMES:
		return show_names(c, &r->names);
	case RESULT_EDITS:
		return show_edits(c, &r->edits);
	case RESULT_WRITTEN:
		break;
	}
	return 0;
}
