/* SPDX-License-Identifier: MIT */
/* edit: replace texts in a file, each of which occurs exactly once unless all are to be replaced.
 */

#include "tools/edit.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "tools/limits.h"
#include "tools/result.h"
#include "tools/seen.h"
#include "tools/tool.h"
#include "workspace/diff.h"
#include "workspace/replace.h"
#include "workspace/text.h"

static int64_t count_of(struct str content, struct str what)
{
	int64_t n = 0;

	for (ptrdiff_t i; (i = str_find(content, what)) >= 0; n++)
		content = str_from(content, (size_t)i + what.n);
	return n;
}

/* A text with some bytes left out or changed, and for each of its bytes the offset it came from. */
struct folded {
	char *p;
	size_t *from;
	size_t n;
};

enum fold { FOLD_SPACE, FOLD_CASE };

static bool fold(struct str s, enum fold how, struct arena *a, struct folded *ret)
{
	struct folded f = {
		.p = arena_alloc(a, s.n + 1),
		.from = arena_alloc(a, (s.n + 1) * sizeof *f.from),
	};

	if (!f.p || !f.from)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (how == FOLD_SPACE && (c == ' ' || (c >= '\t' && c <= '\r')))
			continue;
		if (how == FOLD_CASE && c >= 'A' && c <= 'Z')
			c |= 0x20;
		f.from[f.n] = i;
		f.p[f.n++] = c;
	}
	*ret = f;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What is between two offsets, with the white space around it if the old text has some there too:
 * an indentation, the end of the last line. */
static struct str with_margins(struct str content, size_t from, size_t to, struct str what)
{
	while (is_blank(what.p[0]) && from > 0 && is_blank(content.p[from - 1]))
		from--;
	while (what.p[what.n - 1] == '\n' && to < content.n &&
	       (is_blank(content.p[to]) || content.p[to] == '\r'))
		to++;
	if (what.p[what.n - 1] == '\n' && to < content.n && content.p[to] == '\n')
		to++;
	return (struct str){ content.p + from, to - from };
}

/* The span of the content that equals the text if both are folded; false if there is none. */
static bool find_folded(struct str content, struct str what, enum fold how, struct arena *a,
			struct str *span)
{
	struct folded c, w;

	if (!fold(content, how, a, &c) || !fold(what, how, a, &w) || w.n == 0)
		return false;
	const ptrdiff_t i = str_find((struct str){ c.p, c.n }, (struct str){ w.p, w.n });
	if (i < 0)
		return false;
	const size_t from = c.from[i], to = c.from[(size_t)i + w.n - 1] + 1;
	*span = with_margins(content, from, to, what);
	return true;
}

static size_t line_of(struct str content, const char *at)
{
	return bytes_count((struct str){ content.p, (size_t)(at - content.p) }, '\n') + 1;
}

/* How the white space of two texts differs that are equal without it. */
static const char *space_difference(struct str span, struct str what)
{
	const bool crlf = str_find(span, STR("\r\n")) >= 0, tabs = str_index(span, '\t') >= 0;

	if (crlf != (str_find(what, STR("\r\n")) >= 0))
		return crlf ? "the file has CRLF line endings there (\\r\\n) and the old text does "
			      "not"
			    : "the old text has CRLF line endings (\\r\\n) and the file does not";
	if (tabs != (str_index(what, '\t') >= 0))
		return tabs ? "the file has tabs there and the old text has spaces"
			    : "the file has spaces there and the old text has tabs";
	return "the white space differs";
}

/* Write a sentence that gives the reason, if it is known. */
static void explain(struct str content, struct str what, struct arena *a, char out[200])
{
	struct str span;

	if (content.n > LIMIT_EDIT_HINT_BYTES || what.n > content.n * 2 + 64)
		return;
	if (find_folded(content, what, FOLD_SPACE, a, &span))
		(void)snprintf(out, 200, " A similar text is at line %zu, but %s.",
			       line_of(content, span.p), space_difference(span, what));
	else if (find_folded(content, what, FOLD_CASE, a, &span))
		(void)snprintf(out, 200,
			       " A similar text is at line %zu, but upper and lower case differ.",
			       line_of(content, span.p));
}

static int fail_not_found(const struct edit *edit, struct str path, struct str content,
			  struct arena *a, struct err *e)
{
	char why[200] = "";

