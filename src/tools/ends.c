/* SPDX-License-Identifier: MIT */
/* ends: a head that fills once, a tail that goes round. */

#include "tools/ends.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* What is remembered at either end: enough behind the cut to know a secret that lies across it. */
enum {
	HEAD = ENDS_HEAD + LIMIT_SCRUB_HELD,
	TAIL = ENDS_TAIL + LIMIT_SCRUB_HELD,
};

int ends_init(struct ends *o, struct arena *a, struct err *e)
{
	o->total = 0;
	o->bytes = arena_alloc(a, HEAD + TAIL);
	return o->bytes ? 0 : err_set(e, ERR_TOO_BUSY, "Not enough memory for the output");
}

void ends_add(struct ends *o, struct str piece)
{
	char *const tail = o->bytes + HEAD;

	if (o->total < HEAD) {
		const struct str head = str_upto(piece, (size_t)(HEAD - o->total));
		if (head.n)
			memcpy(o->bytes + o->total, head.p, head.n);
		o->total += (int64_t)head.n;
		piece = str_from(piece, head.n);
	}
	/* Of a piece longer than the ring only its end can stay. */
	if (piece.n > TAIL) {
		o->total += (int64_t)(piece.n - TAIL);
		piece = str_from(piece, piece.n - TAIL);
	}
	while (piece.n) {
		const size_t at = (size_t)((o->total - HEAD) % TAIL);
		const struct str part = str_upto(piece, TAIL - at);
		memcpy(tail + at, part.p, part.n);
		o->total += (int64_t)part.n;
		piece = str_from(piece, part.n);
	}
}

bool ends_cut(const struct ends *o)
{
	return o->total > LIMIT_COMMAND_OUTPUT;
}

/* Everything that is remembered: the head and what came behind it. Whole unless it is less than
 * total; then the missing part is behind the first HEAD bytes. */
static struct str remembered(const struct ends *o, struct arena *a)
{
	const char *const ring = o->bytes + HEAD;
	char *all = arena_alloc(a, HEAD + TAIL);

	if (!all)
		return (struct str){ NULL, 0 };
	if (o->total <= HEAD + TAIL) {
		memcpy(all, o->bytes, (size_t)o->total);
		return (struct str){ all, (size_t)o->total };
	}
	const size_t start = (size_t)((o->total - HEAD) % TAIL);
	memcpy(all, o->bytes, HEAD);
	memcpy(all + HEAD, ring + start, TAIL - start);
	memcpy(all + HEAD + TAIL - start, ring, start);
	return (struct str){ all, HEAD + TAIL };
}

struct str ends_text(const struct ends *o, const struct scrub *rules, struct arena *a)
{
	enum { MARK = 64 };
	struct str head = remembered(o, a), tail = head;
	char *text = ends_cut(o) ? arena_alloc(a, LIMIT_COMMAND_OUTPUT + MARK) : NULL;

	if (!text)
		return ends_cut(o) ? (struct str){ NULL, 0 } : head;
	if ((int64_t)head.n < o->total) {
		head = str_upto(head, HEAD);
		tail = str_from(tail, HEAD);
	}
	head = str_upto(head, scrub_cut(rules, head, ENDS_HEAD).from);
	tail = str_from(tail, scrub_cut(rules, tail, tail.n - ENDS_TAIL).to);
	tail = str_from(tail, utf8_cut_rest(tail));
	size_t n = utf8_whole(head);
	memcpy(text, head.p, n);
	const int64_t omitted = o->total - (int64_t)n - (int64_t)tail.n;
	n += (size_t)snprintf(text + n, MARK, "%s[... %lld bytes omitted ...]\n",
			      n && text[n - 1] == '\n' ? "" : "\n", (long long)omitted);
	memcpy(text + n, tail.p, tail.n);
	return (struct str){ text, n + tail.n };
}
