/* SPDX-License-Identifier: MIT */
/* kernels_x86: the vector loops with SSE2, SSSE3 and AVX2. */

#include "regex/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define VEC	    __m128i
#define WIDTH	    16
#define LOAD(p)	    _mm_loadu_si128((const __m128i *)(const void *)(p))
#define STORE(p, v) _mm_storeu_si128((__m128i *)(void *)(p), v)
#define SPLAT(c)    _mm_set1_epi8((char)(c))
#define TABLE(t)    LOAD(t)
#define EQ	    _mm_cmpeq_epi8
#define AND	    _mm_and_si128
#define OR	    _mm_or_si128
#define HIGH(v)	    AND(_mm_srli_epi16(v, 4), SPLAT(15))
#define SHUFFLE	    _mm_shuffle_epi8
#define MASK(v)	    ((uint32_t)_mm_movemask_epi8(v))

#define TARGET
#define NAME(f) sse2_##f
#include "regex/kernels_vector.h"
#undef TARGET
#undef NAME

#define TARGET	__attribute__((target("ssse3")))
#define NAME(f) ssse3_##f
#define WITH_SHUFFLE
#include "regex/kernels_vector.h"
#undef TARGET
#undef NAME

#undef VEC
#undef WIDTH
#undef LOAD
#undef STORE
#undef SPLAT
#undef TABLE
#undef EQ
#undef AND
#undef OR
#undef HIGH
#undef SHUFFLE
#undef MASK

#define VEC	    __m256i
#define WIDTH	    32
#define LOAD(p)	    _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v) _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define SPLAT(c)    _mm256_set1_epi8((char)(c))
#define TABLE(t)    _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(t)))
#define EQ	    _mm256_cmpeq_epi8
#define AND	    _mm256_and_si256
#define OR	    _mm256_or_si256
#define HIGH(v)	    AND(_mm256_srli_epi16(v, 4), SPLAT(15))
#define SHUFFLE	    _mm256_shuffle_epi8
#define MASK(v)	    ((uint32_t)_mm256_movemask_epi8(v))
#define TARGET	    __attribute__((target("avx2")))
#define NAME(f)	    avx2_##f
#include "regex/kernels_vector.h"

/* Without a byte shuffle only the search for one literal gains. */
const struct kernels kernels_sse2 = {
	.name = "sse2",
	.literal = sse2_literal,
	.bytesets = portable_bytesets,
	.literals = portable_literals,
};

const struct kernels kernels_ssse3 = {
	.name = "ssse3",
	.literal = ssse3_literal,
	.bytesets = ssse3_bytesets,
	.literals = ssse3_literals,
};

const struct kernels kernels_avx2 = {
	.name = "avx2",
	.literal = avx2_literal,
	.bytesets = avx2_bytesets,
	.literals = avx2_literals,
};

#endif
