/* SPDX-License-Identifier: MIT */
/*
 * buf: bytes owned and growing, up to a maximum.
 *
 * The zero value with a maximum is ready for use:
 *
 *	AUTO_BUF b = { .max = LIMIT_ANSWER };
 *	buf_add(&b, STR("hello "));
 *	buf_addf(&b, "%d", 42);
 *	if (b.failed)
 *		return err_set(e, ERR_TOO_BUSY, …);
 *
 * Failure is sticky: an add that would pass the maximum, or for which there is no memory, adds
 * nothing and sets `failed`; later adds do nothing. So a series of adds is checked once, at the
 * end. The maximum 0 allows nothing to be added. The bytes are not NUL-terminated.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "base/str.h"

struct buf {
	char *p;
	size_t n;   /* bytes in use */
	size_t cap; /* bytes there is memory for */
	size_t max; /* never more than this many bytes */
	bool failed;
	bool fixed; /* p is the caller's memory: it is never moved and never freed */
};

#define AUTO_BUF CLEANUP(buf_done) struct buf

/* A buf that fills `size` bytes of the caller's memory, usually an array on the stack, and fails
 * when they are full. The caller keeps the memory, which must outlive the buf. There is nothing to
 * give back; buf_done is allowed and empties the buf. */
static inline struct buf buf_over(char *p, size_t size)
{
	return (struct buf){ .p = p, .cap = size, .max = size, .fixed = true };
}

static inline struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p, b->n };
}

/* What buf_room does where the memory there is does not suffice. */
char *buf_grow(struct buf *b, size_t n);

/* Room for at least n bytes after the last one, or NULL on failure. The caller fills some of it, at
 * most cap - n bytes, and then says how many with buf_filled. */
static inline char *buf_room(struct buf *b, size_t n)
{
	const bool fits = b->p && !b->failed && n <= b->cap - b->n && b->n + n <= b->max;

	return fits ? b->p + b->n : buf_grow(b, n);
}

static inline void buf_filled(struct buf *b, size_t n)
{
	b->n += n;
}

static inline void buf_addc(struct buf *b, char c)
{
	char *to = buf_room(b, 1);

	if (to)
		b->p[b->n++] = c;
}

void buf_add(struct buf *b, struct str s);
void buf_addi(struct buf *b, int64_t value); /* in decimal */
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Make room for exactly n bytes after the last one and give the rest of the memory back; a fixed
 * buf keeps it. False, and nothing has changed, if there is no memory or max does not allow it. */
bool buf_fit(struct buf *b, size_t n);

/* Drop the first n bytes. */
void buf_drop(struct buf *b, size_t n);

/* Forget the bytes and the failure. More than `keep` bytes of memory are given back. */
void buf_reset(struct buf *b, size_t keep);

/* Give the memory back; the buf is empty and usable again. */
void buf_done(struct buf *b);

#endif
