/* SPDX-License-Identifier: MIT */
/* edit_text: find, count, replace; and the reason when there is nothing to find. */

#include "tools/edit_text.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/limits.h"

static int64_t count_of(struct str content, struct str what)
{
	int64_t n = 0;

	for (ptrdiff_t i; (i = str_find(content, what)) >= 0; n++)
		content = str_from(content, (size_t)i + what.n);
	return n;
}

/* A text with some bytes left out or changed, and where each of its bytes came from. */
struct folded {
	char *p;
	size_t *from;
	size_t n;
};

enum fold { FOLD_SPACE, FOLD_CASE };

static bool fold(struct str s, enum fold how, struct arena *a, struct folded *ret)
{
	ret->n = 0;
	ret->p = arena_alloc(a, s.n + 1);
	ret->from = arena_alloc(a, (s.n + 1) * sizeof *ret->from);
	if (!ret->p || !ret->from)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (how == FOLD_SPACE && (c == ' ' || (c >= '\t' && c <= '\r')))
			continue;
		if (how == FOLD_CASE && c >= 'A' && c <= 'Z')
			c |= 0x20;
		ret->from[ret->n] = i;
		ret->p[ret->n++] = c;
	}
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What is between two offsets, and the white space around it where the text has some too: an
 * indentation, the end of the last line. */
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

/* Where the text would be found if both were folded: the span in the content, or false. */
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

/* What kind of white space two texts differ in that are equal without it. */
static const char *space_difference(struct str span, struct str what)
{
	if ((str_find(span, STR("\r\n")) >= 0) != (str_find(what, STR("\r\n")) >= 0))
		return str_find(span, STR("\r\n")) >= 0 ? "the file has CRLF line endings there "
							  "(\\r\\n) and the old text does not"
							: "the old text has CRLF line endings "
							  "(\\r\\n) and the file does not";
	if ((str_index(span, '\t') >= 0) != (str_index(what, '\t') >= 0))
		return str_index(span, '\t') >= 0
			       ? "the file has tabs there and the old text has spaces"
			       : "the file has spaces there and the old text has tabs";
	return "the white space differs";
}

/* A sentence to append when the reason is known; empty otherwise. */
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

	if (!edit->exact_words)
		explain(content, edit->old_text, a, why);
	return err_set(e, ERR_TEXT_NOT_FOUND,
		       "Could not find the exact text in %.*s. The old text must match exactly "
		       "including all whitespace and newlines.%s",
		       STR_FMT(path), why);
}

int edit_fail_same(struct str path, struct err *e)
{
	return err_set(e, ERR_NO_CHANGE,
		       "No changes made to %.*s. The replacement produced identical content. "
		       "This might indicate an issue with special characters or the text not "
		       "existing as expected.",
		       STR_FMT(path));
}

int64_t edit_apply(const struct edit *edit, struct str path, struct str content, struct arena *a,
		   struct buf *out, struct err *e)
{
	const int64_t n = edit->old_text.n ? count_of(content, edit->old_text) : 0;

	if (n == 0)
		return fail_not_found(edit, path, content, a, e);
	if (n > 1 && !edit->replace_all)
		return err_set(
			e, ERR_TEXT_NOT_UNIQUE,
			"Found %lld occurrences of the text in %.*s. The text must be unique. "
			"Please provide more context to make it unique.",
			(long long)n, STR_FMT(path));
	if (str_eq(edit->old_text, edit->new_text))
		return edit_fail_same(path, e);
	for (int64_t i = 0; i < n; i++) {
		const size_t at = (size_t)str_find(content, edit->old_text);
		buf_add(out, str_upto(content, at));
		buf_add(out, edit->new_text);
		content = str_from(content, at + edit->old_text.n);
	}
	buf_add(out, content);
	if (out->failed)
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The edited file would be larger than %d bytes: %.*s",
			       LIMIT_EDIT_BYTES, STR_FMT(path));
	return n;
}
