/* SPDX-License-Identifier: MIT */
/* factor: words and runs of byte sets that must occur. */

#include "regex/factor.h"

#include <math.h>

#include "base/utf8.h"
#include "regex/kernels.h"

enum { FEW_CHARS = 10 }; /* a set of more is not spelled out as words */

static struct factor *new_factor(struct arena *a, unsigned words, unsigned sets)
{
	struct factor *p = arena_array(a, 1, sizeof(*p));

	if (!p)
		return NULL;
	p->n = words + sets;
	p->words = arena_array(a, words + 1, sizeof(*p->words));
	p->run = arena_array(a, sets + 1, sizeof(*p->run));
	return p->words && p->run ? p : NULL;
}

static bool is_letter(uint32_t c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static struct str lowered(struct str s, struct arena *a)
{
	struct str low = arena_dup(a, s);
	char *p = (char *)(uintptr_t)low.p;

	for (size_t i = 0; i < low.n; i++)
		p[i] = str_lower(p[i]);
	return low;
}

static const struct factor *words_empty(struct arena *a)
{
	return new_factor(a, 1, 0);
}

static unsigned count_chars(const struct charset *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->n && n <= FEW_CHARS; i++)
		n += set->ranges[i].hi - set->ranges[i].lo + 1;
	return n;
}

static const struct factor *words_chars(const struct charset *set, struct arena *a)
{
	const unsigned count = count_chars(set);
	unsigned n = 0;

	if (count == 0 || count > FEW_CHARS || charset_has(set, CHARSET_ILL))
		return NULL;

	struct factor *p = new_factor(a, count, 0);

	for (uint32_t i = 0; p && i < set->n; i++) {
		for (uint32_t c = set->ranges[i].lo; c <= set->ranges[i].hi; c++) {
			const bool both = is_letter(c) && charset_has(set, c ^ 0x20);
			char bytes[4];

			if (both && c < 'a')
				continue; /* the lower-case letter stands for both */
			p->words[n++] = arena_dup(a, (struct str){ bytes, utf8_encode(c, bytes) });
			p->anycase |= both;
			p->onecase |= is_letter(c) && !both;
		}
	}
	if (p)
		p->n = n;
	return p;
}

/* A word of p; in lower case if some letter matches both cases. */
static struct str word_of(const struct factor *p, unsigned i, bool anycase, struct arena *a)
{
	return anycase && !p->anycase ? lowered(p->words[i], a) : p->words[i];
}

static const struct factor *words_cat(const struct factor *x, const struct factor *y,
				      struct arena *a)
{
	const bool anycase = x && y && (x->anycase || y->anycase);

	if (!x || !y || x->n * y->n > FACTOR_WORDS)
		return NULL;

	struct factor *p = new_factor(a, x->n * y->n, 0);

	if (!p)
		return NULL;
	p->anycase = anycase;
	p->onecase = x->onecase || y->onecase;
	for (unsigned i = 0; i < x->n; i++) {
		for (unsigned k = 0; k < y->n; k++) {
			const struct str left = word_of(x, i, anycase, a);
			const struct str right = word_of(y, k, anycase, a);
			char both[2 * FACTOR_LENGTH];

			if (left.n + right.n > FACTOR_LENGTH)
				return NULL;
			if (left.n)
				memcpy(both, left.p, left.n);
			if (right.n)
				memcpy(both + left.n, right.p, right.n);
			p->words[i * y->n + k] =
				arena_dup(a, (struct str){ both, left.n + right.n });
		}
	}
	return p;
}

static void add_word(struct factor *p, struct str word)
{
	for (unsigned i = 0; i < p->n; i++)
		if (str_eq(p->words[i], word))
			return;
	p->words[p->n++] = word;
}

static const struct factor *words_alt(const struct factor *x, const struct factor *y,
				      enum factor_side side, struct arena *a)
{
	const bool anycase = x && y && (x->anycase || y->anycase);

	(void)side;
	if (!x || !y || x->n + y->n > FACTOR_WORDS)
		return NULL;

	struct factor *p = new_factor(a, x->n + y->n, 0);

	if (!p)
		return NULL;
	p->n = 0;
	p->anycase = anycase;
	p->onecase = x->onecase || y->onecase;
	for (unsigned i = 0; i < x->n; i++)
		add_word(p, word_of(x, i, anycase, a));
	for (unsigned i = 0; i < y->n; i++)
		add_word(p, word_of(y, i, anycase, a));
	return p;
}

