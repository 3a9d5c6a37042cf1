/* SPDX-License-Identifier: MIT */
/* edits: what was changed in files. */

#include <stdio.h>

#include "base/bytes.h"
#include "results/fit.h"
#include "results/results.h"
#include "tools/limits.h"

enum { ABOUT = 128 };

/* What is not shown of a diff, in words; empty if all of it is. */
static void describe_rest(const struct diff_head *head, char room[ABOUT])
{
	const char *const hunks = head->hunks == 1 ? "" : "s";
	const char *const lines = head->lines == 1 ? "" : "s";

	room[0] = '\0';
	if (head->hunks && head->lines)
		(void)snprintf(room, ABOUT, "%lld more line%s of this hunk and %lld more hunk%s",
			       (long long)head->lines, lines, (long long)head->hunks, hunks);
	else if (head->hunks)
		(void)snprintf(room, ABOUT, "%lld more hunk%s", (long long)head->hunks, hunks);
	else if (head->lines)
		(void)snprintf(room, ABOUT, "%lld more line%s", (long long)head->lines, lines);
}

/* The member "fuzz" of a patch. */
static void write_notes(struct jw *w, const struct edits *d)
{
	jw_array(w, "fuzz");
	for (const struct edits_note *n = d->notes; n; n = n->next) {
		jw_open_str(w, NULL);
		jw_piece(w, n->path);
		jw_piece(w, STR(": "));
		jw_piece(w, n->text);
		jw_close_str(w);
	}
	jw_end(w);
}

/* The member "diff": of one that is too long the beginning, and a line that says so. */
static void write_shown_diff(const struct way *out, struct str diff)
{
	struct fit f = fit_of(out);
	char about[ABOUT];

	if (f.bytes > LIMIT_HEAD_BYTES)
		f.bytes = LIMIT_HEAD_BYTES;
	const struct diff_head head = fit_diff(&f, LIMIT_HEAD_LINES, diff);
	describe_rest(&head, about);
	jw_open_str(out->members, "diff");
	jw_piece(out->members, head.text);
	if (*about) {
		jw_piece(out->members, head.text.n ? STR("\n[") : STR("["));
		jw_piece(out->members, str_of(about));
		jw_piece(out->members, STR("]"));
	}
	jw_close_str(out->members);
}

static void write_diff(const struct way *out, struct str diff)
{
	if (out->model)
		write_shown_diff(out, diff);
	else
		jw_str(out->members, "diff", diff);
}

/* The members of one file of a patch. */
static void write_edited(const struct way *out, const struct edited *f)
{
	jw_object(out->members, NULL);
	jw_str(out->members, "path", f->path);
	jw_str(out->members, "kind", str_of(f->kind));
	if (f->from.n)
		jw_str(out->members, "from", f->from);
	jw_int(out->members, "added", f->size.added);
	jw_int(out->members, "removed", f->size.removed);
	write_diff(out, f->diff);
	jw_end(out->members);
}

static void write_patch(const struct way *out, const struct edits *d)
{
	jw_array(out->members, "files");
	for (size_t i = 0; i < d->count; i++)
		write_edited(out, &d->files[i]);
	jw_end(out->members);
	write_notes(out->members, d);
}

int edits_members(const struct way *out, struct result *r, struct err *e)
{
	const struct edits *d = &r->edits;
	struct jw *w = out->members;

	(void)e;
	if (d->by == EDITS_BY_PATCH) {
		write_patch(out, d);
		return 0;
	}
	if (!out->model)
		jw_bool(w, "ok", true);
	jw_str(w, "path", d->files[0].path);
	if (d->by == EDITS_BY_TEXTS)
		write_diff(out, d->files[0].diff);
	if (d->counted)
		jw_int(w, "replacements", d->places);
	if (d->by == EDITS_BY_WRITE)
		jw_int(w, out->model ? "bytes_written" : "bytes", d->bytes);
	if (d->by == EDITS_BY_WRITE && out->model)
		jw_bool(w, "created", d->created);
	return 0;
}

/* "[edited src/a.c, +3 -1]", or the provider's sentence; then the diff. */
static void show_edited(const struct way *out, const struct edited *f,
			const struct sentence *instead)
{
	struct buf *text = out->text->text;
	char about[ABOUT];

	if (instead && instead->before) {
		way_sentence(out, instead);
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
	const struct fit fit = fit_of(out);
	const int64_t used = (int64_t)bytes_count(buf_str(text), '\n') + 2;
	const struct diff_head head =
		fit_diff(&fit, out->c->size.lines ? out->c->size.lines - used : INT64_MAX, f->diff);
	if (head.text.n)
		buf_addc(text, '\n');
	buf_add(text, head.text);
	describe_rest(&head, about);
	if (*about)
		way_note(out, "%s not shown%s", about,
			 out->native ? "" : ": read_file shows the file as it is now");
}

/* Whether another line has room in the text. */
static bool has_room(const struct way *out)
{
	const int64_t lines = (int64_t)bytes_count(buf_str(out->text->text), '\n');

	return way_room(out) > LIMIT_RESULT_NOTES &&
	       (!out->c->size.lines || lines + 4 < out->c->size.lines);
}

static void show_patch(const struct way *out, const struct edits *d)
{
	struct buf *text = out->text->text;
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
	for (; shown < d->count && has_room(out); shown++) {
		show_edited(out, &d->files[shown], NULL);
		buf_addc(text, '\n');
	}
	if (shown < d->count)
		buf_addf(text, "[%zu more files are not shown]\n", d->count - shown);
	for (const struct edits_note *n = d->notes; n && has_room(out); n = n->next)
		buf_addf(text, "[fuzz: %.*s: %.*s]\n", STR_FMT(n->path), STR_FMT(n->text));
}

int edits_text(const struct way *out, struct result *r, struct err *e)
{
	const struct edits *d = &r->edits;

	(void)e;
	if (d->by == EDITS_BY_PATCH)
		show_patch(out, d);
	else
		show_edited(out, &d->files[0], &d->instead);
	return 0;
}
