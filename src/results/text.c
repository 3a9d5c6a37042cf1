/* SPDX-License-Identifier: MIT */
/* text: results as a model reads them. */

#include <inttypes.h>
#include <stdio.h>

#include "base/human.h"
#include "results/findings.h"
#include "results/fit.h"
#include "results/results.h"

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

int text_show(const struct call *c, struct result *r, struct err *e)
{
	buf_add(c->text->text, r->heading);
	switch (r->kind) {
	case RESULT_PAGE:
		return show_page(c, &r->page, e);
	case RESULT_IMAGE:
		return show_image(c, &r->image);
	case RESULT_FOUND:
		return show_found(c, &r->found);
	case RESULT_NAMES: /* models have another tool */
	case RESULT_WRITTEN:
		break;
	}
	return 0;
}