	if (!edit->no_hints)
		explain(content, edit->old_text, a, why);
	(void)err_set(e, ERR_TEXT_NOT_FOUND, "Could not find the exact text in %.*s.",
		      STR_FMT(path));
	return err_advise(e,
			  "The old text must match exactly including all whitespace and "
			  "newlines.%s",
			  why);
}

/* Also for edits that together leave the content as it was. */
static int fail_same(struct str path, struct err *e)
{
	(void)err_set(e, ERR_NO_CHANGE,
		      "No changes made to %.*s. The replacement produced identical content.",
		      STR_FMT(path));
	return err_advise(e, "This might indicate an issue with special characters or the text not "
			     "existing as expected.");
}

/* The offset after the line of that number, or of the end if the text has fewer lines; *lines is
 * how many came before it. */
static size_t after_line(struct str content, int64_t number, int64_t *lines)
{
	size_t at = 0;

	for (*lines = 0; *lines < number && at < content.n; ++*lines) {
		const ptrdiff_t end = str_index(str_from(content, at), '\n');
		at = end < 0 ? content.n : at + (size_t)end + 1;
	}
	return at;
}

/* Insert the text as lines of their own, with the line ends that the file has. Returns 1. */
static int64_t insert_lines(const struct edit *edit, struct str content, struct buf *out,
			    struct err *e)
{
	const ptrdiff_t first = str_index(content, '\n');
	const bool crlf = first > 0 && content.p[first - 1] == '\r';
	struct str rest = edit->new_text, line;
	int64_t lines;
	const size_t at = after_line(content, edit->after_line, &lines);
	const bool open = at && content.p[at - 1] != '\n'; /* the last line has no newline */

	if (edit->after_line < 0 || lines < edit->after_line)
		return err_set(e, ERR_INVALID_ARGUMENTS,
			       "Invalid `insert_line` parameter: %lld. It should be within the "
			       "range of lines of the file: [0, %lld]",
			       (long long)edit->after_line, (long long)lines);
	if (rest.n && rest.p[rest.n - 1] == '\n')
		rest.n--;
	buf_add(out, str_upto(content, at));
	for (bool more = true; more;) {
		more = str_cut(rest, '\n', &line, &rest);
		if (crlf && str_ends(line, STR("\r")))
			line.n--;
		if (open)
			buf_add(out, crlf ? STR("\r\n") : STR("\n"));
		buf_add(out, line);
		if (!open)
			buf_add(out, crlf ? STR("\r\n") : STR("\n"));
	}
	buf_add(out, str_from(content, at));
	return 1;
}

/* Replace the text, which must be there once, or everywhere. Returns how often. */
static int64_t replace_texts(const struct edit *edit, struct str path, struct str content,
			     struct arena *a, struct buf *out, struct err *e)
{
	const int64_t n = edit->old_text.n ? count_of(content, edit->old_text) : 0;

	if (n == 0)
		return fail_not_found(edit, path, content, a, e);
	if (n > 1 && !edit->replace_all) {
		(void)err_set(
			e, ERR_TEXT_NOT_UNIQUE,
			"Found %lld occurrences of the text in %.*s. The text must be unique.",
			(long long)n, STR_FMT(path));
		return err_advise(e, "Please provide more context to make it unique.");
	}
	if (str_eq(edit->old_text, edit->new_text))
		return fail_same(path, e);
	for (int64_t i = 0; i < n; i++) {
		const size_t at = (size_t)str_find(content, edit->old_text);
		buf_add(out, str_upto(content, at));
		buf_add(out, edit->new_text);
		content = str_from(content, at + edit->old_text.n);
	}
	buf_add(out, content);
	return n;
}

int64_t edit_apply(const struct edit *edit, struct str path, struct str content, struct arena *a,
		   struct buf *out, struct err *e)
{
	const int64_t n = edit->insert ? insert_lines(edit, content, out, e)
				       : replace_texts(edit, path, content, a, out, e);

	if (n >= 0 && out->failed)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The edited file would be larger than %d bytes: %.*s",
			       LIMIT_EDIT_BYTES, STR_FMT(path));
	return n;
}

struct edit_args {
	struct str path, old_text, new_text;
	bool replace_all, dry_run, hints;
};

