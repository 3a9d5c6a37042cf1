/* SPDX-License-Identifier: MIT */
/* kernels: the loops for any processor, for SSE2, SSSE3 and AVX2, and the choice among them; and bytesets:
 * choose the rarest positions of a run and make tables for the vector loops. */

#include "regex/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static size_t portable_literal(const struct literal *l, const uint8_t *p, size_t n, size_t from)
{
	if (n < l->n)
		return n;

	/* memchr is vectorised everywhere; when case is ignored there are two bytes to find. */
	for (size_t i = from; i + l->n <= n; i++) {
		const uint8_t *rare = p + i + l->at[0];

		if (!l->fold[0]) {
			rare = memchr(rare, l->byte[0], n - l->n + 1 - i);
			if (!rare)
				return n;
			i = (size_t)(rare - p) - l->at[0];
		} else if ((*rare | 0x20) != l->byte[0]) {
			continue;
		}
		if ((p[i + l->at[1]] | l->fold[1]) == l->byte[1] &&
		    same_text(p + i, l->p, l->n, l->nocase))
			return i;
	}
	return n;
}

static size_t portable_bytesets(const struct bytesets *b, const uint8_t *p, size_t n, size_t from)
{
	for (size_t i = from; i + b->span <= n; i++) {
		unsigned k = 0;

		while (k < b->n && byteset_has(&b->tests[k].set, p[i + b->tests[k].at]))
			k++;
		if (k == b->n)
			return i;
	}
	return n;
}

static size_t portable_literals(const struct literals *l, const uint8_t *p, size_t n, size_t from,
				unsigned *ret)
{
	return literals_next(l, p, n, from, ret);
}

static const struct kernels portable = {
	.name = "portable",
	.literal = portable_literal,
	.bytesets = portable_bytesets,
	.literals = portable_literals,
};

#if defined(__x86_64__)

#define VEC	       __m128i
#define WIDTH	       16
#define LOAD(p)	       _mm_loadu_si128((const __m128i *)(const void *)(p))
#define SPLAT(c)       _mm_set1_epi8((char)(c))
#define TABLE(t)       LOAD(t)
#define EQ	       _mm_cmpeq_epi8
#define AND	       _mm_and_si128
#define OR	       _mm_or_si128
#define HIGH(v)	       AND(_mm_srli_epi16(v, 4), SPLAT(15))
#define SHUFFLE	       _mm_shuffle_epi8
#define MASK(v)	       ((uint32_t)_mm_movemask_epi8(v))
#define DISJOINT(a, b) (MASK(EQ(AND(a, b), SPLAT(0))) == 0xffff)

#define TARGET
#define NAME(f) sse2_##f
#include "regex/kernels_vector.h"
#undef TARGET
#undef NAME

#define TARGET	__attribute__((target("ssse3")))
#define NAME(f) ssse3_##f
#define WITH_SHUFFLE
#define NARROWER(f) portable_##f
#include "regex/kernels_vector.h"
#undef TARGET
#undef NAME
#undef NARROWER

#undef VEC
#undef WIDTH
#undef LOAD
#undef SPLAT
#undef TABLE
#undef EQ
#undef AND
#undef OR
#undef HIGH
#undef SHUFFLE
#undef MASK
#undef DISJOINT

#define VEC	    __m256i
#define WIDTH	    32
#define LOAD(p)	    _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define SPLAT(c)    _mm256_set1_epi8((char)(c))
#define TABLE(t)    _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(t)))
#define EQ	    _mm256_cmpeq_epi8
#define AND	    _mm256_and_si256
#define OR	    _mm256_or_si256
#define HIGH(v)	    AND(_mm256_srli_epi16(v, 4), SPLAT(15))
#define SHUFFLE	    _mm256_shuffle_epi8
#define MASK(v)	    ((uint32_t)_mm256_movemask_epi8(v))
#define DISJOINT    _mm256_testz_si256
#define TARGET	    __attribute__((target("avx2")))
#define NAME(f)	    avx2_##f
#define NARROWER(f) ssse3_##f
#include "regex/kernels_vector.h"

/* Without a byte shuffle only the search for one literal gains. */
static const struct kernels sse2 = {
	.name = "sse2",
	.literal = sse2_literal,
	.bytesets = portable_bytesets,
	.literals = portable_literals,
};

static const struct kernels ssse3 = {
	.name = "ssse3",
	.literal = ssse3_literal,
	.bytesets = ssse3_bytesets,
	.literals = ssse3_literals,
};

