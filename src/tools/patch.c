/* SPDX-License-Identifier: MIT */
/* patch: apply a patch of several files, all of it or nothing. */

#include "patch/patch.h"

#include <stdio.h>

#include "base/limits.h"
#include "tools/limits.h"
#include "tools/patching.h"
#include "tools/result.h"
#include "workspace/diff.h"
#include "workspace/locks.h"
#include "workspace/workspace.h"

static const char *const kinds[] = { "created", "modified", "deleted", "renamed", "copied", NULL };

struct patch_args {
	struct str patch, cwd;
	int64_t format, strip;
	bool dry_run;
};

/* What is to be said of one file. Its diff is empty if it would be too long to be told, and in a
 * text if the patch makes or removes the file whole. */
static int tell(struct patching *p, const struct patched *f, struct edited *ret, size_t *left,
		struct err *e)
{
	const bool whole = f->was != f->stays && !f->from, moved = f->stays && f->from;
	struct arena *a = p->c->arena;
	AUTO_BUF diff = { .max = LIMIT_ANSWER };
	char more[2 * PATH_MAX] = "";

	if (diff_lines(patching_old(f), patching_new(f), &p->scratch, &diff, e) < 0)
		return -1;
	arena_reset(&p->scratch);
	*ret = (struct edited){
		.done = f->was && f->stays && !f->from ? "edited" : patching_kind(f),
		.kind = patching_kind(f),
		.path = arena_dup(a, f->shown),
		.from = moved ? arena_dup(a, f->from->shown) : STR(""),
		.size = diff_size(buf_str(&diff)),
		.diff = STR(""),
	};
	const bool told = ret->size.added + ret->size.removed && diff.n <= LIMIT_PATCH_DIFF &&
			  diff.n <= *left;
	if (told) {
		*left -= diff.n;
		if (!whole || !p->c->for_reader)
			ret->diff = arena_dup(a, buf_str(&diff));
	}
	if (moved)
		(void)snprintf(more, sizeof more, ", was %.*s", STR_FMT(f->from->shown));
	else if (!whole && !told && ret->size.added + ret->size.removed)
		(void)snprintf(more, sizeof more, "; the diff is too long to be shown");
	ret->more = arena_dup(a, str_of(more));
	return a->failed ? err_set(e, ERR_TOO_BUSY, "Not enough memory for this patch") : 0;
}

/* Plan, tell, apply. There is room for everything that is to be told before it is done: an answer
 * that fails afterwards would hide the change. */
static int patch_files(struct call *c, const struct patch_args *a, bool for_model,
		       struct result *ret, struct err *e)
{
	AUTO_PATCHING p = { .c = c };
	size_t count = 0, left = for_model ? LIMIT_PATCH_SHOWN : LIMIT_PATCH_DIFFS;

	if (patching_plan(c, a->patch, (enum patch_format)a->format, (int)a->strip, a->cwd, &p, e) <
	    0)
		return err_say(e, "Nothing was changed.");
	struct edited *files = arena_array(c->arena, p.count + 1, sizeof *files);
	if (!files)
		return err_set(e, ERR_TOO_BUSY,
			       "Not enough memory for this patch. Nothing was changed.");
	for (size_t i = 0; i < p.count; i++)
		if (patching_kind(&p.files[i]) &&
		    tell(&p, &p.files[i], &files[count++], &left, e) < 0)
			return err_say(e, "Nothing was changed.");
	ret->kind = RESULT_EDITS;
	ret->edits = (struct edits){ .by = EDITS_BY_PATCH,
				     .files = files,
				     .count = count,
				     .notes = p.notes,
				     .dry_run = a->dry_run };
	if (call_reserve(c, &ret->edits, e) < 0)
		return err_say(e, "Nothing was changed.");
	return a->dry_run ? 0 : patching_apply(&p, for_model ? "apply_patch" : "patch", e);
}

static int run(struct call *c, const struct patch_args *a, bool for_model, struct result *ret,
	       struct err *e)
{
	if (!a->dry_run && call_may_change(c, e) < 0)
		return -1;
	/* It may have to wait for others, and others for it. */
	if (call_before_work(c, e) < 0)
		return -1;
	/* No other call changes a file between reading and writing. */
	if (locks_take_all(ws_locks(c->shared->ws), e) < 0)
		return -1;
	const int rc = patch_files(c, a, for_model, ret, e);
	locks_release_all(ws_locks(c->shared->ws));
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

static int patch_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	return run(c, args, false, ret, e);
}

static const struct arg patch_table[] = {
	A_STR(struct patch_args, patch, "patch", REQUIRED | NONBLANK, "The patch"),
	A_CHOICE(struct patch_args, format, "format", 0, PATCH_AUTO, patch_formats, "Its format"),
	A_STR(struct patch_args, cwd, "cwd", NONBLANK,
	      "Directory in which its relative paths start; the workspace if absent"),
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

static int apply_patch_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	return run(c, args, true, ret, e);
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
