/* SPDX-License-Identifier: MIT */
/* found: what a search or a listing found, for models. */

#include <stdio.h>

#include "base/human.h"
#include "results/findings.h"
#include "results/limits.h"
#include "results/results.h"
#include "search/spread.h"
#include "tools/limits.h"

static void write_piece(const struct way *out, const struct hit_line *line)
{
	bool cut;

	if (line->headless)
		jw_piece(out->members, STR("..."));
	jw_piece(out->members, findings_model_line(out, line, &cut));
	if (cut)
		jw_piece(out->members, STR("..."));
}

enum part { BEFORE, CONTENT, AFTER };

static enum part part_of(const struct hit *hit, const struct hit_line *line)
{
	if (line->number < hit->line)
		return BEFORE;
	return line->match ? CONTENT : AFTER;
}

static void write_content(const struct way *out, struct hit hit)
{
	struct hit_line line;
	const char *separator = "";

	jw_open_str(out->members, "content");
	while (hit_next_line(&hit, &line)) {
		if (part_of(&hit, &line) != CONTENT)
			continue;
		jw_piece(out->members, str_of(separator));
		write_piece(out, &line);
		separator = "\n";
	}
	jw_close_str(out->members);
}

/* Writes nothing if the hit has no such lines. */
static void write_context(const struct way *out, const char *name, struct hit hit, enum part part)
{
	struct hit_line line;
	bool any = false;

	while (hit_next_line(&hit, &line)) {
		if (part_of(&hit, &line) != part)
			continue;
		if (!any)
			jw_array(out->members, name);
		any = true;
		jw_open_str(out->members, NULL);
		write_piece(out, &line);
		jw_close_str(out->members);
	}
	if (any)
		jw_end(out->members);
}

static void write_match(const struct way *out, enum found_show show, const struct hit *hit,
			enum findings_part part)
{
	struct jw *w = out->members;

