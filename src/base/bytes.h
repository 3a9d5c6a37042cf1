/* SPDX-License-Identifier: MIT */
/*
 * bytes: the inner loops over text that decide how fast it is read and answered.
 *
 * They use vectors on x86-64 and aarch64, and go byte by byte elsewhere; the results are the same.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* How often the byte occurs in s. */
size_t bytes_count(struct str s, char byte);

/* How many bytes from the start of s are text that a terminal shows as it is: everything but
 * control characters, of which line ends and tabs count as text. U+0080 to U+009F are control
 * characters too; their first byte is where the text ends even if s ends there. */
size_t bytes_plain(struct str s);

enum { BYTES_BLOCK = 64 };

/* A bit for each of the 64 bytes at p that a JSON string cannot contain as it is: control
 * characters, quote, backslash, and everything that is not ASCII (it must be validated). Bit i is
 * byte i. */
#if defined(__SSE2__)

static inline uint64_t bytes_special16(const char *p)
{
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	/* Signed comparison: bytes of 0x80 and above are negative, so below 0x20 as well. */
	const __m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
	const __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
	const __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, slash)));
}

static inline uint64_t bytes_special(const char *p)
{
	return bytes_special16(p) | bytes_special16(p + 16) << 16 | bytes_special16(p + 32) << 32 |
	       bytes_special16(p + 48) << 48;
}

#elif defined(__aarch64__)

/* One bit for each byte, with its own weight within eight: pairwise sums join the bits. */
static inline uint8x16_t bytes_special16(const char *p)
{
	static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
					     1, 2, 4, 8, 16, 32, 64, 128 };
	const int8x16_t v = vld1q_s8((const int8_t *)p);
	const uint8x16_t low = vcltq_s8(v, vdupq_n_s8(0x20));
	const uint8x16_t quote = vceqq_s8(v, vdupq_n_s8('"'));
	const uint8x16_t slash = vceqq_s8(v, vdupq_n_s8('\\'));

	return vandq_u8(vorrq_u8(low, vorrq_u8(quote, slash)), vld1q_u8(weights));
}

static inline uint64_t bytes_special(const char *p)
{
	const uint8x16_t first = vpaddq_u8(bytes_special16(p), bytes_special16(p + 16));
	const uint8x16_t second = vpaddq_u8(bytes_special16(p + 32), bytes_special16(p + 48));
	const uint8x16_t sums = vpaddq_u8(first, second);

	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

#else

static inline uint64_t bytes_special(const char *p)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < BYTES_BLOCK; i++) {
		const unsigned char c = (unsigned char)p[i];
		mask |= (uint64_t)(c < 0x20 || c >= 0x80 || c == '"' || c == '\\') << i;
	}
	return mask;
}

#endif

/*
 * Escape a block with many special bytes, as short lines have: the 64 bytes at p are written to
 * `to`, which has room for three times as many; `special` is bytes_special(p). Returns how many
 * bytes were written; 0 when a byte needs more than a backslash and a letter, or when this
 * processor lacks the instruction: then the caller must escape them.
 */
size_t bytes_escape(char *to, const char *p, uint64_t special);

/* What a backslash and this letter stand for in JSON; 0: nothing. */
extern const char bytes_unescaped[256];

enum { BYTES_STEP = 32 };

/*
 * The reverse: copy the beginning of s to `to`, and replace a backslash and a letter by the byte
 * they stand for. It stops at any other special byte, and at the latest two blocks before the end
 * of s. *used is how many bytes were read. Returns how many were written; up to BYTES_STEP bytes
 * after them may be overwritten as well, so `to` must be outside s, at least that many bytes before
 * it.
 */
size_t bytes_unescape(char *to, struct str s, size_t *used);

/* A set of bytes, one bit each. */
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