static const struct arg edit_table[] = {
	A_STR(struct edit_args, path, "path", REQUIRED | NONBLANK, "File to edit"),
	A_STR(struct edit_args, old_text, "oldText", REQUIRED,
	      "Text to replace, exactly as it stands"),
	A_STR(struct edit_args, new_text, "newText", REQUIRED, "Text to put in its place"),
	A_BOOL(struct edit_args, replace_all, "replaceAll", false, "Replace every occurrence"),
	A_BOOL(struct edit_args, dry_run, "dryRun", false, "Only show the diff, change nothing"),
	A_BOOL(struct edit_args, hints, "hints", false,
	       "If the text is not found, say why where that is known"),
	A_END,
};

static const struct field edit_wire_fields[] = {
	{ "ok", "It is changed", FIELD_BOOL },
	{ "path", "The file, as it was asked for", FIELD_STR },
	{ "diff", "What changed, with line numbers and four lines of context", FIELD_STR },
	{ "replacements", "How many places were replaced; with replaceAll", FIELD_INT,
	  FIELD_OPTIONAL },
	F_END,
};

/* Edits of one file, in order: all of them are done, or none. */
struct edit_job {
	struct str path; /* as requested */
	const struct edit *edits;
	size_t count;
	bool dry_run;
	bool for_model;
};

/* Say which of several edits failed. */
static int fail_edit(const struct edit_job *job, size_t i, struct err *e)
{
	const struct err why = *e;

	if (job->count == 1)
		return -1;
	return err_set(e, why.code, "Edit %zu of %zu (nothing was changed): %s", i + 1, job->count,
		       why.msg);
}

/* The edited content; returns the number of replacements. */
static int64_t apply_edits(struct call *c, const struct edit_job *job, struct str old,
			   struct buf *new, struct err *e)
{
	int64_t total = 0;
	AUTO_BUF last = { .max = LIMIT_EDIT_BYTES };

	for (size_t i = 0; i < job->count; i++) {
		const struct buf spare = last;
		last = *new;
		*new = spare;
		buf_reset(new, SIZE_MAX);
		const int64_t n = edit_apply(&job->edits[i], job->path, i ? buf_str(&last) : old,
					     c->arena, new, e);
		if (n < 0)
			return fail_edit(job, i, e);
		total += n;
	}
	return total;
}

static bool replaces_all(const struct edit_job *job)
{
	for (size_t i = 0; i < job->count; i++)
		if (job->edits[i].replace_all)
			return true;
	return false;
}

/* The same edits in the content that the session last saw, which is what it knows afterwards. Left
 * empty if that content is not remembered or has not these texts. */
static void apply_known(struct call *c, const struct edit_job *job, const struct path *path,
			struct buf *known)
{
	AUTO_BUF then = { .max = LIMIT_TRACKED_CONTENT };
	struct err ignored;

	if (!seen_recall(c, path, &then) ||
	    apply_edits(c, job, buf_str(&then), known, &ignored) < 0)
		buf_reset(known, SIZE_MAX);
}

/*
 * The edited content of a file that the session has not seen as it is now, under the rule of
 * call->reads. If only overwriting needs knowledge, an edit of texts that occur exactly once
 * passes. Otherwise the session must have seen the file, and can replace texts that it knows in one
 * that has changed since then: the same edits must also work in the content that it last saw, if
 * that is remembered, and *known is the result of that.
 */
static int64_t apply_unseen(struct call *c, const struct edit_job *job,
			    enum tracker_verdict verdict, const struct path *path, struct str old,
			    struct buf *new, struct buf *known, struct err *e)
{
	AUTO_BUF then = { .max = LIMIT_TRACKED_CONTENT };

	if (c->reads == CALL_READS_OVERWRITTEN) {
		const int64_t n = apply_edits(c, job, old, new, e);
		if (n < 0 && verdict == TRACKER_UNSEEN)
			return -1;
		if (n >= 0 && (size_t)n == job->count) {
			apply_known(c, job, path, known);
			return n;
		}
	}
	if (verdict == TRACKER_UNSEEN)
		return seen_fail_unread(c, path, e);
	if (!replaces_all(job) &&
	    (!seen_recall(c, path, &then) || apply_edits(c, job, buf_str(&then), known, e) >= 0)) {
		const int64_t n = apply_edits(c, job, old, new, e);
		if (n >= 0)
			return n;
	}
	return seen_fail_changed(c, path, old, e);
}

/* Begin to replace the file. The size of a large one is known, and its turn comes, before it stays
 * locked. */
