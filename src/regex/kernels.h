/* SPDX-License-Identifier: MIT */
/*
 * kernels: the three inner loops of searching, once for each kind of processor.
 *
 * literals.h and bytesets.h build the structs below and are what others use. A kernel reads only
 * p[0] to p[n - 1], and returns the first place at or after `from` where a match begins that fits
 * into the text, or n. kernels_best() chooses by what the processor supports; tests run each of
 * kernels_all().
 */
#ifndef REGEX_KERNELS_H
#define REGEX_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/byteset.h"

enum {
	BYTESETS_MAX = 4,     /* positions tested; more hardly make a candidate rarer */
	LITERALS_MAX = 64,    /* needles of one search */
	LITERALS_BUCKETS = 8, /* bits of a byte */
	LITERALS_BYTES = 4,   /* leading bytes of a needle that are tested */
};

struct kernels;

/* A byte c passes when low[c & 15] & high[c >> 4] is not 0. */
struct nibbles {
	uint8_t low[16], high[16];
};

static inline unsigned nibbles_get(const struct nibbles *t, uint8_t c)
{
	return t->low[c & 15] & t->high[c >> 4];
}

struct literal {
	const struct kernels *kernels;
	const uint8_t *p; /* lower case when nocase */
	size_t n;
	bool nocase;
	uint8_t at[2];	 /* offsets of the two rarest bytes, … */
	uint8_t byte[2]; /* … these bytes, … */
	uint8_t fold[2]; /* … and what is or-ed to the text before comparing: 0x20 or 0 */
};

struct bytesets {
	const struct kernels *kernels;
	unsigned n;    /* positions tested */
	unsigned span; /* length of the run */
	struct {
		unsigned at;
		struct nibbles nibbles;
		struct byteset set;
	} tests[BYTESETS_MAX];
};

struct literals {
	const struct kernels *kernels;
	bool nocase;
	unsigned n;
	struct {
		const uint8_t *p;
		size_t n;
		uint32_t head;	 /* its first LITERALS_BYTES, when all are that long … */
		uint32_t fold;	 /* … and what is or-ed to the text before comparing */
	} needles[LITERALS_MAX]; /* sorted by bucket */
	uint8_t first[LITERALS_BUCKETS + 1]; /* needles of a bucket: first[b] to first[b + 1] */
	unsigned bytes;			     /* leading bytes tested */
	size_t shortest;
	/* Those bytes, the most selective one first; then tests that every byte passes. */
	struct literals_test {
		unsigned at;
		struct nibbles nibbles; /* bit: bucket */
	} tests[LITERALS_BYTES];
	uint8_t *memory;
};

struct kernels {
	const char *name;
	size_t (*literal)(const struct literal *l, const uint8_t *p, size_t n, size_t from);
	size_t (*bytesets)(const struct bytesets *b, const uint8_t *p, size_t n, size_t from);
	size_t (*literals)(const struct literals *l, const uint8_t *p, size_t n, size_t from);
};

const struct kernels *kernels_best(void);

/* The i-th kernels this processor can run, NULL after the last; the first are portable. */
const struct kernels *kernels_all(unsigned i);

#endif
