/* SPDX-License-Identifier: MIT */
/* observation: results as members of what a model's program gets. */

#include "base/limits.h"
#include "results/findings.h"
#include "results/fit.h"
#include "results/limits.h"
#include "results/results.h"
#include "tools/limits.h"

static int show_page(const struct call *c, struct page *p, struct err *e)
{
	if (p->first > p->text.total_lines)
		return results_beyond_end(p, p->text.total_lines, e);
	const struct fit f = fit_of(c);
	const int width = p->numbered ? results_number_width(p, 1) : 0;
	fit_page(&f, width + p->numbered, p);
	const struct str content = results_number(p, width, false, c->arena);
	if (!content.p)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the file, try again");
	jw_str(c->out, "content", content);
	jw_int(c->out, "lines", p->text.out_lines);
	jw_str(c->out, "path", p->name);
	jw_int(c->out, "total_lines", p->text.total_lines);
	jw_bool(c->out, "truncated", p->text.cut != TEXT_WHOLE || p->left_out);
	if (p->next)
		jw_int(c->out, "next_start_line", p->next);
	return 0;
}

static void write_piece(const struct call *c, const struct hit_line *line)
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

static void write_content(const struct call *c, struct hit hit)
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
static void write_context(const struct call *c, const char *name, struct hit hit, enum part part)
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

static void write_match(const struct call *c, enum found_show show, const struct hit *hit,
			enum findings_part part)
{
	struct jw *w = c->out;

	jw_object(w, NULL);
	jw_str(w, "file", hit->path);
	if (show == FOUND_LINES) {
		jw_int(w, "line", hit->line);
		write_content(c, *hit);
		if (part == FINDINGS_CONTEXT) {
			write_context(c, "before", *hit, BEFORE);
			write_context(c, "after", *hit, AFTER);
		}
	}
	if (show == FOUND_COUNTS)
		jw_int(w, "count", hit->value);
	jw_end(w);
}

static void write_entry(struct jw *w, const struct hit *hit)
{
	const bool dir = hit->type == HIT_DIRECTORY;

	jw_object(w, NULL);
	jw_str(w, "name", str_upto(hit->path, hit->path.n - dir));
	jw_str(w, "type", str_of(found_types[hit->type]));
	jw_int(w, "size", hit->value);
	jw_end(w);
}

static void write_skipped_files(struct jw *w, const struct walk_account *account)
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

static void write_skipped_entries(struct jw *w, const struct walk_account *account)
{
	if (!account->ignored && !account->hidden && !account->unreadable)
		return;
	jw_object(w, "skipped");
	jw_int(w, "ignored", account->ignored);
	jw_int(w, "hidden", account->hidden);
	jw_int(w, "unreadable", account->unreadable);
	jw_end(w);
}

/* Write as many hits as an answer holds. Returns how many; *last is the last one. */
static int64_t write_hits(const struct call *c, const struct found_result *r, struct hit *last)
{
	struct hits_reader reader = { .hits = &r->found.hits };
	struct findings f = findings_begin(c);
	enum findings_part part = findings_part_of(r->show);
	const size_t start = jw_length(c->out);
	struct hit hit;

	while (f.count < r->limit && jw_length(c->out) - start < LIMIT_SEARCH_ANSWER &&
	       hits_next(&reader, &hit) && findings_fit(&f, &hit, &part)) {
		if (r->show == FOUND_PATHS)
			jw_str(c->out, NULL, hit.path);
		else if (r->show == FOUND_TREE)
			write_entry(c->out, &hit);
		else
			write_match(c, r->show, &hit, part);
		*last = hit;
	}
	return f.count;
}

static int show_found(const struct call *c, struct found_result *r)
{
	static const char *const lists[] = {
		[FOUND_LINES] = "matches", [FOUND_FILES] = "matches", [FOUND_COUNTS] = "matches",
		[FOUND_PATHS] = "files",   [FOUND_TREE] = "entries",
	};
	const bool searched = r->show <= FOUND_COUNTS;
	const struct walk_account *account = &r->found.account;
	struct jw *w = c->out;
	struct hit last = { 0 };

	jw_array(w, lists[r->show]);
	const int64_t n = write_hits(c, r, &last);
	jw_end(w);
	r->seen = (size_t)n;
	const enum walk_stop stopped =
		(size_t)n < r->found.hits.count ? WALK_LIMIT : account->stopped;
	const struct str cursor = findings_cursor(c, r, n, &last);
	jw_int(w, searched ? "total_matches" : "total", n);
	if (searched)
		jw_int(w, "files_searched", account->files);
	if (r->show == FOUND_TREE)
		jw_str(w, "path", r->path);
	jw_bool(w, "truncated", stopped != WALK_COMPLETE);
	if (searched && stopped != WALK_COMPLETE)
		jw_str(w, "stopped_because", str_of(scope_stops[stopped]));
	if (searched)
		write_skipped_files(w, account);
	else if (r->show == FOUND_TREE)
		write_skipped_entries(w, account);
	if (cursor.n)
		jw_str(w, "next_cursor", cursor);
	if (r->show != FOUND_TREE)
		scope_write_note(w, &r->found);
	return 0;
}

/* The member "diff": of one that is too long the beginning, and a line that says so. */
static void write_diff(const struct call *c, struct str diff)
{
	struct fit f = fit_of(c);
	char about[RESULTS_ABOUT];

	if (f.bytes > LIMIT_HEAD_BYTES)
		f.bytes = LIMIT_HEAD_BYTES;
	const struct diff_head head = fit_diff(&f, LIMIT_HEAD_LINES, diff);
	results_describe(&head, about);
	jw_open_str(c->out, "diff");
	jw_piece(c->out, head.text);
	if (*about) {
		jw_piece(c->out, head.text.n ? STR("\n[") : STR("["));
		jw_piece(c->out, str_of(about));
		jw_piece(c->out, STR("]"));
	}
	jw_close_str(c->out);
}

static void write_edited(const struct call *c, const struct edited *f)
{
	jw_object(c->out, NULL);
	jw_str(c->out, "path", f->path);
	jw_str(c->out, "kind", str_of(f->kind));
	if (f->from.n)
		jw_str(c->out, "from", f->from);
	jw_int(c->out, "added", f->size.added);
	jw_int(c->out, "removed", f->size.removed);
	write_diff(c, f->diff);
	jw_end(c->out);
}

static int show_edits(const struct call *c, const struct edits *d)
{
	struct jw *w = c->out;

	if (d->by == EDITS_BY_PATCH) {
		jw_array(w, "files");
		for (size_t i = 0; i < d->count; i++)
			write_edited(c, &d->files[i]);
		jw_end(w);
		results_write_notes(w, d);
		return 0;
	}
	jw_str(w, "path", d->files[0].path);
	if (d->by == EDITS_BY_WRITE) {
		jw_int(w, "bytes_written", d->bytes);
		jw_bool(w, "created", d->created);
		return 0;
	}
	write_diff(c, d->files[0].diff);
	jw_int(w, "replacements", d->places);
	return 0;
}

int observation_show(const struct call *c, struct result *r, struct err *e)
{
	switch (r->kind) {
	case RESULT_PAGE:
		return show_page(c, &r->page, e);
	case RESULT_FOUND:
		return show_found(c, &r->found);
	case RESULT_EDITS:
		return show_edits(c, &r->edits);
	case RESULT_NAMES: /* models have another tool */
	case RESULT_IMAGE: /* nobody can be shown one this way */
	case RESULT_WRITTEN:
		break;
	}
	return 0;
}
