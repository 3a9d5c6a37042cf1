/* SPDX-License-Identifier: MIT */
/*
 * kernels_vector: the loops over vectors, included by kernels.c once for each instruction set.
 *
 * kernels.c defines VEC (the type), WIDTH (its bytes), TARGET (the attribute), NAME(f) and the
 * operations LOAD, STORE, SPLAT, TABLE (16 bytes in every lane), EQ, AND, OR, HIGH (the upper half
 * of each byte), SHUFFLE and MASK (a bit for each byte); WITH_SHUFFLE if SHUFFLE exists.
 *
 * Places are tested in blocks of two vectors. The last block overlaps the one before it, so that no
 * remainder is left; results for places tested before are shifted away. A text with fewer places
 * than a block goes to the portable loop.
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

/* For each place the buckets of the needles that may begin there, judged by two bytes. */
INLINED VEC NAME(literals_test)(const struct literals *l, const uint8_t *p, unsigned k)
{
	return AND(NAME(look_up)(&l->tests[k].nibbles, LOAD(p + l->tests[k].at)),
		   NAME(look_up)(&l->tests[k + 1].nibbles, LOAD(p + l->tests[k + 1].at)));
}

TARGET static size_t NAME(literals)(const struct literals *l, const uint8_t *p, size_t n,
				    size_t from)
{
	if (n < l->shortest + BLOCK)
		return portable_literals(l, p, n, from);

	const uint64_t all = UINT64_MAX >> (64 - BLOCK);
	const size_t places = n - l->shortest + 1;
	const VEC zero = SPLAT(0);

	for (size_t i = from; i < places; i += BLOCK) {
		const size_t at = i + BLOCK <= places ? i : places - BLOCK;
		VEC a = NAME(literals_test)(l, p + at, 0);
		VEC b = NAME(literals_test)(l, p + at + WIDTH, 0);

		if (MASK(EQ(OR(a, b), zero)) == UINT32_MAX >> (32 - WIDTH))
			continue;
		a = AND(a, NAME(literals_test)(l, p + at, 2));
		b = AND(b, NAME(literals_test)(l, p + at + WIDTH, 2));

		const uint64_t none = MASK(EQ(a, zero)) | (uint64_t)MASK(EQ(b, zero)) << WIDTH;
		uint64_t m = FROM(~none & all, i - at);
		uint8_t buckets[BLOCK];

		STORE(buckets, a);
		STORE(buckets + WIDTH, b);
		for (; m; m &= m - 1) {
			const unsigned k = (unsigned)__builtin_ctzll(m);

			if (literals_at(l, buckets[k], p, n, at + k))
				return at + k;
		}
	}
	return n;
}

#endif

#undef BLOCK
#undef INLINED
#undef FROM
