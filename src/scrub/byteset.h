/* SPDX-License-Identifier: MIT */
/* byteset: a set of bytes, one bit each. */
#ifndef SCRUB_BYTESET_H
#define SCRUB_BYTESET_H

#include <stdbool.h>
#include <stdint.h>

struct byteset {
	uint64_t bits[4];
};

static inline bool byteset_has(const struct byteset *s, char c)
{
	const unsigned char b = (unsigned char)c;

	return s->bits[b >> 6] >> (b & 63) & 1;
}

static inline void byteset_add(struct byteset *s, unsigned char b)
{
	s->bits[b >> 6] |= UINT64_C(1) << (b & 63);
}

/* The sets of the well-known shapes, as bits 0-63 and 64-127. */
#define BYTES_DIGIT  UINT64_C(0x03ff000000000000)
#define BYTES_UPPER  UINT64_C(0x07fffffe)
#define BYTES_LOWER  UINT64_C(0x07fffffe00000000)
#define BYTES_LETTER (BYTES_UPPER | BYTES_LOWER)
#define BYTE(c)	     (UINT64_C(1) << ((c)&63)) /* to be put into the half it belongs to */

#endif