static const struct kernels avx2 = {
	.name = "avx2",
	.literal = avx2_literal,
	.bytesets = avx2_bytesets,
	.literals = avx2_literals,
};

#endif

const struct kernels *kernels_all(unsigned i)
{
	const struct kernels *all[5] = { &portable };
	unsigned n = 1;

#if defined(__x86_64__)
	all[n++] = &sse2;
	if (__builtin_cpu_supports("ssse3"))
		all[n++] = &ssse3;
	if (__builtin_cpu_supports("avx2"))
		all[n++] = &avx2;
#endif
	return i < n ? all[i] : NULL;
}

const struct kernels *kernels_best(void)
{
	const struct kernels *best = &portable;

	for (unsigned i = 0; kernels_all(i); i++)
		best = kernels_all(i);
	return best;
}

/* Counted over C, Python and JavaScript sources and some prose. */
const uint16_t bytefreq[256] = {
	1,     1,    1,	   1,	 1,    1,    1,	  1,   1,   385,  1213, 1,   1,	   1,	1,    1,
	1,     1,    1,	   1,	 1,    1,    1,	  1,   1,   1,	  1,	1,   1,	   1,	1,    1,
	12888, 40,   816,  237,	 15,   27,   68,  498, 470, 469,  155,	88,  893,  282, 613,  306,
	871,   459,  336,  237,	 186,  132,  124, 94,  120, 94,	  497,	191, 181,  414, 241,  37,
	76,    991,  296,  754,	 467,  865,  377, 288, 215, 644,  39,	153, 480,  467, 587,  487,
	457,   86,   609,  665,	 704,  304,  107, 87,  171, 98,	  88,	147, 286,  147, 10,   2534,
	41,    1891, 440,  1276, 1186, 3350, 843, 548, 653, 1938, 56,	263, 1276, 843, 1880, 1551,
	885,   86,   1944, 1895, 2464, 823,  352, 305, 399, 321,  77,	152, 90,   150, 13,   1,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
	8,     8,    8,	   8,	 8,    8,    8,	  8,   8,   8,	  8,	8,   8,	   8,	8,    8,
};

/* Of the 16 bytes with this upper half, those in the set: one bit for each lower half. */
static uint16_t row_of(const struct byteset *s, unsigned high)
{
	return (uint16_t)(s->bits[high / 4] >> (high % 4 * 16));
}

/* Each different row gets a bit; if there are more than eight, the last bit stands for several. */
static struct nibbles nibbles_of(const struct byteset *s)
{
	struct nibbles t = { 0 };
	uint16_t rows[8] = { 0 };
	unsigned n = 0;

	for (unsigned high = 0; high < 16; high++) {
		const uint16_t row = row_of(s, high);
		unsigned bit = 0;

		if (!row)
			continue;
		while (bit < n && rows[bit] != row)
			bit++;
		if (bit == n && n < 8)
			rows[n++] = row;
		else if (bit == n)
			bit = 7;
		t.high[high] = (uint8_t)(1u << bit);
		for (unsigned low = 0; low < 16; low++)
			if (row >> low & 1)
				t.low[low] |= (uint8_t)(1u << bit);
	}
	return t;
}

unsigned byteset_frequency(const struct byteset *s)
{
	unsigned sum = 0;

	for (unsigned w = 0; w < 4; w++)
		for (uint64_t bits = s->bits[w]; bits; bits &= bits - 1)
			sum += bytefreq[w * 64 + (unsigned)__builtin_ctzll(bits)];
	return sum;
}

void bytesets_init(struct bytesets *b, const struct byteset *sets, unsigned n)
{
	uint64_t chosen = 0;

	*b = (struct bytesets){ .kernels = kernels_best(), .span = n };
	while (b->n < n && b->n < BYTESETS_MAX) {
		unsigned best = 0, least = UINT32_MAX;

		for (unsigned i = 0; i < n; i++) {
			if (chosen >> i & 1 || byteset_frequency(&sets[i]) >= least)
				continue;
			best = i;
			least = byteset_frequency(&sets[i]);
		}
		chosen |= UINT64_C(1) << best;
		b->tests[b->n].at = best;
		b->tests[b->n].set = sets[best];
		b->tests[b->n].nibbles = nibbles_of(&sets[best]);
		b->n++;
	}
}

size_t bytesets_find(const struct bytesets *b, struct str text, size_t from)
{
	return b->kernels->bytesets(b, (const uint8_t *)text.p, text.n, from);
}
