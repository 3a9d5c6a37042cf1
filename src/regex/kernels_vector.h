/* SPDX-License-Identifier: MIT */
/*
 * kernels_vector: the loops over vectors, included by kernels.c once for each instruction set.
 *
 * kernels.c defines VEC (the type), WIDTH (its bytes), TARGET (the attribute), NAME(f) and the
 * operations LOAD, SPLAT, TABLE (16 bytes in every lane), EQ, AND, OR, HIGH (the upper half
 * of each byte), SHUFFLE, MASK (a bit for each byte) and DISJOINT (no bit is in both); WITH_SHUFFLE
 * if SHUFFLE exists, and then NARROWER(f), the function for texts that are shorter than a block.
 *
 * Places are tested in blocks. The last block overlaps the one before it, so that no remainder is
 * left; results for places tested before are shifted away. A text with fewer places than a block
 * goes to a narrower loop.
 *
 * This file is a template and has no include guard.
 */

#define BLOCK	   (2 * WIDTH)
#define INLINED	   TARGET static inline __attribute__((always_inline))
#define FROM(m, k) ((m) >> (k) << (k)) /* without the lowest k bits */

INLINED VEC NAME(literal_test)(const struct literal *l, const uint8_t *p, bool fold)
{
	VEC a = LOAD(p + l->at[0]), b = LOAD(p + l->at[1]);

	if (fold) {
		a = OR(a, SPLAT(l->fold[0]));
		b = OR(b, SPLAT(l->fold[1]));
	}
	return AND(EQ(a, SPLAT(l->byte[0])), EQ(b, SPLAT(l->byte[1])));
}

INLINED size_t NAME(literal_loop)(const struct literal *l, const uint8_t *p, size_t n, size_t from,
				  bool fold)
{
	const size_t places = n - l->n + 1;

	for (size_t i = from; i < places; i += BLOCK) {
		const size_t at = i + BLOCK <= places ? i : places - BLOCK;
		const VEC a = NAME(literal_test)(l, p + at, fold);
		const VEC b = NAME(literal_test)(l, p + at + WIDTH, fold);

		if (!MASK(OR(a, b)))
			continue;
		for (uint64_t m = FROM(MASK(a) | (uint64_t)MASK(b) << WIDTH, i - at); m;
		     m &= m - 1) {
			const size_t k = at + (unsigned)__builtin_ctzll(m);

			if (same_text(p + k, l->p, l->n, l->nocase))
				return k;
		}
	}
	return n;
}

TARGET static size_t NAME(literal)(const struct literal *l, const uint8_t *p, size_t n, size_t from)
{
	if (n < l->n + BLOCK)
		return portable_literal(l, p, n, from);
	return l->nocase ? NAME(literal_loop)(l, p, n, from, true)
			 : NAME(literal_loop)(l, p, n, from, false);
}

#ifdef WITH_SHUFFLE

/* Not zero where the byte passes. */
INLINED VEC NAME(look_up)(const struct nibbles *t, VEC v)
{
	return AND(SHUFFLE(TABLE(t->low), AND(v, SPLAT(15))), SHUFFLE(TABLE(t->high), HIGH(v)));
}

/* All ones where some byte is not in its set. */
INLINED VEC NAME(bytesets_test)(const struct bytesets *b, const uint8_t *p, unsigned tests)
{
	const VEC zero = SPLAT(0);
	VEC fails = zero;

	for (unsigned k = 0; k < tests; k++)
		fails = OR(fails,
			   EQ(zero, NAME(look_up)(&b->tests[k].nibbles, LOAD(p + b->tests[k].at))));
	return fails;
}

INLINED size_t NAME(bytesets_loop)(const struct bytesets *b, const uint8_t *p, size_t n,
				   size_t from, unsigned tests)
{
	const uint64_t all = UINT64_MAX >> (64 - BLOCK);
	const size_t places = n - b->span + 1;

	for (size_t i = from; i < places; i += BLOCK) {
		const size_t at = i + BLOCK <= places ? i : places - BLOCK;
		const VEC v = NAME(bytesets_test)(b, p + at, tests);
		const VEC w = NAME(bytesets_test)(b, p + at + WIDTH, tests);
		const uint64_t m = FROM(~(MASK(v) | (uint64_t)MASK(w) << WIDTH) & all, i - at);

		if (m)
			return at + (unsigned)__builtin_ctzll(m);
	}
	return n;
}

TARGET static size_t NAME(bytesets)(const struct bytesets *b, const uint8_t *p, size_t n,
				    size_t from)
{
	if (n < b->span + BLOCK)
		return portable_bytesets(b, p, n, from);
	switch (b->n) { /* constants, so that the tables stay in registers */
	case 1:
		return NAME(bytesets_loop)(b, p, n, from, 1);
	case 2:
		return NAME(bytesets_loop)(b, p, n, from, 2);
	case 3:
		return NAME(bytesets_loop)(b, p, n, from, 3);
	default:
		return NAME(bytesets_loop)(b, p, n, from, 4);
	}
}

/* The tables for one byte of the needles. */
struct NAME(tables) {
	VEC low, high;
	size_t at;
};