static int begin_edit(struct call *c, const struct path *path, struct replace *r, struct err *e)
{
	const unsigned flags = REPLACE_MUST_EXIST | (c->shared->sync ? REPLACE_SYNC : 0);

	if (replace_begin(c->shared->ws, c->witness, path, flags, r, e) < 0)
		return -1;
	if (r->st.st_size <= LIMIT_AT_ONCE)
		return 0;
	replace_done(r);
	if (call_before_work(c, e) < 0)
		return -1;
	return replace_begin(c->shared->ws, c->witness, path, flags, r, e);
}

/* What is to be said of the change: as a client of the wire asked for the file, or as it is shown to
 * models. */
static int describe(struct call *c, const struct edit_job *job, const struct path *path,
		    struct str diff, int64_t n, struct result *ret, struct err *e)
{
	char shown[2 * PATH_MAX], more[48] = "";
	struct edited *f = arena_array(c->arena, 1, sizeof *f);

	if (!f)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	if (n > 1)
		(void)snprintf(more, sizeof more, ", %lld places", (long long)n);
	*f = (struct edited){
		.done = job->dry_run ? "dry run, not written:" : "edited",
		.path = job->for_model ? arena_dup(c->arena, ws_display(c->shared->ws, path, shown))
				       : job->path,
		.size = job->for_model ? diff_size(diff) : (struct diff_size){ 0 },
		.diff = arena_dup(c->arena, diff),
		.more = arena_dup(c->arena, str_of(more)),
	};
	ret->kind = RESULT_EDITS;
	ret->edits = (struct edits){ .by = EDITS_BY_TEXTS,
				     .files = f,
				     .count = 1,
				     .dry_run = job->dry_run,
				     .places = n,
				     .counted = job->for_model || replaces_all(job) };
	if (c->arena->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	return call_reserve(c, &ret->edits, e);
}

/* Do the edits. */
static int edit_file(struct call *c, const struct edit_job *job, struct result *ret, struct err *e)
{
	struct path path;
	AUTO_REPLACE r = REPLACE_NONE;
	AUTO_BUF old = { .max = LIMIT_EDIT_BYTES };
	AUTO_BUF new = { .max = LIMIT_EDIT_BYTES };
	AUTO_BUF known = { .max = LIMIT_EDIT_BYTES };
	AUTO_BUF diff = { .max = LIMIT_ANSWER };

	if ((!job->dry_run && call_may_change(c, e) < 0) || call_path(c, job->path, &path, e) < 0)
		return -1;
	/* The file stays locked from reading to writing: no other edit comes between. */
	if (begin_edit(c, &path, &r, e) < 0 || replace_read(&r, &old, e) < 0)
		return -1;
	const enum tracker_verdict verdict = seen_check(c, &path, buf_str(&old));
	const bool seen = verdict == TRACKER_SAME || verdict == TRACKER_PART;
	const int64_t n =
		seen || c->reads == CALL_READS_NONE
			? apply_edits(c, job, buf_str(&old), &new, e)
			: apply_unseen(c, job, verdict, &path, buf_str(&old), &new, &known, e);
	if (n >= 0 && str_eq(buf_str(&old), buf_str(&new)))
		return fail_same(job->path, e);
	if (n < 0 || call_may_write(c, buf_str(&new), buf_str(&old), e) < 0 ||
	    diff_lines(buf_str(&old), buf_str(&new), c->arena, &diff, e) < 0)
		return -1;
	if (describe(c, job, &path, buf_str(&diff), n, ret, e) < 0)
		return -1;
	if (job->dry_run)
		return 0;
	if (replace_commit(&r, buf_str(&new), e) < 0)
		return -1;
	/* The session has not seen what another process changed in the file. */
	if (seen)
		seen_wrote(c, &path, buf_str(&new), verdict == TRACKER_SAME);
	else if (known.n)
		seen_wrote(c, &path, buf_str(&known), false);
	return 0;
}

static int edit_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct edit_args *a = args;
	const struct edit edit = { .old_text = a->old_text,
				   .new_text = a->new_text,
				   .replace_all = a->replace_all,
				   .no_hints = !a->hints };
	const struct edit_job job = { a->path, &edit, 1, a->dry_run, false };

	if (a->old_text.n == 0)
		return err_set(e, ERR_INVALID_ARGUMENTS, "Missing or invalid oldText");
	return edit_file(c, &job, ret, e);
}

const struct tool tool_edit = {
	.name = "edit",
	.about = "Replace a text that occurs exactly once in a file.",
	.args = edit_table,
	.args_size = sizeof(struct edit_args),
	.fields = edit_wire_fields,
	.flags = TOOL_WIRE,
	.run = edit_run,
};

