/* SPDX-License-Identifier: MIT */
/* text: results as a model reads them. */

#include <inttypes.h>
#include <stdio.h>

#include "base/human.h"
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

int text_show(const struct call *c, struct result *r, struct err *e)
{
	buf_add(c->text->text, r->heading);
	switch (r->kind) {
	case RESULT_PAGE:
		return show_page(c, &r->page, e);
	case RESULT_IMAGE:
		return show_image(c, &r->image);
	case RESULT_WRITTEN:
		break;
	}
	return 0;
}
