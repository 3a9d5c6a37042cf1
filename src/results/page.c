/* SPDX-License-Identifier: MIT */
/* page: lines of a file, a picture, the names in a directory. */

#include <inttypes.h>
#include <stdio.h>

#include "base/human.h"
#include "results/fit.h"
#include "results/results.h"
#include "tools/limits.h"

/* The page begins after the last line. */
static int fail_beyond_end(const struct page *p, int64_t lines, struct err *e)
{
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "start_line %lld is beyond the end of the file (%lld lines)",
		       (long long)p->first, (long long)lines);
}

static int number_width(const struct page *p, int least)
{
	char text[32];
	const int width =
		snprintf(text, sizeof text, "%lld", (long long)(p->first + p->text.out_lines - 1));

	return width < least ? least : width;
}

/* The lines with their numbers before them, if they are to have these; { NULL, 0 } without memory.
 * `as_seen`: a final newline begins no line. */
static struct str number_lines(const struct page *p, int width, bool as_seen, struct arena *a)
{
	struct str rest = p->text.content, line;
	const size_t size = rest.n + (size_t)p->text.out_lines * (size_t)(width + 1);

	if (!p->numbered || !rest.n)
		return rest.p ? rest : STR("");
	char *room = arena_alloc(a, size + 1);
	if (!room)
		return (struct str){ NULL, 0 };
	struct buf out = buf_over(room, size + 1);
	for (int64_t i = 0; i < p->text.out_lines; i++) {
		(void)str_cut(rest, '\n', &line, &rest);
		/* After the final newline there is no line to be numbered. */
		if (as_seen && p->whole && i > 0 && i + 1 == p->text.out_lines && line.n == 0) {
			buf_addc(&out, '\n');
			break;
		}
		buf_addf(&out, "%s%*lld\t", i ? "\n" : "", width, (long long)p->first + i);
		buf_add(&out, line);
	}
	return buf_str(&out);
}

int page_wire(const struct way *out, struct result *r, struct err *e)
{
	const struct page *p = &r->page;
	const struct text *t = &p->text;

	(void)e;
	jw_str(out->members, "type", STR("text"));
	jw_str(out->members, "content", t->content);
	jw_int(out->members, "totalLines", t->total_lines);
	jw_bool(out->members, "hasMore",
		t->cut != TEXT_WHOLE || p->first - 1 + t->lines < t->total_lines);
	if (t->cut != TEXT_WHOLE)
		way_write_truncation(out, t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}

int page_observation(const struct way *out, struct result *r, struct err *e)
{
	struct page *p = &r->page;

	if (p->first > p->text.total_lines)
		return fail_beyond_end(p, p->text.total_lines, e);
	const struct fit f = fit_of(out);
	const int width = p->numbered ? number_width(p, 1) : 0;
	fit_page(&f, width + p->numbered, p);
	const struct str content = number_lines(p, width, false, out->c->arena);
	if (!content.p)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the file, try again");
	jw_str(out->members, "content", content);
	jw_int(out->members, "lines", p->text.out_lines);
	jw_str(out->members, "path", p->name);
	jw_int(out->members, "total_lines", p->text.total_lines);
	jw_bool(out->members, "truncated", p->text.cut != TEXT_WHOLE || p->left_out);
	if (p->next)
		jw_int(out->members, "next_start_line", p->next);
	return 0;
}

/* Which part of the file it is, unless it is all, and how to go on. */
static void note_range(const struct way *out, const struct page *p)
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
			       out->native ? "; next: view_range [%lld, -1]"
					   : "; next: start_line=%lld",
			       (long long)last + 1);
	way_note(out, "%s of %lld%s", range, (long long)p->all_lines, more);
}

static int fail_range(const struct page *p, struct err *e)
{
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "Invalid `view_range`: [%lld, %lld]. Line %lld is beyond the end of the "
		       "file (%lld lines)",
		       (long long)p->first, (long long)(p->last ? p->last : -1),
		       (long long)p->first, (long long)p->all_lines);
}

int page_text(const struct way *out, struct result *r, struct err *e)
{
	struct page *p = &r->page;
	enum { CAT_WIDTH = 6 }; /* providers' own tools number lines as cat -n does */
	char room[HUMAN_SIZE];

	if (p->first > p->text.total_lines || (p->first > 1 && p->first > p->all_lines))
		return out->native ? fail_range(p, e) : fail_beyond_end(p, p->all_lines, e);
	const struct fit f = fit_of(out);
	const int width = p->numbered ? number_width(p, out->native ? CAT_WIDTH : 1) : 0;
	fit_page(&f, width + p->numbered, p);
	const struct str content = number_lines(p, width, true, out->c->arena);
	if (!content.p)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory to read the file, try again");
	buf_add(out->text->text, content);
	if (p->whole && content.n == 0)
		way_note(out, "empty file");
	if (p->left_out)
		way_note(out, "line %lld goes on for %s bytes%s", (long long)p->first,
			 human_count(p->left_out, room),
			 out->native ? "" : ": run_command with cut -c shows a part");
	note_range(out, p);
	return 0;
}

int image_wire(const struct way *out, struct result *r, struct err *e)
{
	const struct image *i = &r->image;

	(void)e;
	jw_str(out->members, "type", i->type ? STR("image") : STR("bytes"));
	jw_base64(out->members, "data", i->bytes);
	if (i->type)
		jw_str(out->members, "mimeType", str_of(i->type));
	else
		jw_int(out->members, "bytes", (int64_t)i->bytes.n);
	return 0;
}

int image_text(const struct way *out, struct result *r, struct err *e)
{
	const struct image *i = &r->image;
	char size[HUMAN_SIZE], pixels[48] = "";

	(void)e;
	out->text->image = i->bytes;
	out->text->image_type = i->type;
	if (i->width)
		(void)snprintf(pixels, sizeof pixels, ", %" PRIu32 "\u00d7%" PRIu32, i->width,
			       i->height);
	way_note(out, "%s%s, %s", i->type, pixels, human_bytes((int64_t)i->bytes.n, size));
	return 0;
}

int names_wire(const struct way *out, struct result *r, struct err *e)
{
	struct text t;

	(void)e;
	text_cut_head(r->names.text, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES, &t);
	jw_str(out->members, "output", t.content);
	if (t.cut != TEXT_WHOLE)
		way_write_truncation(out, &t, LIMIT_HEAD_LINES, LIMIT_HEAD_BYTES);
	return 0;
}
