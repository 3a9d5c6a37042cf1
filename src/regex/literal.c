/* SPDX-License-Identifier: MIT */
/* literal: choose the two bytes by which a needle is found. */

#include "regex/literal.h"

#include "regex/bytefreq.h"

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
