/* SPDX-License-Identifier: MIT */
/* ends: a head that fills once, a tail that is a ring, and where to cut between them. */

#include "tools/ends.h"

#include <string.h>

#include "base/bytes.h"
#include "base/human.h"
#include "base/utf8.h"

static int no_memory(struct err *e)
{
	return err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
}

int ends_init(struct ends *o, size_t head, size_t tail, struct arena *a, struct err *e)
{
	char *bytes = arena_alloc(a, head + tail);

	if (!bytes)
		return no_memory(e);
	*o = (struct ends){ .bytes = bytes, .head = head, .tail = tail };
	return 0;
}

void ends_add(struct ends *o, struct str piece)
{
	char *const ring = o->bytes + o->head;

	o->lines += (int64_t)bytes_count(piece, '\n');
	if (o->total < (int64_t)o->head) {
		const struct str head = str_upto(piece, o->head - (size_t)o->total);
		if (head.n)
			memcpy(o->bytes + o->total, head.p, head.n);
		o->total += (int64_t)head.n;
		piece = str_from(piece, head.n);
	}
	/* Of a piece that is longer than the ring, only the end is kept. */
	if (piece.n > o->tail) {
		o->total += (int64_t)(piece.n - o->tail);
		piece = str_from(piece, piece.n - o->tail);
	}
	while (piece.n) {
		const size_t at = ((size_t)o->total - o->head) % o->tail;
		const struct str part = str_upto(piece, o->tail - at);
		memcpy(ring + at, part.p, part.n);
		o->total += (int64_t)part.n;
		piece = str_from(piece, part.n);
	}
}

/* Everything that is remembered, in order. If that is less than the total, the missing part comes
 * after the head. */
static struct str remembered(const struct ends *o, struct arena *a)
{
	const size_t all = o->head + o->tail, total = (size_t)o->total;
	char *text;

	if (total <= all)
		return (struct str){ o->bytes, total };
	text = arena_alloc(a, all);
	if (!text)
		return (struct str){ NULL, 0 };
	const char *const ring = o->bytes + o->head;
	const size_t oldest = (total - o->head) % o->tail;
	memcpy(text, o->bytes, o->head);
	memcpy(text + o->head, ring + oldest, o->tail - oldest);
	memcpy(text + all - oldest, ring, oldest);
	return (struct str){ text, all };
}

/* The first bytes, at most `bytes` of them in at most `lines` lines. */
static struct str cut_head(struct str text, size_t bytes, int64_t lines, bool at_lines)
{
	struct str head = str_upto(text, bytes);
	size_t end = 0;

	for (ptrdiff_t i; lines > 0 && (i = str_index(str_from(head, end), '\n')) >= 0; lines--)
		end += (size_t)i + 1;
	if (lines == 0 || (at_lines && end))
		return str_upto(head, end);
	return str_upto(head, utf8_whole(head));
}

/* The last bytes likewise. `begins` tells whether the text begins at the start of a line. */
static struct str cut_tail(struct str text, size_t bytes, int64_t lines, bool at_lines, bool begins)
{
	const size_t from = text.n > bytes ? text.n - bytes : 0;
	struct str tail = str_from(text, from);
	ptrdiff_t first = -1;

	if (at_lines && tail.n && !(from ? text.p[from - 1] == '\n' : begins))
		first = str_index(str_upto(tail, tail.n - 1), '\n');
	tail = str_from(tail, first >= 0 ? (size_t)first + 1 : utf8_cut_rest(tail));
	for (int64_t extra = (int64_t)bytes_count(tail, '\n') - lines; extra > 0; extra--)
		tail = str_from(tail, (size_t)str_index(tail, '\n') + 1);
	return tail;
}

static int64_t percent(int64_t n, unsigned of_100)
{
	return n / 100 * of_100 + n % 100 * of_100 / 100;
}

int ends_show(const struct ends *o, const struct ends_limit *limit, struct arena *a,
	      struct ends_shown *ret, struct err *e)
{
	const struct str all = remembered(o, a);
	const bool gap = (int64_t)all.n < o->total;
	const int64_t head_bytes = percent(limit->bytes, limit->head);
	const int64_t head_lines = percent(limit->lines, limit->head);

	if (!all.p)
		return no_memory(e);
	if (o->total <= limit->bytes && o->lines <= limit->lines) {
		*ret = (struct ends_shown){ .head = all };
		return 0;
	}
	const struct str first = gap ? str_upto(all, o->head) : all;
	const struct str last = gap ? str_from(all, o->head) : all;
	struct ends_shown shown = {
		.head = cut_head(first, (size_t)head_bytes, head_lines, limit->at_lines),
		.tail = cut_tail(last, (size_t)(limit->bytes - head_bytes),
				 limit->lines - head_lines, limit->at_lines, !gap),
	};
	const int64_t lines = (int64_t)bytes_count(shown.head, '\n');
	shown.bytes = o->total - (int64_t)(shown.head.n + shown.tail.n);
	shown.lines = o->lines - lines - (int64_t)bytes_count(shown.tail, '\n');
	shown.next_line = lines + 1;
	*ret = shown;
	return 0;
}

void ends_write(struct buf *out, const struct ends_shown *s, const char *where)
{
	char lines[HUMAN_SIZE], bytes[HUMAN_SIZE];

	buf_add(out, s->head);
	if (s->bytes == 0)
		return;
	if (s->head.n && s->head.p[s->head.n - 1] != '\n')
		buf_addc(out, '\n');
	buf_add(out, STR("[… "));
	if (s->lines > 0)
		buf_addf(out, "%s line%s, ", human_count(s->lines, lines),
			 s->lines == 1 ? "" : "s");
	buf_addf(out, "%s left out%s%s]\n", human_bytes(s->bytes, bytes), *where ? ": " : "",
		 where);
	buf_add(out, s->tail);
}