static bool words_alike(const struct factor *x, const struct factor *y)
{
	return x && y;
}

/* The sum of the smallest logarithms: more than these are hardly independent. */
static double rarest(const double *logs, unsigned n)
{
	double least[BYTESETS_MAX] = { 0 };
	double sum = 0;

	for (unsigned i = 0; i < n; i++) {
		double v = logs[i];

		for (unsigned k = 0; k < BYTESETS_MAX; k++) {
			if (v < least[k]) {
				const double t = least[k];

				least[k] = v;
				v = t;
			}
		}
	}
	for (unsigned k = 0; k < BYTESETS_MAX; k++)
		sum += least[k];
	return sum;
}

static double words_rarity(const struct factor *p)
{
	double share = 0;

	for (unsigned i = 0; p && i < p->n; i++) {
		double logs[FACTOR_LENGTH];

		for (size_t k = 0; k < p->words[i].n; k++) {
			const uint8_t c = (uint8_t)p->words[i].p[k];
			const bool both = p->anycase && c >= 'a' && c <= 'z';

			logs[k] =
				log2((bytefreq[c] + (both ? bytefreq[c - 32] : 0.)) / BYTEFREQ_ALL);
		}
		share += exp2(rarest(logs, (unsigned)p->words[i].n));
	}
	return p && p->n && share < 1 ? log2(share) : 0;
}

const struct factor_form factor_words = {
	.empty = words_empty,
	.chars = words_chars,
	.cat = words_cat,
	.alt = words_alt,
	.alike = words_alike,
	.rarity = words_rarity,
};

static const struct factor *run_empty(struct arena *a)
{
	return new_factor(a, 0, 0);
}

static const struct factor *run_chars(const struct charset *set, struct arena *a)
{
	char bytes[4];

	if (set->n == 0 || set->ranges[set->n - 1].hi < 0x80) {
		struct factor *p = new_factor(a, 0, 1);

		for (uint32_t i = 0; p && i < set->n; i++)
			for (uint32_t c = set->ranges[i].lo; c <= set->ranges[i].hi; c++)
				byteset_add(&p->run[0], c);
		return p;
	}
	if (count_chars(set) != 1)
		return NULL;

	const unsigned n = (unsigned)utf8_encode(set->ranges[0].lo, bytes);
	struct factor *p = new_factor(a, 0, n);

	for (unsigned i = 0; p && i < n; i++)
		byteset_add(&p->run[i], (uint8_t)bytes[i]);
	return p;
}

static const struct factor *run_cat(const struct factor *x, const struct factor *y, struct arena *a)
{
	if (!x || !y || x->n + y->n > FACTOR_RUN)
		return NULL;

	struct factor *p = new_factor(a, 0, x->n + y->n);

	if (p) {
		memcpy(p->run, x->run, x->n * sizeof(*p->run));
		memcpy(p->run + x->n, y->run, y->n * sizeof(*p->run));
	}
	return p;
}

static const struct factor *run_alt(const struct factor *x, const struct factor *y,
				    enum factor_side side, struct arena *a)
{
	if (!x || !y)
		return NULL;

	const unsigned n = x->n < y->n ? x->n : y->n;
	const struct byteset *u = side == FACTOR_LEFT ? x->run : x->run + (x->n - n);
	const struct byteset *v = side == FACTOR_LEFT ? y->run : y->run + (y->n - n);
	struct factor *p = new_factor(a, 0, n);

	for (unsigned i = 0; p && i < n; i++)
		for (unsigned w = 0; w < 4; w++)
			p->run[i].bits[w] = u[i].bits[w] | v[i].bits[w];
	return p;
}

static bool run_alike(const struct factor *x, const struct factor *y)
{
	return x && y && x->n == y->n;
}

static double run_rarity(const struct factor *p)
{
	double logs[FACTOR_RUN];

	for (unsigned i = 0; p && i < p->n; i++) {
		const unsigned f = byteset_frequency(&p->run[i]);

		logs[i] = f < BYTEFREQ_ALL ? log2((f + 1.) / BYTEFREQ_ALL) : 0;
	}
	return p ? rarest(logs, p->n) : 0;
}

const struct factor_form factor_run = {
	.empty = run_empty,
	.chars = run_chars,
	.cat = run_cat,
	.alt = run_alt,
	.alike = run_alike,
	.rarity = run_rarity,
};
