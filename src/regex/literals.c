/* SPDX-License-Identifier: MIT */
/* literals: choose the rarest bytes of one needle; spread several over buckets. */

#include "regex/literals.h"

#include <stdlib.h>

#include "base/own.h"
#include "regex/bytesets.h"

static bool is_letter(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

static unsigned frequency(uint8_t c, bool nocase)
{
	return bytefreq[c] + (nocase && is_letter(c) ? bytefreq[c - 0x20] : 0);
}

void literal_init(struct literal *l, struct str needle, bool nocase)
{
	const uint8_t *p = (const uint8_t *)needle.p;
	const size_t n = needle.n < 256 ? needle.n : 256; /* offsets are bytes */
	size_t best = 0, second = n > 1;

	for (size_t i = 1; i < n; i++)
		if (frequency(p[i], nocase) < frequency(p[best], nocase))
			best = i;
	if (second == best)
		second = 0;
	for (size_t i = 0; i < n; i++)
		if (i != best && p[i] != p[best] &&
		    (p[second] == p[best] ||
		     frequency(p[i], nocase) < frequency(p[second], nocase)))
			second = i;
	*l = (struct literal){
		.kernels = kernels_best(),
		.p = p,
		.n = needle.n,
		.nocase = nocase,
		.at = { (uint8_t)best, (uint8_t)second },
		.byte = { p[best], p[second] },
		.fold = { nocase && is_letter(p[best]) ? 0x20 : 0,
			  nocase && is_letter(p[second]) ? 0x20 : 0 },
	};
}

size_t literal_find(const struct literal *l, struct str text, size_t from)
{
	return l->kernels->literal(l, (const uint8_t *)text.p, text.n, from);
}

static int compare(const void *a, const void *b)
{
	const struct str *x = a, *y = b;

	return str_cmp(*x, *y);
}

static void admit(struct nibbles *t, uint8_t byte, unsigned bucket)
{
	t->low[byte & 15] |= (uint8_t)(1u << bucket);
	t->high[byte >> 4] |= (uint8_t)(1u << bucket);
}

/* Neighbours in sorted order share their first bytes, so they go into one bucket. */
static void fill(struct literals *l, const struct str *sorted)
{
	uint8_t *to = l->memory;

	for (unsigned i = 0; i < l->n; i++) {
		const unsigned bucket = i * LITERALS_BUCKETS / l->n;

		memcpy(to, sorted[i].p, sorted[i].n);
		l->needles[i].p = to;
		l->needles[i].n = sorted[i].n;
		to += sorted[i].n;
		for (unsigned b = bucket + 1; b <= LITERALS_BUCKETS; b++)
			l->first[b] = (uint8_t)(i + 1);
		for (unsigned k = 0; k < l->bytes; k++) {
			const uint8_t c = l->needles[i].p[k];

			admit(&l->tests[k].nibbles, c, bucket);
			if (!l->nocase || c < 'a' || c > 'z')
				continue;
			admit(&l->tests[k].nibbles, c & 0xdf, bucket);
			((uint8_t *)&l->needles[i].fold)[k] = 0x20;
		}
		memcpy(&l->needles[i].head, l->needles[i].p, l->bytes);
	}
}

/* The share of bytes that pass the table for a bucket. */
static double passing(const struct nibbles *t, unsigned bucket)
{
	double sum = 0;

	for (unsigned c = 0; c < 256; c++)
		if (nibbles_get(t, (uint8_t)c) >> bucket & 1)
			sum += bytefreq[c];
	return sum / BYTEFREQ_ALL;
}

/* Bring the most selective bytes to the front: two tests decide about most places. */
static void sort_tests(struct literals *l)
{
	double passes[LITERALS_BYTES] = { 0 };

	for (unsigned k = 0; k < l->bytes; k++)
		for (unsigned c = 0; c < 256; c++)
			passes[k] +=
				bytefreq[c] *
				__builtin_popcount(nibbles_get(&l->tests[k].nibbles, (uint8_t)c));
	for (unsigned i = 0; i + 1 < l->bytes; i++) {
		unsigned best = i;
		for (unsigned k = i + 1; k < l->bytes; k++)
			if (passes[k] < passes[best])
				best = k;
		const struct literals_test test = l->tests[best];
		l->tests[best] = l->tests[i];
		l->tests[i] = test;
		passes[best] = passes[i];
	}
}

int literals_init(struct literals *l, const struct str *needles, unsigned n, bool nocase)
{
	struct str sorted[LITERALS_MAX] = { 0 };
	size_t total = 0;

	*l = (struct literals){ .kernels = kernels_best(), .nocase = nocase, .n = n };
	l->shortest = needles[0].n;
	for (unsigned i = 0; i < n; i++) {
		sorted[i] = needles[i];
		total += needles[i].n;
		if (needles[i].n < l->shortest)
			l->shortest = needles[i].n;
	}
	qsort(sorted, n, sizeof(*sorted), compare);
	l->bytes = l->shortest < LITERALS_BYTES ? (unsigned)l->shortest : LITERALS_BYTES;
	l->memory = mem_new(total, 1);
	if (!l->memory)
		return -1;
	for (unsigned k = 0; k < LITERALS_BYTES; k++)
		if (k < l->bytes)
			l->tests[k].at = k;
		else
			memset(&l->tests[k].nibbles, 0xff, sizeof(l->tests[k].nibbles));
	fill(l, sorted);
	sort_tests(l);
	return 0;
}

void literals_done(struct literals *l)
{
	mem_free(l->memory);
	*l = (struct literals){ 0 };
}

double literals_compared(const struct literals *l)
{
	double sum = 0;

	for (unsigned b = 0; b < LITERALS_BUCKETS; b++) {
		double share = l->first[b + 1] - l->first[b];

		for (unsigned k = 0; k < l->bytes; k++)
			share *= passing(&l->tests[k].nibbles, b);
		sum += share;
	}
	return sum;
}

size_t literals_find(const struct literals *l, struct str text, size_t from)
{
	return l->kernels->literals(l, (const uint8_t *)text.p, text.n, from);
}
