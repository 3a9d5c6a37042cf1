/* SPDX-License-Identifier: MIT */
/* groups: keys that begin alike make a heap; heaps are joined until eight are left. */

#include "scrub/groups.h"

/* The halves that occur at each byte, one bit each. */
struct heap {
	uint16_t low[GROUPS_BYTES], high[GROUPS_BYTES];
	unsigned char first, second; /* how all its keys begin */
	uint64_t cost;		     /* how much text passes */
};

/* How often text has one of the upper halves of a set, by the two bytes of the set. */
struct weights {
	uint16_t of[2][256];
};

enum { HEAPS = 96 };

static bool may_stand(const struct shape *s, size_t at, unsigned char b)
{
	if (at >= s->begins.n)
		return !s->set || byteset_has(s->set, (char)b);
	const char c = s->flags & SHAPE_NOCASE ? lower_case((char)b) : (char)b;
	return c == s->begins.p[at];
}

static void add_key(struct heap *h, const struct shape *s)
{
	for (unsigned at = 0; at < GROUPS_BYTES; at++) {
		for (unsigned b = 0; b < 256; b++) {
			const bool stands = may_stand(s, s->key + at, (unsigned char)b);
			h->low[at] |= (uint16_t)(stands << (b & 15));
			h->high[at] |= (uint16_t)(stands << (b >> 4));
		}
	}
}

static struct heap join(const struct heap *a, const struct heap *b)
{
	struct heap both = { 0 };

	for (unsigned at = 0; at < GROUPS_BYTES; at++) {
		both.low[at] = a->low[at] | b->low[at];
		both.high[at] = a->high[at] | b->high[at];
	}
	return both;
}

/* Of the bytes with an upper half, this many in a hundred or so. */
static void weigh(struct weights *w)
{
	static const uint8_t often[16] = { 2, 1, 18, 5, 3, 4, 40, 24, 1, 1, 1, 1, 1, 1, 1, 1 };

	for (unsigned set = 0; set < 256; set++) {
		w->of[0][set] = w->of[1][set] = 0;
		for (unsigned bit = 0; bit < 8; bit++) {
			w->of[0][set] += (set >> bit & 1) * often[bit];
			w->of[1][set] += (set >> bit & 1) * often[bit + 8];
		}
	}
}

static uint64_t cost(const struct heap *h, const struct weights *w)
{
	uint64_t product = 1;

	for (unsigned at = 0; at < GROUPS_BYTES; at++) {
		const unsigned sum = w->of[0][h->high[at] & 255] + w->of[1][h->high[at] >> 8];
		product *= sum * (unsigned)__builtin_popcount(h->low[at]);
	}
	return product;
}

/* Join the two heaps that together let the least more pass. */
static size_t join_two(struct heap *heaps, size_t n, const struct weights *w)
{
	uint64_t least = UINT64_MAX;
	size_t first = 0, second = 1;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++) {
			const struct heap both = join(&heaps[i], &heaps[k]);
			const uint64_t together = cost(&both, w);
			const uint64_t apart = heaps[i].cost + heaps[k].cost;
			const uint64_t more = together > apart ? together - apart : 0;
			if (more < least) {
				least = more;
				first = i;
				second = k;
			}
		}
	}
	heaps[first] = join(&heaps[first], &heaps[second]);
	heaps[first].cost = cost(&heaps[first], w);
	heaps[second] = heaps[n - 1];
	return n - 1;
}

/* The heap of the keys that begin with the same byte, and a second one with the same upper half. */
static struct heap *heap_of(struct heap *heaps, size_t *n, const char *key)
{
	const unsigned char first = (unsigned char)key[0], second = (unsigned char)key[1];

	for (size_t i = 0; i < *n; i++)
		if (heaps[i].first == first && heaps[i].second == second >> 4)
			return &heaps[i];
	if (*n == HEAPS) /* too many secrets: the last one takes all that are left */
		return &heaps[HEAPS - 1];
	heaps[*n] = (struct heap){ .first = first, .second = second >> 4 };
	return &heaps[(*n)++];
}

void groups_fill(const struct shape *shapes, size_t count, struct groups *ret)
{
	struct heap heaps[HEAPS] = { 0 };
	struct weights weights;
	size_t n = 0;

	for (size_t i = count; i-- > 0;) /* the known ones first */
		add_key(heap_of(heaps, &n, shapes[i].begins.p + shapes[i].key), &shapes[i]);
	weigh(&weights);
	for (size_t i = 0; i < n; i++)
		heaps[i].cost = cost(&heaps[i], &weights);
	while (n > GROUPS)
		n = join_two(heaps, n, &weights);
	for (unsigned at = 0; at < GROUPS_BYTES; at++) {
		for (unsigned half = 0; half < 16; half++) {
			for (size_t g = 0; g < n; g++) {
				ret->low[at][half] |=
					(uint8_t)((heaps[g].low[at] >> half & 1) << g);
				ret->high[at][half] |=
					(uint8_t)((heaps[g].high[at] >> half & 1) << g);
			}
		}
	}
}
