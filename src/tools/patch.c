/* SPDX-License-Identifier: MIT */
/* patch: apply a patch of several files, all of it or nothing. */

#include "patch/patch.h"

#include <stdio.h>

#include "base/bytes.h"
#include "tools/edited.h"
#include "tools/limits.h"
#include "tools/patching.h"
#include "workspace/diff.h"
#include "workspace/workspace.h"

static const char *const kinds[] = { "created", "modified", "deleted", "renamed", "copied", NULL };

struct patch_args {
	struct str patch;
	int64_t format, strip;
	bool dry_run;
};

/* A file of the result. */
struct told {
	const struct patched *f;
	const char *kind;
	struct str diff;
	struct diff_size size;
};

/* The diff of one file; empty if it would be too long to be told. */
static int tell(struct patching *p, const struct patched *f, struct told *ret, size_t *left,
		struct err *e)
{
	AUTO_BUF diff = { .max = LIMIT_ANSWER };

	*ret = (struct told){ .f = f, .kind = patching_kind(f), .diff = STR("") };
	if (diff_lines(patching_old(f), patching_new(f), &p->scratch, &diff, e) < 0)
		return -1;
	arena_reset(&p->scratch);
	ret->size = diff_size(buf_str(&diff));
	if (ret->size.added + ret->size.removed == 0 || diff.n > LIMIT_PATCH_DIFF || diff.n > *left)
		return 0;
	*left -= diff.n;
	ret->diff = arena_dup(p->c->arena, buf_str(&diff));
	return ret->diff.p ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory for this patch");
}

static void write_file(struct call *c, const struct told *t, bool for_model)
{
	jw_object(c->out, NULL);
	jw_str(c->out, "path", t->f->shown);
	jw_str(c->out, "kind", str_of(t->kind));
	if (t->f->stays && t->f->from)
		jw_str(c->out, "from", t->f->from->shown);
	jw_int(c->out, "added", t->size.added);
	jw_int(c->out, "removed", t->size.removed);
	if (for_model)
		edited_write(c, t->diff);
	else
		jw_str(c->out, "diff", t->diff);
	jw_end(c->out);
}

static void write_result(struct call *c, const struct patching *p, const struct told *told,
			 size_t count, bool for_model)
{
	jw_array(c->out, "files");
	for (size_t i = 0; i < count; i++)
		write_file(c, &told[i], for_model);
	jw_end(c->out);
	jw_array(c->out, "fuzz");
	for (const struct patched_note *n = p->notes; n; n = n->next) {
		jw_open_str(c->out, NULL);
		jw_piece(c->out, n->path);
		jw_piece(c->out, STR(": "));
		jw_piece(c->out, n->text);
		jw_close_str(c->out);
	}
	jw_end(c->out);
}

/* For a model: a line for each file, and what changed in it. What the patch makes or removes whole
 * is not repeated. */
static void show_file(struct call *c, const struct told *t)
{
	const bool whole = t->f->was != t->f->stays && !t->f->from;
	char more[2 * PATH_MAX] = "";

	if (t->f->stays && t->f->from)
		(void)snprintf(more, sizeof more, ", was %.*s", STR_FMT(t->f->from->shown));
	else if (!whole && !t->diff.n && t->size.added + t->size.removed)
		(void)snprintf(more, sizeof more, "; the diff is too long to be shown");
	edited_show_part(c, t->f->was && t->f->stays && !t->f->from ? "edited" : t->kind,
			 t->f->shown, t->size, whole ? STR("") : t->diff, more);
}

/* Whether another line has room in the text. */
static bool has_room(const struct call *c)
{
	const int64_t lines = (int64_t)bytes_count(buf_str(c->text->text), '\n');

	return call_room(c) > LIMIT_RESULT_NOTES && (!c->max_lines || lines + 4 < c->max_lines);
}

static void show_result(struct call *c, const struct patching *p, const struct told *told,
			size_t count, bool dry_run)
{
	struct buf *text = c->text->text;
	struct diff_size all = { 0 };
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		all.added += told[i].size.added;
		all.removed += told[i].size.removed;
	}
	if (dry_run)
		buf_add(text, STR("[dry run, nothing was written]\n"));
	if (count != 1)
		buf_addf(text, "[patched %zu files, +%lld -%lld]\n", count, (long long)all.added,
			 (long long)all.removed);
	for (; shown < count && has_room(c); shown++) {
		show_file(c, &told[shown]);
		buf_addc(text, '\n');
	}
	if (shown < count)
		buf_addf(text, "[%zu more files are not shown]\n", count - shown);
	for (const struct patched_note *n = p->notes; n && has_room(c); n = n->next)
		buf_addf(text, "[fuzz: %.*s: %.*s]\n", STR_FMT(n->path), STR_FMT(n->text));
}

/* Plan, tell, apply. Everything is told before it is done: an answer that fails afterwards would
 * hide the change. */
