/* SPDX-License-Identifier: MIT */
/* lines: find the newlines; each byte is scanned once. */

#include "base/lines.h"

#include "base/bytes.h"

enum { PIECE = 64 << 10 };

char *lines_room(struct lines *l, size_t *room)
{
	if (l->begin == l->in.n)
		buf_reset(&l->in, PIECE);
	else
		buf_drop(&l->in, l->begin);
	l->scanned -= l->begin;
	l->begin = 0;
	l->in.max = l->max + 2 * (size_t)PIECE;
	*room = PIECE;
	return buf_room(&l->in, PIECE);
}

void lines_filled(struct lines *l, size_t n)
{
	buf_filled(&l->in, n);
}

/* There is no newline yet: keep the bytes if they may still become a line. */
static enum lines_got unfinished(struct lines *l)
{
	const bool reported = l->skipping;

	l->scanned = l->in.n;
	if (l->in.n - l->begin <= l->max && !reported)
		return LINES_MORE;
	l->skipping = true;
	l->begin = l->in.n;
	return reported ? LINES_MORE : LINES_LONG;
}

enum lines_got lines_next(struct lines *l, struct str *line)
{
	for (;;) {
		const ptrdiff_t at = str_index(str_from(buf_str(&l->in), l->scanned), '\n');
		if (at < 0)
			return unfinished(l);
		*line = str_from(str_upto(buf_str(&l->in), l->scanned + (size_t)at), l->begin);
		l->begin = l->scanned += (size_t)at + 1;
		if (!l->skipping)
			return line->n <= l->max ? LINES_LINE : LINES_LONG;
		l->skipping = false;
	}
}

struct str lines_rest(const struct lines *l)
{
	return l->skipping ? STR("") : str_from(buf_str(&l->in), l->begin);
}

void lines_done(struct lines *l)
{
	buf_done(&l->in);
}

struct str lines_last(struct str text, int64_t most, int64_t *before)
{
	size_t at = text.n && text.p[text.n - 1] == '\n' ? text.n - 1 : text.n;

	while (at > 0 && (text.p[at - 1] != '\n' || --most > 0))
		at--;
	*before = (int64_t)bytes_count(str_upto(text, at), '\n');
	return str_from(text, at);
}
