/* SPDX-License-Identifier: MIT */
/* results: choose the way out; and what several ways have in common. */

#include "results/results.h"

#include <stdio.h>

#include "base/own.h"

int results_beyond_end(const struct page *p, int64_t lines, struct err *e)
{
	return err_set(e, ERR_INVALID_ARGUMENTS,
		       "start_line %lld is beyond the end of the file (%lld lines)",
		       (long long)p->first, (long long)lines);
}

int results_number_width(const struct page *p, int least)
{
	char text[32];
	const int width =
		snprintf(text, sizeof text, "%lld", (long long)(p->first + p->text.out_lines - 1));

	return width < least ? least : width;
}

struct str results_number(const struct page *p, int width, bool as_seen, struct arena *a)
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

void results_describe(const struct diff_head *head, char room[RESULTS_ABOUT])
{
	const char *const hunks = head->hunks == 1 ? "" : "s";
	const char *const lines = head->lines == 1 ? "" : "s";

	room[0] = '\0';
	if (head->hunks && head->lines)
		(void)snprintf(room, RESULTS_ABOUT,
			       "%lld more line%s of this hunk and %lld more hunk%s",
			       (long long)head->lines, lines, (long long)head->hunks, hunks);
	else if (head->hunks)
		(void)snprintf(room, RESULTS_ABOUT, "%lld more hunk%s", (long long)head->hunks,
			       hunks);
	else if (head->lines)
		(void)snprintf(room, RESULTS_ABOUT, "%lld more line%s", (long long)head->lines,
			       lines);
}

void results_write_notes(struct jw *w, const struct edits *d)
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

/* The way out of a call: text if it has a place for that; else members, under the names that models
 * or those that the existing clients know. */
static int show(const struct call *c, struct result *r, struct err *e)
{
	if (c->text)
		return text_show(c, r, e);
	return c->for_model ? observation_show(c, r, e) : wire_show(c, r, e);
}

int results_show(const struct call *c, struct result *r, struct err *e)
{
	if (show(c, r, e) < 0)
		return -1;
	/* A cursor that is missing would say that there is no more. What was changed is changed. */
	if (r->kind == RESULT_FOUND && c->arena->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the result, try again");
	return 0;
}
