/* SPDX-License-Identifier: MIT */
/* kernels: the loops for any processor, and the choice among all. */

#include "regex/kernels.h"

size_t portable_literal(const struct literal *l, const uint8_t *p, size_t n, size_t from)
{
	if (n < l->n)
		return n;

	/* memchr is vectorised everywhere; ignoring case there are two bytes to look for. */
	for (size_t i = from; i + l->n <= n; i++) {
		const uint8_t *rare = p + i + l->at[0];

		if (!l->fold[0]) {
			rare = memchr(rare, l->byte[0], n - l->n + 1 - i);
			if (!rare)
				return n;
			i = (size_t)(rare - p) - l->at[0];
		} else if ((*rare | 0x20) != l->byte[0]) {
			continue;
		}
		if ((p[i + l->at[1]] | l->fold[1]) == l->byte[1] &&
		    same_text(p + i, l->p, l->n, l->nocase))
			return i;
	}
	return n;
}

size_t portable_bytesets(const struct bytesets *b, const uint8_t *p, size_t n, size_t from)
{
	for (size_t i = from; i + b->span <= n; i++) {
		unsigned k = 0;

		while (k < b->n && byteset_has(&b->tests[k].set, p[i + b->tests[k].at]))
			k++;
		if (k == b->n)
			return i;
	}
	return n;
}

size_t portable_literals(const struct literals *l, const uint8_t *p, size_t n, size_t from)
{
	for (size_t i = from; i + l->shortest <= n; i++) {
		unsigned buckets = 0xff;

		for (unsigned k = 0; k < l->bytes; k++)
			buckets &= nibbles_get(&l->tests[k].nibbles, p[i + l->tests[k].at]);
		if (buckets && literals_at(l, buckets, p, n, i))
			return i;
	}
	return n;
}

const struct kernels kernels_portable = {
	.name = "portable",
	.literal = portable_literal,
	.bytesets = portable_bytesets,
	.literals = portable_literals,
};

const struct kernels *kernels_all(unsigned i)
{
	const struct kernels *all[5] = { &kernels_portable };
	unsigned n = 1;

#if defined(__x86_64__)
	all[n++] = &kernels_sse2;
	if (__builtin_cpu_supports("ssse3"))
		all[n++] = &kernels_ssse3;
	if (__builtin_cpu_supports("avx2"))
		all[n++] = &kernels_avx2;
#endif
	return i < n ? all[i] : NULL;
}

const struct kernels *kernels_best(void)
{
	const struct kernels *best = &kernels_portable;

	for (unsigned i = 0; kernels_all(i); i++)
		best = kernels_all(i);
	return best;
}
