/* SPDX-License-Identifier: MIT */
/* buf: a growing byte buffer with a maximum and a sticky failure. */

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUF_FIRST = 256 };

char *buf_grow(struct buf *b, size_t n)
{
	if (b->failed || n > b->max || b->n > b->max - n) {
		b->failed = true;
		return NULL;
	}
	/* Doubling keeps the cost of n adds linear; the maximum is never overshot. */
	size_t cap = b->cap ? b->cap : BUF_FIRST;
	while (cap < b->n + n)
		cap = cap > b->max / 2 ? b->max : cap * 2;
	if (cap > b->max)
		cap = b->max;
	char *p = realloc(b->p, cap ? cap : 1);
	if (!p) {
		b->failed = true;
		return NULL;
	}
	b->p = p;
	b->cap = cap;
	return b->p + b->n;
}

bool buf_fit(struct buf *b, size_t n)
{
	if (b->failed || n > b->max || b->n > b->max - n)
		return false;
	if (b->fixed)
		return true;
	const size_t cap = b->n + n;
	char *p = cap == b->cap ? b->p : realloc(b->p, cap ? cap : 1);
	if (!p)
		return false;
	b->p = p;
	b->cap = cap;
	return true;
}

void buf_add(struct buf *b, struct str s)
{
	char *to = buf_room(b, s.n);

	if (!to || s.n == 0)
		return;
	memcpy(to, s.p, s.n);
	b->n += s.n;
}

void buf_addi(struct buf *b, int64_t value)
{
	char digits[20];
	size_t at = sizeof digits;
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do
		digits[--at] = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		digits[--at] = '-';
	buf_add(b, (struct str){ digits + at, sizeof digits - at });
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	char small[256];
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	if ((size_t)n < sizeof small) {
		buf_add(b, (struct str){ small, (size_t)n });
		return;
	}
	/* Not straight into the room: vsnprintf also writes a NUL, for which there is no byte at
	 * the maximum. */
	char *text = buf_room(b, (size_t)n) ? malloc((size_t)n + 1) : NULL;
	if (!text) {
		b->failed = true;
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	buf_add(b, (struct str){ text, (size_t)n });
	free(text);
}

void buf_drop(struct buf *b, size_t n)
{
	if (n >= b->n) {
		b->n = 0;
		return;
	}
	memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
}

void buf_reset(struct buf *b, size_t keep)
{
	b->n = 0;
	b->failed = false;
	if (b->cap > keep && !b->fixed) {
		free(b->p);
		b->p = NULL;
		b->cap = 0;
	}
}

void buf_done(struct buf *b)
{
	if (b->fixed) {
		buf_reset(b, 0);
		return;
	}
	free(b->p);
	*b = (struct buf){ .max = b->max };
}
