/* SPDX-License-Identifier: MIT */
/* bytes: count a byte, escape and unescape many, at memory speed. */

#include "base/bytes.h"

#include <endian.h>

#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

#if defined(__SSE2__)

static size_t count_blocks(const char *p, size_t blocks, char byte)
{
	const __m128i want = _mm_set1_epi8(byte);
	size_t total = 0;

	while (blocks) {
		/* Each lane counts its hits in a byte: after 255 rounds they must be summed. */
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

/* The compiler can vectorise this. */
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

/* Vectors. The compiler makes few instructions of each operation on them, for any processor. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint8_t bytes32 __attribute__((vector_size(32)));

/* Set r to all ones for each byte of v that is a control character, or that begins U+0080 to
 * U+00BF: the byte after it decides. A macro, because the two kinds of vectors have no common type.
 */
#define FIND_CONTROL(T, v)                                                                         \
	(((T)((v) < 0x20) & (T)((v) - '\t' > '\n' - '\t')) | (T)((v) == 0x7f) | (T)((v) == 0xc2))

static inline __attribute__((always_inline)) size_t skip_blocks(struct str s)
{
	size_t i = 0;

	for (; s.n - i >= BYTES_BLOCK; i += BYTES_BLOCK) {
		uint64_t any[4];
		bytes32 a, b;
		memcpy(&a, s.p + i, sizeof a);
		memcpy(&b, s.p + i + sizeof a, sizeof b);
		const bytes32 found = FIND_CONTROL(bytes32, a) | FIND_CONTROL(bytes32, b);
		memcpy(any, &found, sizeof any);
		if (any[0] | any[1] | any[2] | any[3])
			break;
	}
	return i;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static size_t skip_blocks_avx2(struct str s)
{
	return skip_blocks(s);
}
#endif

/* How many bytes from the start are in whole blocks without a control character. */
static size_t plain_blocks(struct str s)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return skip_blocks_avx2(s);
#endif
	return skip_blocks(s);
}

static inline bool is_control(struct str s, size_t i)
{
	const unsigned char c = (unsigned char)s.p[i];

	if (c == 0xc2)
		return i + 1 == s.n || ((unsigned char)s.p[i + 1] & 0xe0) == 0x80;
	return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

/* The first of sixteen bytes that may be a control character, or 16. */
static inline size_t first_control(const char *p)
{
	bytes16 v;

	memcpy(&v, p, sizeof v);
	v = FIND_CONTROL(bytes16, v);
#if defined(__SSE2__)
	return (size_t)__builtin_ctz((unsigned)_mm_movemask_epi8((__m128i)v) | 1u << sizeof v);
#else
	uint64_t half[2];
	memcpy(half, &v, sizeof half);
	if (half[0])
		return (size_t)__builtin_ctzll(le64toh(half[0])) / 8;
	return 8 + (half[1] ? (size_t)__builtin_ctzll(le64toh(half[1])) / 8 : 8);
#endif
}

size_t bytes_plain(struct str s)
{
	enum { SHORT = 4 * sizeof(bytes16) }; /* up to here blocks do not pay */
	size_t i = 0;

	while (s.n - i >= sizeof(bytes16)) {
		const size_t n = first_control(s.p + i);
		i += n;
		if (n < sizeof(bytes16)) {
			if (is_control(s, i))
				return i;
			i++;
		} else if (i >= SHORT && s.n - i >= BYTES_BLOCK) {
			i += plain_blocks((struct str){ s.p + i, s.n - i });
		}
	}
	while (i < s.n && !is_control(s, i))
		i++;
	return i;
}

#if defined(__x86_64__)

enum { B = 0x80 }; /* the place of a backslash: the shuffle writes 0 there */

/* For each choice of escaped bytes among four: which of them goes where in the output. */
static const uint8_t spread[16][8] = {
	/* clang-format off */
	{ 0, 1, 2, 3, B, B, B, B }, { B, 0, 1, 2, 3, B, B, B },
	{ 0, B, 1, 2, 3, B, B, B }, { B, 0, B, 1, 2, 3, B, B },
	{ 0, 1, B, 2, 3, B, B, B }, { B, 0, 1, B, 2, 3, B, B },
	{ 0, B, 1, B, 2, 3, B, B }, { B, 0, B, 1, B, 2, 3, B },
	{ 0, 1, 2, B, 3, B, B, B }, { B, 0, 1, 2, B, 3, B, B },
	{ 0, B, 1, 2, B, 3, B, B }, { B, 0, B, 1, 2, B, 3, B },
	{ 0, 1, B, 2, B, 3, B, B }, { B, 0, 1, B, 2, B, 3, B },
	{ 0, B, 1, B, 2, B, 3, B }, { B, 0, B, 1, B, 2, B, 3 },
	/* clang-format on */
};

static const uint8_t lengths[16] = { 4, 5, 5, 6, 5, 6, 6, 7, 5, 6, 6, 7, 6, 7, 7, 8 };

/* Replace each special byte by the letter that follows the backslash. False when a special byte has
 * no letter. The low half of each of the six bytes tells which one it is. */
__attribute__((target("ssse3"))) static bool put_letters(char *to, const char *p, uint64_t special)
{
	const __m128i known = _mm_setr_epi8(-1, -1, '"', -1, -1, -1, -1, -1, '\b', '\t', '\n', -1,
					    '\\', '\r', -1, 0);
	const __m128i letter =
		_mm_setr_epi8(0, 0, '"', 0, 0, 0, 0, 0, 'b', 't', 'n', 0, '\\', 'r', 0, 0);
	unsigned wrong = 0;

	for (size_t i = 0; i < BYTES_BLOCK; i += 16, special >>= 16) {
		const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		const __m128i half = _mm_and_si128(v, _mm_set1_epi8(15));
		const __m128i is = _mm_cmpeq_epi8(_mm_shuffle_epi8(known, half), v);
		const __m128i put = _mm_and_si128(is, _mm_shuffle_epi8(letter, half));
		_mm_storeu_si128((__m128i *)(void *)(to + i),
				 _mm_or_si128(_mm_andnot_si128(is, v), put));
		wrong |= ((unsigned)_mm_movemask_epi8(is) ^ (unsigned)special) & 0xffff;
	}
	return wrong == 0;
}

__attribute__((target("ssse3"))) static size_t escape(char *to, const char *p, uint64_t special)
{
	char letters[BYTES_BLOCK];
	size_t n = 0;

	if (!put_letters(letters, p, special))
		return 0;
	for (size_t i = 0; i < BYTES_BLOCK; i += 4, special >>= 4) {
		int32_t four;
		memcpy(&four, letters + i, sizeof four);
		const __m128i where =
			_mm_loadl_epi64((const __m128i *)(const void *)spread[special & 15]);
		const __m128i slash = _mm_and_si128(_mm_cmpgt_epi8(_mm_setzero_si128(), where),
						    _mm_set1_epi8('\\'));
		const __m128i put = _mm_shuffle_epi8(_mm_cvtsi32_si128(four), where);
		_mm_storel_epi64((__m128i *)(void *)(to + n), _mm_or_si128(put, slash));
		n += lengths[special & 15];
	}
	return n;
}

size_t bytes_escape(char *to, const char *p, uint64_t special)
{
	return __builtin_cpu_supports("ssse3") ? escape(to, p, special) : 0;
}

#else

size_t bytes_escape(char *to, const char *p, uint64_t special)
{
	(void)to;
	(void)p;
	(void)special;
	return 0;
}

#endif

const char bytes_unescaped[256] = {
	['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
	['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* Copy at most a block. Whole steps that copy too much are faster than the exact length. */
static inline char *copy_run(char *to, const char *p, size_t n)
{
	memcpy(to, p, BYTES_STEP);
	if (n > BYTES_STEP)
		memcpy(to + BYTES_STEP, p + BYTES_STEP, BYTES_STEP);
	return to + n;
}

size_t bytes_unescape(char *to, struct str s, size_t *used)
{
	char *out = to;
	size_t at = 0;

	while (s.n - at > (size_t)2 * BYTES_BLOCK) {
		const char *p = s.p + at;
		uint64_t special = bytes_special(p);
		size_t done = 0;
		while (special) {
			const size_t i = (size_t)__builtin_ctzll(special);
			const char c = p[i] == '\\' ? bytes_unescaped[(unsigned char)p[i + 1]] : 0;
			out = copy_run(out, p + done, i - done);
			if (!c) {
				*used = at + i;
				return (size_t)(out - to);
			}
			*out++ = c;
			done = i + 2;
			special &= ~((uint64_t)3 << i); /* the letter may be special as well */
		}
		if (done < BYTES_BLOCK) {
			out = copy_run(out, p + done, BYTES_BLOCK - done);
			done = BYTES_BLOCK;
		}
		at += done;
	}
	*used = at;
	return (size_t)(out - to);
}
