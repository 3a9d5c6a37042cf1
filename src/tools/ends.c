/* SPDX-License-Identifier: MIT */
/* ends: a head that fills once, a tail that goes round. */

#include "tools/ends.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

int ends_init(struct ends *o, struct arena *a, struct err *e)
{
	o->total = 0;
	o->bytes = arena_alloc(a, ENDS_HEAD + ENDS_TAIL);
	return o->bytes ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
}

void ends_add(struct ends *o, struct str piece)
{
	char *const tail = o->bytes + ENDS_HEAD;

	if (o->total < ENDS_HEAD) {
		const struct str head = str_upto(piece, (size_t)(ENDS_HEAD - o->total));
		if (head.n)
			memcpy(o->bytes + o->total, head.p, head.n);
		o->total += (int64_t)head.n;
		piece = str_from(piece, head.n);
	}
	/* Of a piece longer than the ring only its end can stay. */
	if (piece.n > ENDS_TAIL) {
		o->total += (int64_t)(piece.n - ENDS_TAIL);
		piece = str_from(piece, piece.n - ENDS_TAIL);
	}
	while (piece.n) {
		const size_t at = (size_t)((o->total - ENDS_HEAD) % ENDS_TAIL);
		const struct str part = str_upto(piece, ENDS_TAIL - at);
		memcpy(tail + at, part.p, part.n);
		o->total += (int64_t)part.n;
		piece = str_from(piece, part.n);
	}
}

bool ends_cut(const struct ends *o)
{
	return o->total > LIMIT_COMMAND_OUTPUT;
}

/* Behind what remains of a character whose start was left out. */
static struct str skip_rest_of_character(struct str s)
{
	size_t n = 0;

	while (n < 3 && n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n++;
	return str_from(s, n);
}

struct str ends_text(const struct ends *o, struct arena *a)
{
	enum { MARK = 64 };
	char *text = arena_alloc(a, LIMIT_COMMAND_OUTPUT + MARK);

	if (!text)
		return (struct str){ NULL, 0 };
	if (!ends_cut(o)) {
		memcpy(text, o->bytes, (size_t)o->total);
		return (struct str){ text, (size_t)o->total };
	}
	/* Unroll the ring behind its place in the text, then close the gap. */
	char *const ring = o->bytes + ENDS_HEAD, *const to = text + ENDS_HEAD + MARK;
	const size_t start = (size_t)((o->total - ENDS_HEAD) % ENDS_TAIL);
	memcpy(to, ring + start, ENDS_TAIL - start);
	memcpy(to + ENDS_TAIL - start, ring, start);
	const struct str tail = skip_rest_of_character((struct str){ to, ENDS_TAIL });
	size_t n = utf8_whole((struct str){ o->bytes, ENDS_HEAD });
	memcpy(text, o->bytes, n);
	const int64_t omitted = o->total - (int64_t)n - (int64_t)tail.n;
	n += (size_t)snprintf(text + n, MARK, "%s[... %lld bytes omitted ...]\n",
			      n && text[n - 1] == '\n' ? "" : "\n", (long long)omitted);
	memmove(text + n, tail.p, tail.n);
	return (struct str){ text, n + tail.n };
}
