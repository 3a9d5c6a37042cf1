/* SPDX-License-Identifier: MIT */
/* finder: the tables, and the loop over places for each width of vectors. */

#include "scrub/finder.h"

#include "base/own.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static size_t next_by_hash(const struct finder *f, struct str text, size_t from)
{
	for (size_t i = from; i + SHAPE_KEY <= text.n; i++)
		if (finder_first(f, text.p + i) != FINDER_NONE)
			return i;
	return text.n;
}

/* The first place of the mask that the hash confirms, or -1. */
static inline ptrdiff_t confirm(const struct finder *f, const char *p, uint32_t mask)
{
	for (; mask; mask &= mask - 1) {
		const int k = __builtin_ctz(mask);
		if (finder_first(f, p + k) != FINDER_NONE)
			return k;
	}
	return -1;
}

#if defined(__x86_64__)

#define LOAD16(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define LOAD32(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define TWICE(t)  _mm256_broadcastsi128_si256(LOAD16(t))

__attribute__((target("ssse3"))) static inline __m128i halves16(__m128i low, __m128i high,
								const char *p)
{
	const __m128i v = LOAD16(p), half = _mm_set1_epi8(15);

	return _mm_and_si128(_mm_shuffle_epi8(low, _mm_and_si128(v, half)),
			     _mm_shuffle_epi8(high, _mm_and_si128(_mm_srli_epi16(v, 4), half)));
}

__attribute__((target("ssse3"))) static size_t next_by_16(const struct finder *f, struct str text,
							  size_t from)
{
	const uint8_t(*low)[16] = f->tables.low, (*high)[16] = f->tables.high;
	const __m128i l0 = LOAD16(low[0]), l1 = LOAD16(low[1]);
	const __m128i l2 = LOAD16(low[2]), l3 = LOAD16(low[3]);
	const __m128i h0 = LOAD16(high[0]), h1 = LOAD16(high[1]);
	const __m128i h2 = LOAD16(high[2]), h3 = LOAD16(high[3]);
	size_t i = from;

	for (; i + 16 + GROUPS_BYTES - 1 <= text.n; i += 16) {
		const char *p = text.p + i;
		const __m128i a = _mm_and_si128(halves16(l0, h0, p), halves16(l1, h1, p + 1));
		const __m128i b = _mm_and_si128(halves16(l2, h2, p + 2), halves16(l3, h3, p + 3));
		const __m128i none = _mm_cmpeq_epi8(_mm_and_si128(a, b), _mm_setzero_si128());
		const ptrdiff_t k = confirm(f, p, ~(uint32_t)_mm_movemask_epi8(none) & 0xffff);
		if (k >= 0)
			return i + (size_t)k;
	}
	return next_by_hash(f, text, i);
}

__attribute__((target("avx2"))) static inline __m256i halves32(__m256i low, __m256i high,
							       const char *p)
{
	const __m256i v = LOAD32(p), half = _mm256_set1_epi8(15);

	return _mm256_and_si256(
		_mm256_shuffle_epi8(low, _mm256_and_si256(v, half)),
		_mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(v, 4), half)));
}

__attribute__((target("avx2"))) static size_t next_by_32(const struct finder *f, struct str text,
							 size_t from)
{
	const uint8_t(*low)[16] = f->tables.low, (*high)[16] = f->tables.high;
	const __m256i l0 = TWICE(low[0]), l1 = TWICE(low[1]), l2 = TWICE(low[2]);
	const __m256i l3 = TWICE(low[3]), h0 = TWICE(high[0]), h1 = TWICE(high[1]);
	const __m256i h2 = TWICE(high[2]), h3 = TWICE(high[3]);
	size_t i = from;

	for (; i + 32 + GROUPS_BYTES - 1 <= text.n; i += 32) {
		const char *p = text.p + i;
		const __m256i a = _mm256_and_si256(halves32(l0, h0, p), halves32(l1, h1, p + 1));
		const __m256i b =
			_mm256_and_si256(halves32(l2, h2, p + 2), halves32(l3, h3, p + 3));
		if (_mm256_testz_si256(a, b))
			continue;
		const __m256i none =
			_mm256_cmpeq_epi8(_mm256_and_si256(a, b), _mm256_setzero_si256());
		const ptrdiff_t k = confirm(f, p, ~(uint32_t)_mm256_movemask_epi8(none));
		if (k >= 0)
			return i + (size_t)k;
	}
	return next_by_16(f, text, i); /* most strings are short */
}

#endif

static void choose_loop(struct finder *f)
{
	f->next_place = next_by_hash;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("ssse3"))
		f->next_place = next_by_16;
	if (__builtin_cpu_supports("avx2"))
		f->next_place = next_by_32;
#endif
}

static void add_shape(struct finder *f, uint16_t i)
{
	const struct shape *s = &f->shapes[i];
	const unsigned char c = (unsigned char)s->begins.p[0];
	uint16_t *first = &f->first[finder_hash(s->begins.p + s->key)];

	f->next[i] = *first;
	*first = i;
	byteset_add(&f->initial, c);
	if ((s->flags & SHAPE_NOCASE) && c >= 'a' && c <= 'z')
		byteset_add(&f->initial, c & (unsigned char)~0x20);
	if (s->key > f->reach)
		f->reach = s->key;
}

int finder_init(struct finder *f, const struct shape *shapes, size_t count)
{
	*f = (struct finder){ .shapes = shapes, .count = count };
	f->next = mem_new(count, sizeof *f->next);
	if (!f->next)
		return -1;
	for (size_t i = 0; i < FINDER_SLOTS; i++)
		f->first[i] = FINDER_NONE;
	choose_loop(f);
	/* The last becomes the first of its list: so the first shape is added last. */
	for (size_t i = count; i-- > 0;)
		add_shape(f, (uint16_t)i);
	groups_fill(shapes, count, &f->tables);
	return 0;
}

void finder_done(struct finder *f)
{
	mem_free(f->next);
	f->next = NULL;
}

/* Whether the text, which ends before the key does, is how the shape begins. */
static bool begins_like(const struct shape *s, struct str text)
{
	if (text.n >= s->key + (size_t)SHAPE_KEY)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		const char c = s->flags & SHAPE_NOCASE ? lower_case(text.p[i]) : text.p[i];
		if (c != s->begins.p[i])
			return false;
	}
	return true;
}

size_t finder_tail(const struct finder *f, struct str text, size_t from)
{
	const size_t most = f->reach + SHAPE_KEY - 1;

	if (text.n - from > most)
		from = text.n - most;
	for (; from < text.n; from++) {
		if (!byteset_has(&f->initial, text.p[from]))
			continue;
		for (size_t i = 0; i < f->count; i++)
			if (begins_like(&f->shapes[i], str_from(text, from)))
				return from;
	}
	return text.n;
}
