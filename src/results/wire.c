/* SPDX-License-Identifier: MIT */
/* wire: results as members of the answers of the HTTP endpoints, as the existing contract has them. */

#include "base/limits.h"
#include "results/results.h"

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

int wire_show(const struct call *c, struct result *r, struct err *e)
{
	(void)e;
	switch (r->kind) {
	case RESULT_PAGE:
		return show_page(c, &r->page);
	case RESULT_IMAGE:
		return show_image(c, &r->image);
	case RESULT_WRITTEN:
		break;
	}
	return 0;
}