static const struct arg edit_file_table[] = {
	A_STR(struct edit_args, path, "path", REQUIRED | NONBLANK, "File in the workspace"),
	A_STR(struct edit_args, old_text, "old_text", REQUIRED, "Exact text, with its white space"),
	A_STR(struct edit_args, new_text, "new_text", REQUIRED, "Text in its place"),
	A_BOOL(struct edit_args, replace_all, "replace_all", false, "Replace every occurrence"),
	A_BOOL(struct edit_args, dry_run, "dry_run", false, "Only show the diff"),
	A_END,
};

static const struct field edit_fields[] = {
	{ "path", "The file, relative to the workspace", FIELD_STR },
	{ "diff", "What changed: sign, line number, text", FIELD_STR },
	{ "replacements", "How many places were replaced", FIELD_INT },
	F_END,
};

static int run_job(struct call *c, const struct edit_job *job, struct result *ret, struct err *e)
{
	for (size_t i = 0; i < job->count; i++)
		if (job->edits[i].old_text.n == 0 && !job->edits[i].insert)
			return err_set(e, ERR_INVALID_ARGUMENTS,
				       "old_text must not be empty; to write a whole file use "
				       "write_file");
	return edit_file(c, job, ret, e);
}

int edit_run_one(struct call *c, struct str path, const struct edit *edit, struct result *ret,
		 struct err *e)
{
	const struct edit_job job = { path, edit, 1, false, true };

	return run_job(c, &job, ret, e);
}

static int edit_file_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct edit_args *a = args;
	const struct edit edit = { .old_text = a->old_text,
				   .new_text = a->new_text,
				   .replace_all = a->replace_all };
	const struct edit_job job = { a->path, &edit, 1, a->dry_run, true };

	return run_job(c, &job, ret, e);
}

const struct tool tool_edit_file = {
	.name = "edit_file",
	.title = "Edit file",
	.about =
		"Change a part of a file. old_text must occur exactly once: add lines around it if "
		"it does not. Use it instead of sed and write_file.",
	.args = edit_file_table,
	.args_size = sizeof(struct edit_args),
	.fields = edit_fields,
	.flags = TOOL_MODEL | TOOL_DESTRUCTIVE,
	.run = edit_file_run,
};

struct multi_edit_args {
	struct str path;
	const struct json *edits;
	bool dry_run;
};

static const struct arg one_edit_table[] = {
	A_STR(struct edit, old_text, "old_text", REQUIRED,
	      "Exact text, as it is after the edits before"),
	A_STR(struct edit, new_text, "new_text", REQUIRED, "Text in its place"),
	A_BOOL(struct edit, replace_all, "replace_all", false, "Replace every occurrence"),
	A_END,
};

static const struct arg multi_edit_table[] = {
	A_STR(struct multi_edit_args, path, "path", REQUIRED | NONBLANK, "File in the workspace"),
	A_OBJECTS(struct multi_edit_args, edits, "edits", REQUIRED, one_edit_table,
		  "In this order"),
	A_BOOL(struct multi_edit_args, dry_run, "dry_run", false, "Only show the diff"),
	A_END,
};

static int multi_edit_run(struct call *c, const void *args, struct result *ret, struct err *e)
{
	const struct multi_edit_args *a = args;
	struct edit_job job = { .path = a->path, .dry_run = a->dry_run, .for_model = true };
	size_t n = 0;

	for (const struct json *v = a->edits->first; v; v = v->next)
		n++;
	if (n == 0 || n > LIMIT_EDITS)
		return err_set(e, ERR_INVALID_ARGUMENTS, "edits must have 1 to %d items, not %zu",
			       LIMIT_EDITS, n);
	struct edit *edits = arena_array(c->arena, n, sizeof *edits);
	if (!edits)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for this call, try again");
	job.edits = edits;
	for (const struct json *v = a->edits->first; v; v = v->next)
		tool_bind_item(one_edit_table, v, &edits[job.count++]);
	return run_job(c, &job, ret, e);
}

const struct tool tool_multi_edit = {
	.name = "multi_edit",
	.title = "Edit file in several places",
	.about = "Change several parts of a file, all of them or none.",
	.args = multi_edit_table,
	.args_size = sizeof(struct multi_edit_args),
	.fields = edit_fields,
	.flags = TOOL_MODEL | TOOL_DESTRUCTIVE,
	.run = multi_edit_run,
};
