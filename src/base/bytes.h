/* SPDX-License-Identifier: MIT */
/*
 * bytes: the two inner loops over text that decide how fast a file is read.
 *
 * Sixteen bytes at a time on x86-64 and aarch64, eight elsewhere; the results are the same.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* How often the byte stands in s. */
size_t bytes_count(struct str s, char byte);

/* Among the 16 bytes at p, those that cannot stand as they are in a JSON string: control
 * characters, quote, backslash, and everything that is not ASCII (it must be validated).
 * The lowest set bit divided by BYTES_STEP is the index of the first one, BYTES_ONE shifted by that
 * many steps its bits; 0 when there is none. */
#if defined(__SSE2__)

enum { BYTES_STEP = 1 };
#define BYTES_ONE UINT64_C(1)

static inline uint64_t bytes_special(const char *p)
{
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	/* Signed comparison: bytes of 0x80 and above are negative, so below 0x20 as well. */
	const __m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
	const __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
	const __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

#elif defined(__aarch64__)

enum { BYTES_STEP = 4 };
#define BYTES_ONE UINT64_C(15)

static inline uint64_t bytes_special(const char *p)
{
	const int8x16_t v = vld1q_s8((const int8_t *)p);
	const uint8x16_t low = vcltq_s8(v, vdupq_n_s8(0x20));
	const uint8x16_t quote = vceqq_s8(v, vdupq_n_s8('"'));
	const uint8x16_t slash = vceqq_s8(v, vdupq_n_s8('\\'));
	const uint8x16_t any = vorrq_u8(low, vorrq_u8(quote, slash));

	/* Four bits a byte: the narrowing shift is NEON's way to a mask. */
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(any), 4)), 0);
}

#else

enum { BYTES_STEP = 1 };
#define BYTES_ONE UINT64_C(1)

static inline uint64_t bytes_special(const char *p)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < 16; i++) {
		const unsigned char c = (unsigned char)p[i];
		mask |= (uint64_t)(c < 0x20 || c >= 0x80 || c == '"' || c == '\\') << i;
	}
	return mask;
}

#endif

#endif
