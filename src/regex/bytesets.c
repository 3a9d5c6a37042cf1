/* SPDX-License-Identifier: MIT */
/* bytesets: choose the rarest positions of a run and make tables for the vector loops. */

#include "regex/bytesets.h"

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