	jw_object(w, NULL);
	jw_str(w, "file", hit->path);
	if (show == FOUND_LINES) {
		jw_int(w, "line", hit->line);
		write_content(out, *hit);
		if (part == FINDINGS_CONTEXT) {
			write_context(out, "before", *hit, BEFORE);
			write_context(out, "after", *hit, AFTER);
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

static void write_filled(struct jw *w, const struct found_result *r)
{
	if (!r->found.filled)
		return;
	jw_array(w, "directories");
	for (const struct filled *f = r->found.filled; f->name; f++) {
		jw_object(w, NULL);
		jw_str(w, "name", str_of(f->name));
		jw_open_str(w, "path");
		jw_piece(w, r->scope);
		jw_piece(w, buf_str(&f->path));
		jw_close_str(w);
		jw_int(w, "count", f->dirs);
		jw_int(w, "files", f->files);
		if (f->more)
			jw_bool(w, "more", true);
		jw_end(w);
	}
	jw_end(w);
}

static void write_skipped_files(struct jw *w, const struct found_result *r)
{
	const struct walk_account *account = &r->found.account;

	jw_object(w, "skipped");
	jw_int(w, "ignored", account->ignored);
	jw_int(w, "hidden", account->hidden);
	jw_int(w, "binary", account->binary);
	jw_int(w, "too_large", account->too_large);
	jw_int(w, "unreadable", account->unreadable);
	if (account->long_lines)
		jw_int(w, "long_lines", account->long_lines);
	write_filled(w, r);
	jw_end(w);
}

static void write_skipped_entries(struct jw *w, const struct found_result *r)
{
	const struct walk_account *account = &r->found.account;
	const bool tree = r->show == FOUND_TREE;

	if (!r->found.filled &&
	    (!tree || (!account->ignored && !account->hidden && !account->unreadable)))
		return;
	jw_object(w, "skipped");
	if (tree) {
		jw_int(w, "ignored", account->ignored);
		jw_int(w, "hidden", account->hidden);
		jw_int(w, "unreadable", account->unreadable);
	}
	write_filled(w, r);
	jw_end(w);
}

/* Choose those hits that are shown, if they are not all. */
static void choose(const struct way *out, struct found_result *r)
{
	const enum findings_part part = findings_part_of(r->show);
	int64_t n = r->limit;

	if (!r->spread)
		return;
	do {
		spread_keep(&r->found, r->prefix.n, (size_t)n);
		n = findings_hold(out, &r->found.hits, part);
	} while (n > 0 && (size_t)n < r->found.hits.count);
}

static void write_left(struct jw *w, const struct hits *left)
{
	enum { MOST = 50 };
	struct hits_reader reader = { .hits = left };
	struct hit hit;

	if (!left->count)
		return;
	jw_array(w, "more_in");
	for (size_t i = 0; i < MOST && hits_next(&reader, &hit); i++)
		jw_str(w, NULL, hit.path);
	jw_end(w);
}

/* Write as many hits as an answer holds. Returns how many; *last is the last one. */
static int64_t write_hits(const struct way *out, const struct found_result *r, struct hit *last)
{
	struct hits_reader reader = { .hits = &r->found.hits };
	struct findings f = findings_begin(out);
	enum findings_part part = findings_part_of(r->show);
	const size_t start = jw_length(out->members);
	struct hit hit;

	while (f.count < r->limit && jw_length(out->members) - start < LIMIT_SEARCH_ANSWER &&
	       hits_next(&reader, &hit) && findings_fit(&f, &hit, &part)) {
		if (r->show == FOUND_PATHS)
			jw_str(out->members, NULL, hit.path);
		else if (r->show == FOUND_TREE)
			write_entry(out->members, &hit);
		else
			write_match(out, r->show, &hit, part);
		*last = hit;
	}
	return f.count;
}

int found_observation(const struct way *out, struct result *result, struct err *e)
{
	static const char *const lists[] = {
		[FOUND_LINES] = "matches", [FOUND_FILES] = "matches", [FOUND_COUNTS] = "matches",
		[FOUND_PATHS] = "files",   [FOUND_TREE] = "entries",
	};
	struct found_result *const r = &result->found;
	const bool searched = r->show <= FOUND_COUNTS;
	const struct walk_account *account = &r->found.account;
	struct jw *w = out->members;
	struct hit last = { 0 };

	(void)e;
	choose(out, r);
	jw_array(w, lists[r->show]);
	const int64_t n = write_hits(out, r, &last);
	jw_end(w);
	r->seen = (size_t)n;
	const enum walk_stop stopped =
		(size_t)n < r->found.hits.count ? WALK_LIMIT : account->stopped;
	const struct str cursor = findings_cursor(out, r, n, &last);
	jw_int(w, searched ? "total_matches" : "total", n);
	if (searched)
		jw_int(w, "files_searched", account->files);
	if (r->show == FOUND_TREE)
		jw_str(w, "path", r->path);
	jw_bool(w, "truncated", stopped != WALK_COMPLETE);
	if (searched && stopped != WALK_COMPLETE)
		jw_str(w, "stopped_because", str_of(scope_stops[stopped]));
	if (searched)
		write_skipped_files(w, r);
	else
		write_skipped_entries(w, r);
	write_left(w, &r->found.left);
	if (cursor.n)
		jw_str(w, "next_cursor", cursor);
	if (r->show != FOUND_TREE)
		scope_write_note(w, &r->found);
	return 0;
}

/* "31 matches in 4 files" */
static void summarise(const struct findings *f, const struct walk_account *account,
		      enum found_show show, char *room, size_t size)
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
	else if (show == FOUND_FILES)
		(void)snprintf(room, size, "%s file%s", files, plural);
	else
		(void)snprintf(room, size, "%s match%s in %s file%s", matches,
			       f->matches == 1 ? "" : "es", files, plural);
}

static void add_hit(struct findings *f, enum found_show show, const struct hit *hit,
		    const struct hit *next, enum findings_part part)
{
	switch (show) {
	case FOUND_LINES:
		findings_add_lines(f, *hit, next, part);
		break;
	case FOUND_COUNTS:
		findings_add_count(f, hit);
		break;
	case FOUND_FILES:
	case FOUND_PATHS:
		findings_add_path(f, hit);
		break;
	case FOUND_TREE:
		findings_add_entry(f, hit);
		break;
	}
}

/* Show as many hits as an answer holds. Returns the last one. */
static struct hit add_hits(struct findings *f, struct found_result *r)
{
	struct hits_reader reader = { .hits = &r->found.hits };
	enum findings_part part = findings_part_of(r->show);
	struct hit hit, next, last = { 0 };
	bool more = hits_next(&reader, &next);
	int64_t before = 0; /* hits of the files before this one */

	while (more && f->count < r->limit && findings_fit(f, &next, &part)) {
		if (!str_eq(next.path, last.path))
			before = f->count - 1;
		hit = last = next;
		more = hits_next(&reader, &next);
		add_hit(f, r->show, &hit, more ? &next : NULL, part);
	}
	/* Of a file that goes on in the next answer, lines were left to that. */
	if (part == FINDINGS_CONTEXT)
		r->seen = (size_t)(more && str_eq(next.path, last.path) ? before : f->count);
	return last;
}

int found_text(const struct way *out, struct result *result, struct err *e)
{
	struct found_result *const r = &result->found;
	const bool searched = r->show <= FOUND_COUNTS, tree = r->show == FOUND_TREE;
	choose(out, r);
	struct findings f = findings_begin(out);
	const struct hit last = add_hits(&f, r);
	char summary[128] = "", note[SCOPE_NOTE];

	(void)e;
	if (searched)
		summarise(&f, &r->found.account, r->show, summary, sizeof summary);
	else if (!f.count)
		(void)snprintf(summary, sizeof summary, "%s",
			       tree && !r->by_name ? "empty directory" : "no matches");
	if (r->show == FOUND_LINES && f.count)
		buf_addc(out->text->text, '\n');
	findings_end(&f, &(struct findings_end){
				 .left = &r->found.left,
				 .summary = *summary ? summary : NULL,
				 .account = searched || tree ? &r->found.account : NULL,
				 .filled = r->found.filled,
				 .scope = r->scope,
				 .note = tree ? NULL : scope_note(&r->found, note),
				 .stopped = r->found.account.stopped,
				 .cursor = findings_cursor(out, r, f.count, &last),
			 });
	return 0;
}
