/* SPDX-License-Identifier: MIT */
/*
 * kernels: the three inner loops of searching, once for each kind of processor.
 *
 * literals.h and bytesets_init build the structs below and are what others use. A kernel reads only
 * p[0] to p[n - 1], and returns the first place at or after `from` where a match begins, or n.
 * kernels_best() chooses by what the processor supports; tests run each of kernels_all().
 */
#ifndef REGEX_KERNELS_H
#define REGEX_KERNELS_H

#include <endian.h>

#include "base/bytes.h"
#include "base/str.h"

enum {
	BYTESETS_MAX = 4,     /* positions tested; more hardly make a candidate rarer */
	LITERALS_BUCKETS = 8, /* bits of a byte */
	LITERALS_BYTES = 4,   /* leading bytes of a needle that are tested and hashed */
};

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

/* One of several texts to be found. It is not empty. */
struct needle {
	struct str text;	     /* lower case when nocase */
	bool nocase;		     /* for ASCII letters */
	const struct byteset *after; /* what may follow the text; NULL: any byte */
};

struct literals {
	const struct kernels *kernels;
	const struct needle *needles;
	size_t key;	    /* bytes hashed: LITERALS_BYTES, or fewer if a needle is shorter */
	uint32_t key_mask;  /* of these bytes */
	unsigned key_shift; /* from a product to a slot */
	/* Lists of needles whose keys have the same hash, in order: numbers from 1, and 0 at the
	 * end. */
	uint16_t *first; /* for each slot */
	uint16_t *next;	 /* for each needle */
	/* For each of the first bytes, a bit for each bucket of needles: in order of the bytes, and
	 * the most selective one first. */
	struct nibbles tests[LITERALS_BYTES];
	struct literals_test {
		unsigned at;
		struct nibbles nibbles;
	} sorted[LITERALS_BYTES];
	bool by_four; /* the first two of them alone decide too little */
};

/* The slot of the key at p, where `left` bytes are left, at least `key`. */
static inline uint32_t literals_slot(const struct literals *l, const char *p, size_t left)
{
	uint32_t k = 0;

	if (left >= sizeof k) {
		memcpy(&k, p, sizeof k);
		k = le32toh(k);
	} else {
		for (size_t i = 0; i < left; i++)
			k |= (uint32_t)(uint8_t)p[i] << 8 * i;
	}
	return ((k | 0x20202020) & l->key_mask) * UINT32_C(2654435761) >> l->key_shift;
}

/* The first of the needles whose key may be at p, or 0; the others follow by `next`. */
static inline unsigned literals_first(const struct literals *l, const char *p, size_t left)
{
	return l->first[literals_slot(l, p, left)];
}

/* The next place with such a needle, which is *ret; or n. */
static inline size_t literals_next(const struct literals *l, const uint8_t *p, size_t n,
				   size_t from, unsigned *ret)
{
	for (; from + l->key <= n; from++) {
		const unsigned first = literals_first(l, (const char *)p + from, n - from);

		if (first) {
			*ret = first;
			return from;
		}
	}
	return n;
}

/* Whether a text is a needle; the needle is lower case when case is ignored. */
static inline bool same_text(const uint8_t *text, const uint8_t *needle, size_t n, bool nocase)
{
	if (!nocase)
		return memcmp(text, needle, n) == 0;
	for (size_t i = 0; i < n; i++)
		if ((uint8_t)str_lower((char)text[i]) != needle[i])
			return false;
	return true;
}

struct kernels {
	const char *name;
	size_t (*literal)(const struct literal *l, const uint8_t *p, size_t n, size_t from);
	size_t (*bytesets)(const struct bytesets *b, const uint8_t *p, size_t n, size_t from);
	/* Finds the key of a needle; the rest of it need not be there. *ret: literals_first. */
	size_t (*literals)(const struct literals *l, const uint8_t *p, size_t n, size_t from,
			   unsigned *ret);
};

const struct kernels *kernels_best(void);

/* The i-th kernels this processor can run, NULL after the last; the first are portable. */
const struct kernels *kernels_all(unsigned i);

/*
 * bytesets: a run of byte sets, found fast: the first place where each of the bytes is in its set.
 *
 * [A-Z]{3}_ is four sets. A single set finds the next byte that ends a skip. Vector instructions
 * test 16 or 32 places at once with two small tables per set, each indexed by half a byte. The
 * tables may widen a complicated set of non-ASCII bytes, so a place found is only a candidate.
 */

/* How often each byte occurs in source code and prose, so that a search can look for the rare one.
 * Only speed depends on it. */
enum { BYTEFREQ_ALL = 1 << 16 }; /* approximately the sum of all entries */

extern const uint16_t bytefreq[256];

/* How often a byte of the set occurs, out of BYTEFREQ_ALL. */
unsigned byteset_frequency(const struct byteset *s);

/* A run of 1 to 64 sets; of more than BYTESETS_MAX only the rarest are tested. */
void bytesets_init(struct bytesets *b, const struct byteset *sets, unsigned n);

/* The first place at or after `from`, or text.n when there is none. */
size_t bytesets_find(const struct bytesets *b, struct str text, size_t from);

#endif
