/* SPDX-License-Identifier: MIT */
/* bytes: counting a byte at memory speed. */

#include "base/bytes.h"

#if defined(__SSE2__)

static size_t count_blocks(const char *p, size_t blocks, char byte)
{
	const __m128i want = _mm_set1_epi8(byte);
	size_t total = 0;

	while (blocks) {
		/* Each lane counts down by one a hit: 255 rounds fit before it must be summed. */
		size_t rounds = blocks < 255 ? blocks : 255;
		__m128i lanes = _mm_setzero_si128();
		blocks -= rounds;
		for (; rounds; rounds--, p += 16) {
			const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
			lanes = _mm_sub_epi8(lanes, _mm_cmpeq_epi8(v, want));
		}
		const __m128i sums = _mm_sad_epu8(lanes, _mm_setzero_si128());
		total += (size_t)_mm_cvtsi128_si64(sums) +
			 (size_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums));
	}
	return total;
}

#else

/* Plain enough for the compiler to vectorise. */
static size_t count_blocks(const char *p, size_t blocks, char byte)
{
	size_t total = 0;

	for (size_t i = 0; i < blocks * 16; i++)
		total += p[i] == byte;
	return total;
}

#endif

size_t bytes_count(struct str s, char byte)
{
	const size_t blocks = s.n / 16;
	size_t total = blocks ? count_blocks(s.p, blocks, byte) : 0;

	for (size_t i = blocks * 16; i < s.n; i++)
		total += s.p[i] == byte;
	return total;
}