INLINED struct NAME(tables) NAME(load)(const struct nibbles *t, size_t at)
{
	return (struct NAME(tables)){ TABLE(t->low), TABLE(t->high), at };
}

/* For each place from p on the buckets of the needles that may begin there, judged by one byte. */
INLINED VEC NAME(buckets)(struct NAME(tables) t, const uint8_t *p)
{
	const VEC v = LOAD(p + t.at);

	return AND(SHUFFLE(t.low, AND(v, SPLAT(15))), SHUFFLE(t.high, HIGH(v)));
}

/* The first place of the mask, which begins at p + at, where the key of a needle may be; or n. */
INLINED size_t NAME(check)(const struct literals *l, const uint8_t *p, size_t n, size_t at,
			   uint64_t mask, unsigned *ret)
{
	for (; mask; mask &= mask - 1) {
		const size_t k = at + (unsigned)__builtin_ctzll(mask);
		const unsigned first = literals_first(l, (const char *)p + k, LITERALS_BYTES);

		if (first) {
			*ret = first;
			return k;
		}
	}
	return n;
}

/* Keys shorter than what the tables test may begin at the last places, too. */
INLINED size_t NAME(check_last)(const struct literals *l, const uint8_t *p, size_t n, size_t from,
				unsigned *ret)
{
	const size_t last = n - LITERALS_BYTES + 1;

	return literals_next(l, p, n, from > last ? from : last, ret);
}

/* The two most selective tests of a block, and the other two only if something passes. */
TARGET static size_t NAME(literals_by_two)(const struct literals *l, const uint8_t *p, size_t n,
					   size_t from, unsigned *ret)
{
	const struct literals_test *test = l->sorted;
	const struct NAME(tables) t0 = NAME(load)(&test[0].nibbles, test[0].at);
	const struct NAME(tables) t1 = NAME(load)(&test[1].nibbles, test[1].at);
	const size_t places = n - LITERALS_BYTES + 1;
	const VEC zero = SPLAT(0);

	for (size_t i = from; i < places; i += BLOCK) {
		const size_t at = i + BLOCK <= places ? i : places - BLOCK;
		const uint8_t *a = p + at, *b = a + WIDTH;
		VEC v = AND(NAME(buckets)(t0, a), NAME(buckets)(t1, a));
		VEC w = AND(NAME(buckets)(t0, b), NAME(buckets)(t1, b));

		if (MASK(EQ(OR(v, w), zero)) == UINT32_MAX >> (32 - WIDTH))
			continue;

		const struct NAME(tables) t2 = NAME(load)(&test[2].nibbles, test[2].at);
		const struct NAME(tables) t3 = NAME(load)(&test[3].nibbles, test[3].at);

		v = AND(v, AND(NAME(buckets)(t2, a), NAME(buckets)(t3, a)));
		w = AND(w, AND(NAME(buckets)(t2, b), NAME(buckets)(t3, b)));

		const uint64_t none = MASK(EQ(v, zero)) | (uint64_t)MASK(EQ(w, zero)) << WIDTH;
		const uint64_t some = FROM(~none & (UINT64_MAX >> (64 - BLOCK)), i - at);
		const size_t got = NAME(check)(l, p, n, at, some, ret);

		if (got < n)
			return got;
	}
	return NAME(check_last)(l, p, n, from, ret);
}

/* All four tests at once, for short texts and where two would leave something in most blocks. */
TARGET static size_t NAME(literals_by_four)(const struct literals *l, const uint8_t *p, size_t n,
					    size_t from, unsigned *ret)
{
	const struct NAME(tables) t0 = NAME(load)(&l->tests[0], 0),
				  t1 = NAME(load)(&l->tests[1], 1);
	const struct NAME(tables) t2 = NAME(load)(&l->tests[2], 2),
				  t3 = NAME(load)(&l->tests[3], 3);
	const size_t places = n - LITERALS_BYTES + 1, last = places - WIDTH;
	size_t known = 0;

	for (size_t i = from;; i += WIDTH) {
		if (i > last) {
			if (i >= places)
				return NAME(check_last)(l, p, n, from, ret);
			known = i - last;
			i = last;
		}

		const VEC v = AND(NAME(buckets)(t0, p + i), NAME(buckets)(t1, p + i));
		const VEC w = AND(NAME(buckets)(t2, p + i), NAME(buckets)(t3, p + i));

		if (DISJOINT(v, w))
			continue;

		const uint32_t none = MASK(EQ(AND(v, w), SPLAT(0)));
		const uint32_t some = FROM(~none & (UINT32_MAX >> (32 - WIDTH)), known);
		const size_t got = NAME(check)(l, p, n, i, some, ret);

		if (got < n)
			return got;
	}
}

static size_t NAME(literals)(const struct literals *l, const uint8_t *p, size_t n, size_t from,
			     unsigned *ret)
{
	if (n < LITERALS_BYTES + WIDTH)
		return NARROWER(literals)(l, p, n, from, ret);
	if (l->by_four || n < LITERALS_BYTES + BLOCK)
		return NAME(literals_by_four)(l, p, n, from, ret);
	return NAME(literals_by_two)(l, p, n, from, ret);
}

#endif

#undef BLOCK
#undef INLINED
#undef FROM
