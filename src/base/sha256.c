/* SPDX-License-Identifier: MIT */
/* sha256: FIPS 180-4, portable and with the SHA instructions of x86-64. */

#include "base/sha256.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn(uint32_t v, int n)
{
	return v >> n | v << (32 - n);
}

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void portable(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	for (; blocks; blocks--, p += SHA256_BLOCK) {
		uint32_t w[64], s[8];
		for (int i = 0; i < 16; i++)
			w[i] = word_at(p + (size_t)i * 4);
		for (int i = 16; i < 64; i++)
			w[i] = w[i - 16] + w[i - 7] +
			       (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
			       (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
		memcpy(s, state, sizeof s);
		for (int i = 0; i < 64; i++) {
			const uint32_t a = s[7] +
					   (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) +
					   ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
			const uint32_t b = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) +
					   ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
			memmove(s + 1, s, 7 * sizeof *s);
			s[4] += a;
			s[0] = a + b;
		}
		for (int i = 0; i < 8; i++)
			state[i] += s[i];
	}
}

#if defined(__x86_64__)

/* Two registers hold the state in the order that the instructions want: ABEF and CDGH. */
__attribute__((target("sha,sse4.1"))) static void fast(uint32_t state[8], const uint8_t *p,
						       size_t blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	const __m128i low =
		_mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(void *)state), 0xb1);
	const __m128i high =
		_mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(void *)(state + 4)), 0x1b);
	__m128i abef = _mm_alignr_epi8(low, high, 8);
	__m128i cdgh = _mm_blend_epi16(high, low, 0xf0);

	for (; blocks; blocks--, p += SHA256_BLOCK) {
		const __m128i abef_was = abef, cdgh_was = cdgh;
		__m128i w[4];
		for (int i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(
				_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)), swap);
		for (int i = 0; i < 16; i++) {
			const __m128i k = _mm_loadu_si128(
				(const __m128i *)(const void *)(rounds + 4 * (size_t)i));
			__m128i sum = _mm_add_epi32(w[i & 3], k);
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
			sum = _mm_shuffle_epi32(sum, 0x0e);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, sum);
			/* The four words that come sixteen after these. */
			const __m128i mixed =
				_mm_add_epi32(_mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]),
					      _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
			w[i & 3] = _mm_sha256msg2_epu32(mixed, w[(i + 3) & 3]);
		}
		abef = _mm_add_epi32(abef, abef_was);
		cdgh = _mm_add_epi32(cdgh, cdgh_was);
	}
	const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_instructions(void)
{
	unsigned a, b, c, d;

	if (!__builtin_cpu_supports("sse4.1") || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return false;
	return b >> 29 & 1;
}

#else

static void fast(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	portable(state, p, blocks);
}

static bool has_instructions(void)
{
	return false;
}

#endif

/* 0: not yet known. Several threads may find it out at the same time, with the same result. */
static _Atomic int speed;

enum { SLOW = 1, FAST = 2 };

static bool is_fast(void)
{
	if (!speed)
		speed = has_instructions() ? FAST : SLOW;
	return speed == FAST;
}

void sha256_be_slow(bool slow)
{
	speed = slow ? SLOW : 0;
}

static void take(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	if (is_fast())
		fast(state, p, blocks);
	else
		portable(state, p, blocks);
}

struct sha256 sha256_begin(void)
{
	return (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *h, struct str piece)
{
	const size_t have = h->length % SHA256_BLOCK;

	h->length += piece.n;
	if (have) {
		const size_t room = SHA256_BLOCK - have, n = piece.n < room ? piece.n : room;
		if (n)
			memcpy(h->block + have, piece.p, n);
		if (n < room)
			return;
		take(h->state, h->block, 1);
		piece = str_from(piece, n);
	}
	const size_t blocks = piece.n / SHA256_BLOCK;
	if (blocks)
		take(h->state, (const uint8_t *)piece.p, blocks);
	piece = str_from(piece, blocks * SHA256_BLOCK);
	if (piece.n)
		memcpy(h->block, piece.p, piece.n);
}

void sha256_end(struct sha256 *h, uint8_t digest[SHA256_SIZE])
{
	const uint64_t bits = h->length * 8;
	uint8_t tail[SHA256_BLOCK + 8] = { 0x80 };
	/* A one, zeros, and the length in the last eight bytes of a block. */
	const size_t zeros = (SHA256_BLOCK + 55 - h->length % SHA256_BLOCK) % SHA256_BLOCK;

	for (size_t i = 0; i < 8; i++)
		tail[1 + zeros + i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(h, (struct str){ (const char *)tail, 1 + zeros + 8 });
	for (size_t i = 0; i < SHA256_SIZE; i++)
		digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_of(struct str text, uint8_t digest[SHA256_SIZE])
{
	struct sha256 h = sha256_begin();

	sha256_add(&h, text);
	sha256_end(&h, digest);
}

struct str sha256_text(const uint8_t digest[SHA256_SIZE], char out[SHA256_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_SIZE; i++) {
		out[2 * i] = digits[digest[i] >> 4];
		out[2 * i + 1] = digits[digest[i] & 15];
	}
	out[2 * SHA256_SIZE] = '\0';
	return (struct str){ out, 2 * SHA256_SIZE };
}
