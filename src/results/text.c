/* SPDX-License-Identifier: MIT */
/* text: results as a model reads them. */

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/human.h"
#include "base/limits.h"
#include "results/findings.h"
#include "results/fit.h"
#include "results/results.h"
#include "tools/limits.h"

static void add_sentence(struct buf *text, const struct sentence *s)
{
	if (!s->before)
		return;
	buf_add(text, str_of(s->before));
	buf_add(text, s->name);
	buf_add(text, str_of(s->after));
}

/* Which part of the file it is, unless it is all, and how to go on. */
static void note_range(const struct call *c, const struct page *p)
{
	const int64_t end = p->first + p->text.out_lines - 1;
	const int64_t last = end < p->all_lines ? end : p->all_lines;
	char range[64], more[64] = "";

	if (p->first == 1 && last == p->all_lines)
		return;
	(void)snprintf(range, sizeof range, p->first == last ? "line %lld" : "lines %lld-%lld",
		       (long long)p->first, (long long)last);
	if (last < p->all_lines)
		(void)snprintf(more, sizeof more,
			       c->native ? "; next: view_range [%lld, -1]"
					 : "; next: start_line=%lld",
			       (long long)last + 1);
	call_note(c, "%s of %lld%s", range, (long long)p->all_lines, more);
}

static int fail_range(const struct page *p, struct err *e)
{
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "Invalid `view_range`: [%lld, %lld]. Line %lld is beyond the end of the "
		       "file (%lld lines)",
		       (long long)p->first, (long long)(p->last ? p->last : -1),
		       (long long)p->first, (long long)p->all_lines);
}

static int show_page(const struct call *c, struct page *p, struct err *e)
{
	enum { CAT_WIDTH = 6 }; /* providers' own tools number lines as cat -n does */
	char room[HUMAN_SIZE];

	if (p->first > p->text.total_lines || (p->first > 1 && p->first > p->all_lines))
		return c->native ? fail_range(p, e) : results_beyond_end(p, p->all_lines, e);
	const struct fit f = fit_of(c);
	const int width = p->numbered ? results_number_width(p, c->native ? CAT_WIDTH : 1) : 0;
	fit_page(&f, width + p->numbered, p);
	const struct str content = results_number(p, width, true, c->arena);
	if (!content.p)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the file, try again");
	buf_add(c->text->text, content);
	if (p->whole && content.n == 0)
		call_note(c, "empty file");
	if (p->left_out)
		call_note(c, "line %lld goes on for %s bytes%s", (long long)p->first,
			  human_count(p->left_out, room),
			  c->native ? "" : ": run_command with cut -c shows a part");
	note_range(c, p);
	return 0;
}

static int show_image(const struct call *c, const struct image *i)
{
	char size[HUMAN_SIZE], pixels[48] = "";

	c->text->image = i->bytes;
	c->text->image_type = i->type;
	if (i->width)
		(void)snprintf(pixels, sizeof pixels, ", %" PRIu32 "\u00d7%" PRIu32, i->width,
			       i->height);
	call_note(c, "%s%s, %s", i->type, pixels, human_bytes((int64_t)i->bytes.n, size));
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

static int show_found(const struct call *c, struct found_result *r)
{
	const bool searched = r->show <= FOUND_COUNTS, tree = r->show == FOUND_TREE;
	struct findings f = findings_begin(c);
	const struct hit last = add_hits(&f, r);
	char summary[128] = "", note[SCOPE_NOTE];

	if (searched)
		summarise(&f, &r->found.account, r->show, summary, sizeof summary);
	else if (!f.count)
		(void)snprintf(summary, sizeof summary, "%s",
			       tree && !r->by_name ? "empty directory" : "no matches");
	if (r->show == FOUND_LINES && f.count)
		buf_addc(c->text->text, '\n');
	findings_end(&f, &(struct findings_end){
				 .summary = *summary ? summary : NULL,
				 .account = searched || tree ? &r->found.account : NULL,
				 .note = tree ? NULL : scope_note(&r->found, note),
				 .stopped = r->found.account.stopped,
				 .cursor = findings_cursor(c, r, f.count, &last),
			 });
	return 0;
}

/* "[edited src/a.c, +3 -1]", or the provider's sentence; then the diff. */
static void show_edited(const struct call *c, const struct edited *f,
			const struct sentence *instead)
{
	struct buf *text = c->text->text;
	char about[RESULTS_ABOUT];

	if (instead && instead->before) {
		add_sentence(text, instead);
	} else {
		buf_addf(text, "[%s ", f->done);
		buf_add(text, f->path);
		if (f->size.added)
			buf_addf(text, ", +%lld", (long long)f->size.added);
		if (f->size.removed)
			buf_addf(text, "%s -%lld", f->size.added ? "" : ",",
				 (long long)f->size.removed);
		buf_add(text, f->more);
		buf_addc(text, ']');
	}
	const struct fit fit = fit_of(c);
	const int64_t used = (int64_t)bytes_count(buf_str(text), '\n') + 2;
	const struct diff_head head =
		fit_diff(&fit, c->max_lines ? c->max_lines - used : INT64_MAX, f->diff);
	if (head.text.n)
		buf_addc(text, '\n');
	buf_add(text, head.text);
	results_describe(&head, about);
	if (*about)
		call_note(c, "%s not shown%s", about,
			  c->native ? "" : ": read_file shows the file as it is now");
}

/* Whether another line has room in the text. */
static bool has_room(const struct call *c)
{
	const int64_t lines = (int64_t)bytes_count(buf_str(c->text->text), '\n');

	return call_room(c) > LIMIT_RESULT_NOTES && (!c->max_lines || lines + 4 < c->max_lines);
}

static void show_patch(const struct call *c, const struct edits *d)
{
	struct buf *text = c->text->text;
	struct diff_size all = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < d->count; i++) {
		all.added += d->files[i].size.added;
		all.removed += d->files[i].size.removed;
	}
	if (d->dry_run)
		buf_add(text, STR("[dry run, nothing was written]\n"));
	if (d->count != 1)
		buf_addf(text, "[patched %zu files, +%lld -%lld]\n", d->count, (long long)all.added,
			 (long long)all.removed);
	for (; shown < d->count && has_room(c); shown++) {
		show_edited(c, &d->files[shown], NULL);
		buf_addc(text, '\n');
	}
	if (shown < d->count)
		buf_addf(text, "[%zu more files are not shown]\n", d->count - shown);
	for (const struct edits_note *n = d->notes; n && has_room(c); n = n->next)
		buf_addf(text, "[fuzz: %.*s: %.*s]\n", STR_FMT(n->path), STR_FMT(n->text));
}

static int show_edits(const struct call *c, const struct edits *d)
{
	if (d->by == EDITS_BY_PATCH)
		show_patch(c, d);
	else
		show_edited(c, &d->files[0], &d->instead);
	return 0;
}

int text_show(const struct call *c, struct result *r, struct err *e)
{
	add_sentence(c->text->text, &r->heading);
	switch (r->kind) {
	case RESULT_PAGE:
		return show_page(c, &r->page, e);
	case RESULT_IMAGE:
		return show_image(c, &r->image);
	case RESULT_FOUND:
		return show_found(c, &r->found);
	case RESULT_EDITS:
		return show_edits(c, &r->edits);
	case RESULT_NAMES: /* models have another tool */
	case RESULT_WRITTEN:
		break;
	}
	return 0;
}
