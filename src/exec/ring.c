/* SPDX-License-Identifier: MIT */
/* ring: memory that doubles until it is large enough, and is overwritten from then on. */

#include "exec/ring.h"

#include <string.h>

enum { LEAST_ROOM = 256 };

/* Grow to hold n more bytes, as far as the size allows. */
static void grow(struct ring *r, size_t n)
{
	size_t room = r->room ? r->room : LEAST_ROOM;

	/* After the first byte was overwritten, positions cannot be moved any more. */
	if (r->room >= r->size || r->total > (int64_t)r->room)
		return;
	while (room < r->size && room < (size_t)r->total + n)
		room *= 2;
	if (room > r->size)
		room = r->size;
	char *bytes = room > r->room ? mem_resize(r->bytes, room, 1) : NULL;
	if (!bytes)
		return;
	r->bytes = bytes;
	r->room = room;
}

void ring_add(struct ring *r, struct str text)
{
	grow(r, text.n);
	/* Only the end of a text that is longer than the ring will be kept. */
	if (text.n > r->room) {
		r->total += (int64_t)(text.n - r->room);
		text = str_from(text, text.n - r->room);
	}
	while (text.n) {
		const size_t at = (size_t)r->total % r->room;
		const struct str part = str_upto(text, r->room - at);
		memcpy(r->bytes + at, part.p, part.n);
		r->total += (int64_t)part.n;
		text = str_from(text, part.n);
	}
}

int64_t ring_start(const struct ring *r)
{
	return r->total > (int64_t)r->room ? r->total - (int64_t)r->room : 0;
}

void ring_copy(const struct ring *r, int64_t from, int64_t to, struct buf *out)
{
	while (from < to) {
		const size_t at = (size_t)from % r->room;
		const struct str part =
			str_upto((struct str){ r->bytes + at, r->room - at }, (size_t)(to - from));
		buf_add(out, part);
		from += (int64_t)part.n;
	}
}

void ring_fit(struct ring *r)
{
	if (r->total == 0)
		ring_done(r);
	if (r->total >= (int64_t)r->room)
		return;
	char *bytes = mem_resize(r->bytes, (size_t)r->total, 1);
	if (!bytes)
		return;
	r->bytes = bytes;
	r->room = (size_t)r->total;
}

void ring_done(struct ring *r)
{
	mem_free(r->bytes);
	r->bytes = NULL;
	r->room = 0;
}
