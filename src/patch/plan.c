/* SPDX-License-Identifier: MIT */
/* plan: have the hunks of a file placed, then write the result. */

#include "patch/limits.h"
#include "patch/patch.h"

#include "patch/placer.h"

/* Writes lines; a line without an end gets one when another follows. */
struct line_writer {
	struct buf *out;
	struct str end;
	bool open;
	int64_t added, removed;
};

static void write_line(struct line_writer *w, struct str text, struct str end)
{
	if (w->open)
		buf_add(w->out, w->end);
	buf_add(w->out, text);
	buf_add(w->out, end);
	w->open = end.n == 0;
}

/* Lines of the file as they are, from one to before another. */
static void write_old(const struct placer *pl, struct line_writer *w, size_t from, size_t to)
{
	const struct textlines *t = &pl->text;

	if (from == to)
		return;
	write_line(w, (struct str){ t->all.p + t->start[from], t->start[to] - t->start[from] },
		   STR(""));
	w->open = to == t->n && textlines_is_open(t, t->n - 1);
}

static void write_added(const struct placer *pl, struct line_writer *w, const struct place *place,
			const struct patch_line *line)
{
	struct str text = line->text;

	w->added++;
	if (pl->patch->format == PATCH_UNIFIED) {
		const bool faithful = place->level == MATCH_EXACT && (place->n || pl->text.n == 0);
		if (faithful) {
			write_line(w, text, line->open ? STR("") : STR("\n"));
			return;
		}
		if (str_ends(text, STR("\r")))
			text.n--;
	}
	write_line(w, text, line->open ? STR("") : w->end);
}

/* Write what becomes of the lines of a place. */
static int write_place(struct placer *pl, struct line_writer *w, const struct place *place,
		       struct err *e)
{
	size_t at = place->at;

	if (placer_load(pl, place->hunk, e) < 0)
		return -1;
	for (size_t i = 0; i < pl->count; i++) {
		const struct patch_line *line = &pl->lines[i];
		if (line->sign == '+') {
			write_added(pl, w, place, line);
			continue;
		}
		if (at == place->at + place->n)
			continue; /* the last line, which is left out */
		if (line->sign == ' ')
			write_old(pl, w, at, at + 1);
		else
			w->removed++;
		at++;
	}
	return 0;
}

/* Give the text the newline at its end that the old text had, or take it away. */
static void restore_end(const struct placer *pl, struct line_writer *w)
{
	struct buf *out = w->out;

	if (pl->text.n == 0 || out->n == 0)
		return;
	if (!textlines_is_open(&pl->text, pl->text.n - 1)) {
		if (w->open)
			buf_add(out, w->end);
		return;
	}
	size_t n = out->n;
	if (n && out->p[n - 1] == '\n')
		n--;
	if (n && out->p[n - 1] == '\r' && w->end.p[0] == '\r')
		n--;
	/* An empty line without its newline would be lost. */
	if (!w->open && n && out->p[n - 1] != '\n' && out->p[n - 1] != '\r')
		out->n = n;
}

static int write_result(struct placer *pl, struct buf *out, struct plan *ret, struct err *e)
{
	struct line_writer w = { .out = out, .end = textlines_end(&pl->text) };
	bool restore = pl->patch->format != PATCH_UNIFIED;
	size_t done = 0;

	for (size_t i = 0; i < pl->places.count; i++) {
		const struct place *place = &pl->places.item[i];
		write_old(pl, &w, done, place->at);
		if (write_place(pl, &w, place, e) < 0)
			return -1;
		done = place->at + place->n;
		/* The patch was wrong about the newline at the end: it says nothing about it. */
		restore |= place->n && done == pl->text.n &&
			   textlines_is_open(&pl->text, done - 1) != pl->old_open;
	}
	write_old(pl, &w, done, pl->text.n);
	if (restore)
		restore_end(pl, &w);
	if (out->failed)
		return err_set(e, ERR_FILE_TOO_LARGE, "The patched file would be too large: %.*s",
			       STR_FMT(pl->file->path));
	ret->added = w.added;
	ret->removed = w.removed;
	return 0;
}

static enum textlines_ends ends_of(enum patch_format format)
{
	return format == PATCH_V4A ? ENDS_ANY : format == PATCH_BLOCKS ? ENDS_CRLF : ENDS_LF;
}

static int plan_new(struct placer *pl, struct buf *content, struct plan *ret, struct err *e)
{
	for (const struct patch_hunk *h = pl->file->hunks; h; h = h->next) {
		pl->number++;
		pl->hunk = h;
		if (pl->patch->format == PATCH_UNIFIED)
			placer_check_counts(pl);
		patch_hunk_content(pl->patch, h, content);
		ret->added += (int64_t)h->new_count;
	}
	return content->failed ? err_set(e, ERR_FILE_TOO_LARGE, "The new file is too large: %.*s",
					 STR_FMT(pl->file->path))
			       : 0;
}

/* What a unified patch deletes must be all that there is. */
static int check_deleted(const struct placer *pl, struct buf *content, size_t before, struct err *e)
{
	if (pl->patch->format != PATCH_UNIFIED || content->n == before)
		return 0;
	content->n = before;
	(void)err_set(e, ERR_TEXT_NOT_FOUND,
		      "%.*s (line %lld of the patch): the patch deletes the file, but the file has "
		      "lines that the patch does not remove.",
		      STR_FMT(pl->file->path), (long long)pl->file->line);
	return err_advise(e, "Read the file and make the hunk from its text.");
}

int plan_file(const struct patch *p, const struct patch_file *f, struct str old, struct arena *a,
	      struct buf *content, struct plan *ret, struct err *e)
{
	struct placer pl = { .patch = p, .file = f, .arena = a };
	struct plan plan = { 0 };
	const size_t before = content->n;
	int result;

	if (f->kind == PATCH_ADD) {
		result = plan_new(&pl, content, &plan, e);
	} else if (f->kind == PATCH_DELETE && p->format != PATCH_UNIFIED) {
		if (textlines_init(&pl.text, old, ends_of(p->format), a, e) < 0)
			return -1;
		plan.removed = (int64_t)pl.text.n;
		result = 0;
	} else {
		if (textlines_init(&pl.text, old, ends_of(p->format), a, e) < 0)
			return -1;
		/* In a small file every line may be compared with every line. */
		pl.max_work = (pl.text.n + (256 << 10)) * LIMIT_PATCH_WORK;
		result = placer_run(&pl, e) < 0 ? -1 : write_result(&pl, content, &plan, e);
		if (result == 0 && f->kind == PATCH_DELETE)
			result = check_deleted(&pl, content, before, e);
	}
	if (result == 0 && a->failed)
		result = patch_fail_memory(e);
	if (result < 0) {
		content->n = before;
		return -1;
	}
	plan.notes = pl.notes;
	*ret = plan;
	return 0;
}
