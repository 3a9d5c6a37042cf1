/* SPDX-License-Identifier: MIT */
/* byteset: a set of bytes, one bit each. */
#ifndef BASE_BYTESET_H
#define BASE_BYTESET_H

#include <stdbool.h>
#include <stdint.h>

struct byteset {
	uint64_t bits[4];
};

static inline bool byteset_has(const struct byteset *s, unsigned char byte)
{
	return s->bits[byte >> 6] >> (byte & 63) & 1;
}

static inline void byteset_add(struct byteset *s, unsigned char byte)
{
	s->bits[byte >> 6] |= UINT64_C(1) << (byte & 63);
}

#endif
