/* SPDX-License-Identifier: MIT */
/* observation: results as members of what a model's program gets. */

#include "results/fit.h"
#include "results/results.h"

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

int observation_show(const struct call *c, struct result *r, struct err *e)
{
	switch (r->kind) {
	case RESULT_PAGE:
		return show_page(c, &r->page, e);
	case RESULT_IMAGE: /* nobody can be shown one this way */
	case RESULT_WRITTEN:
		break;
	}
	return 0;
}