static int patch_files(struct call *c, const struct patch_args *a, bool for_model, struct err *e)
{
	AUTO_PATCHING p = { .c = c };
	size_t count = 0, left = for_model ? LIMIT_PATCH_SHOWN : LIMIT_PATCH_DIFFS;

	if (patching_plan(c, a->patch, (enum patch_format)a->format, (int)a->strip, &p, e) < 0)
		return err_say(e, "Nothing was changed.");
	struct told *told = arena_array(c->arena, p.count + 1, sizeof *told);
	if (!told)
		return err_set(e, ERR_TOO_BUSY,
			       "Not enough memory for this patch. Nothing was changed.");
	for (size_t i = 0; i < p.count; i++)
		if (patching_kind(&p.files[i]) &&
		    tell(&p, &p.files[i], &told[count++], &left, e) < 0)
			return err_say(e, "Nothing was changed.");
	if (c->text)
		show_result(c, &p, told, count, a->dry_run);
	else
		write_result(c, &p, told, count, for_model);
	if (edited_check(c, e) < 0 || call_reserve(c, e) < 0)
		return err_say(e, "Nothing was changed.");
	return a->dry_run ? 0 : patching_apply(&p, for_model ? "apply_patch" : "patch", e);
}

static int run(struct call *c, const struct patch_args *a, bool for_model, struct err *e)
{
	if (!a->dry_run && call_may_change(c, e) < 0)
		return -1;
	/* It may have to wait for others, and others for it. */
	if (call_before_work(c, e) < 0)
		return -1;
	/* No other call changes a file between reading and writing. */
	ws_lock_all(c->ws);
	const int rc = patch_files(c, a, for_model, e);
	ws_unlock_all(c->ws);
	return rc;
}

static const struct field file_fields[] = {
	{ "path", "The file, relative to the workspace", FIELD_STR },
	{ "kind", "What became of it", FIELD_STR, .choices = kinds },
	{ "from", "Its path before, if it was renamed or copied", FIELD_STR, FIELD_OPTIONAL },
	{ "added", "Lines that are new", FIELD_INT },
	{ "removed", "Lines that are gone", FIELD_INT },
	{ "diff", "What changed: sign, line number, text; empty if it is very long", FIELD_STR },
	F_END,
};

static const struct field patch_fields[] = {
	{ "files", "In the order of the patch", FIELD_OBJECT, FIELD_LIST, file_fields },
	{ "fuzz", "What did not fit exactly and was accepted", FIELD_STR, FIELD_LIST },
	F_END,
};

static int patch_run(struct call *c, const void *args, struct err *e)
{
	return run(c, args, false, e);
}

static const struct arg patch_table[] = {
	A_STR(struct patch_args, patch, "patch", REQUIRED | NONBLANK, "The patch"),
	A_CHOICE(struct patch_args, format, "format", 0, PATCH_AUTO, patch_formats, "Its format"),
	A_BOOL(struct patch_args, dry_run, "dryRun", false, "Only show what would change"),
	A_INT(struct patch_args, strip, "strip", PATCH_STRIP_AUTO, PATCH_STRIP_AUTO, 100,
	      "Directories to take off the paths of a unified patch; -1: \"a/\" and \"b/\""),
	A_END,
};

const struct tool tool_patch = {
	.name = "patch",
	.about = "Apply a patch of several files, all of it or nothing.",
	.args = patch_table,
	.args_size = sizeof(struct patch_args),
	.fields = patch_fields,
	.flags = TOOL_WIRE,
	.run = patch_run,
};

static int apply_patch_run(struct call *c, const void *args, struct err *e)
{
	return run(c, args, true, e);
}

static const struct arg apply_patch_table[] = {
	A_STR(struct patch_args, patch, "patch", REQUIRED | NONBLANK,
	      "*** Begin Patch, then for each file *** Add File: path, *** Delete File: path, or "
	      "*** Update File: path and hunks (@@ and a line above, then lines that begin with "
	      "blank, - or +), then *** End Patch. Or a unified diff, or SEARCH/REPLACE blocks"),
	A_CHOICE(struct patch_args, format, "format", RARE, PATCH_AUTO, patch_formats,
		 "Its format"),
	A_BOOL(struct patch_args, dry_run, "dry_run", false, "Only show what would change"),
	A_INT_FLAGS(struct patch_args, strip, "strip", RARE, PATCH_STRIP_AUTO, PATCH_STRIP_AUTO,
		    100, "Directories to take off the paths of a unified diff"),
	A_END,
};

const struct tool tool_apply_patch = {
	.name = "apply_patch",
	.title = "Apply patch",
	.about = "Change several files at once, all of them or none: make, edit, rename and delete "
		 "files by a patch.",
	.args = apply_patch_table,
	.args_size = sizeof(struct patch_args),
	.fields = patch_fields,
	.flags = TOOL_MODEL | TOOL_DESTRUCTIVE,
	.run = apply_patch_run,
};
