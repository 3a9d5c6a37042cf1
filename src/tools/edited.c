/* SPDX-License-Identifier: MIT */
/* edited: a diff in an observation, or below a line that sums it up. */

#include "tools/edited.h"

#include <stdio.h>

#include "base/bytes.h"
#include "tools/limits.h"

enum { ABOUT = 128 };

/* What is not shown of a diff, in words; empty if all of it is. */
static void describe(const struct diff_head *head, char room[ABOUT])
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

void edited_write(struct call *c, struct str diff)
{
	const int64_t room = call_room(c);
	int64_t bytes = room < LIMIT_HEAD_BYTES ? room : LIMIT_HEAD_BYTES;
	struct diff_head head = diff_cut(diff, LIMIT_HEAD_LINES, bytes);
	char about[ABOUT];

	while (head.text.n && (int64_t)jw_escaped_length(head.text) > room) {
		bytes = bytes / 4 * 3;
		head = diff_cut(diff, LIMIT_HEAD_LINES, bytes);
	}
	describe(&head, about);
	jw_open_str(c->out, "diff");
	jw_piece(c->out, head.text);
	if (*about) {
		jw_piece(c->out, head.text.n ? STR("\n[") : STR("["));
		jw_piece(c->out, str_of(about));
		jw_piece(c->out, STR("]"));
	}
	jw_close_str(c->out);
}

void edited_show_part(struct call *c, const char *done, struct str path, struct diff_size size,
		      struct str diff, const char *more)
{
	struct buf *text = c->text->text;
	char about[ABOUT];

	buf_addf(text, "[%s ", done);
	buf_add(text, path);
	if (size.added)
		buf_addf(text, "%s +%lld", ",", (long long)size.added);
	if (size.removed)
		buf_addf(text, "%s -%lld", size.added ? "" : ",", (long long)size.removed);
	buf_addf(text, "%s]", more);
	const int64_t used = (int64_t)bytes_count(buf_str(text), '\n') + 2;
	const int64_t lines = c->max_lines ? c->max_lines - used : INT64_MAX;
	const struct diff_head head = diff_cut(diff, lines, call_room(c));
	if (head.text.n)
		buf_addc(text, '\n');
	buf_add(text, head.text);
	describe(&head, about);
	if (*about)
		call_note(c, "%s not shown%s", about,
			  c->native ? "" : ": read_file shows the file as it is now");
}

void edited_show(struct call *c, const char *done, struct str path, struct str diff,
		 const char *more)
{
	edited_show_part(c, done, path, diff_size(diff), diff, more);
}

int edited_check(const struct call *c, struct err *e)
{
	if (c->text && c->text->text->failed)
		return err_set(e, ERR_TOO_BUSY, "Not enough memory for the answer, try again");
	if (jw_failed(c->out))
		return err_set(e, ERR_FILE_TOO_LARGE,
			       "The change is too large to be shown: write the whole file instead");
	return 0;
}
