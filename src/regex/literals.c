/* SPDX-License-Identifier: MIT */
/* literals: choose the rarest bytes of one needle; spread several over eight buckets. */

#include "regex/literals.h"

#include <math.h>

#include "base/own.h"
#include "regex/kernels.h"

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

/* Needles that share a bit in the tables: the halves of bytes that occur at each position. */
struct bucket {
	uint16_t low[LITERALS_BYTES], high[LITERALS_BYTES];
	uint8_t first, second; /* how its needles begin: a byte, and the upper half of another */
	double passing;	       /* the share of places that pass the tables, roughly */
};

/* How often bytes have one of the upper halves in a set, by the lower and the upper byte of it. */
struct weights {
	double of[2][256];
};

enum { BUCKETS_MOST = 96, FEW = 32, SLOTS_LEAST = 64, SLOTS_EACH = 16 };

#define TWO_LEAVE_MUCH 0.04 /* this share of places means some in most blocks of 64 */

static void admit(struct bucket *b, unsigned at, uint8_t c)
{
	b->low[at] |= (uint16_t)(1u << (c & 15));
	b->high[at] |= (uint16_t)(1u << (c >> 4));
}

static void add_needle(struct bucket *b, const struct needle *n)
{
	for (unsigned at = 0; at < LITERALS_BYTES; at++) {
		const struct byteset *after = at == n->text.n ? n->after : NULL;

		if (at < n->text.n) {
			const uint8_t c = (uint8_t)n->text.p[at];

			admit(b, at, c);
			if (n->nocase && is_letter(c))
				admit(b, at, c & 0xdf);
		} else if (after) {
			for (unsigned c = 0; c < 256; c++)
				if (byteset_has(after, (uint8_t)c))
					admit(b, at, (uint8_t)c);
		} else {
			b->low[at] = b->high[at] = UINT16_MAX;
		}
	}
}

static void weigh(struct weights *w)
{
	/* Each upper half of a byte in program text, roughly. */
	static const double often[16] = { .02, .01, .18, .05, .03, .04, .40, .24,
					  .01, .01, .01, .01, .01, .01, .01, .01 };

	for (unsigned set = 0; set < 256; set++) {
		w->of[0][set] = w->of[1][set] = 0;
		for (unsigned bit = 0; bit < 8; bit++) {
			w->of[0][set] += (set >> bit & 1) * often[bit];
			w->of[1][set] += (set >> bit & 1) * often[bit + 8];
		}
	}
}

static double passing(const struct bucket *b, const struct weights *w)
{
	double share = 1;

	for (unsigned at = 0; at < LITERALS_BYTES; at++)
		share *= (w->of[0][b->high[at] & 255] + w->of[1][b->high[at] >> 8]) *
			 __builtin_popcount(b->low[at]) / 16;
	return share;
}

static struct bucket joined(const struct bucket *a, const struct bucket *b, const struct weights *w)
{
	struct bucket both = { 0 };

	for (unsigned at = 0; at < LITERALS_BYTES; at++) {
		both.low[at] = a->low[at] | b->low[at];
		both.high[at] = a->high[at] | b->high[at];
	}
	both.passing = passing(&both, w);
	return both;
}

/* Join the two buckets that add the fewest passing places. */
static void join_two(struct bucket *buckets, size_t n, const struct weights *w)
{
	struct bucket best = { 0 };
	double least = INFINITY;
	size_t first = 0, second = 1;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++) {
			const struct bucket both = joined(&buckets[i], &buckets[k], w);
			const double more = both.passing - buckets[i].passing - buckets[k].passing;

			if (more < least) {
				least = more;
				best = both;
				first = i;
				second = k;
			}
		}
	}
	buckets[first] = best;
	buckets[second] = buckets[n - 1];
}

/* A bucket for a needle: one of its own while there are few, else that of those that begin alike.
 */
static struct bucket *bucket_for(struct bucket *buckets, size_t *n, struct str text, bool few)
{
	const uint8_t first = (uint8_t)text.p[0];
	const uint8_t second = text.n > 1 ? (uint8_t)text.p[1] >> 4 : 0;

	for (size_t i = 0; i < *n && !few; i++)
		if (buckets[i].first == first && buckets[i].second == second)
			return &buckets[i];
	if (*n == BUCKETS_MOST) /* the last one takes all that are left */
		return &buckets[BUCKETS_MOST - 1];
	buckets[*n] = (struct bucket){ .first = first, .second = second };
	return &buckets[(*n)++];
}

/* Join buckets until eight are left, and make the tables from these. */
static void fill_tables(struct literals *l, size_t count)
{
	struct bucket buckets[BUCKETS_MOST] = { 0 };
	struct weights w;
	size_t n = 0;

	for (size_t i = count; i-- > 0;)
		add_needle(bucket_for(buckets, &n, l->needles[i].text, count <= FEW),
			   &l->needles[i]);
	if (n > LITERALS_BUCKETS) {
		weigh(&w);
		for (size_t i = 0; i < n; i++)
			buckets[i].passing = passing(&buckets[i], &w);
	}
	for (; n > LITERALS_BUCKETS; n--)
		join_two(buckets, n, &w);
	for (unsigned at = 0; at < LITERALS_BYTES; at++) {
		struct nibbles *t = &l->tests[at];

		for (unsigned i = 0; i < 16 * n; i++) {
			const struct bucket *b = &buckets[i / 16];

			t->low[i % 16] |= (uint8_t)((b->low[at] >> i % 16 & 1) << i / 16);
			t->high[i % 16] |= (uint8_t)((b->high[at] >> i % 16 & 1) << i / 16);
		}
	}
}

/* The most selective byte comes first: two tests decide about most places. */
static void sort_tests(struct literals *l)
{
	double passes[LITERALS_BYTES] = { 0 };

	for (unsigned at = 0; at < LITERALS_BYTES; at++) {
		unsigned i = at;

		for (unsigned c = 0; c < 256; c++)
			passes[at] += bytefreq[c] *
				      __builtin_popcount(nibbles_get(&l->tests[at], (uint8_t)c));
		for (; i > 0 && passes[l->sorted[i - 1].at] > passes[at]; i--)
			l->sorted[i] = l->sorted[i - 1];
		l->sorted[i] = (struct literals_test){ at, l->tests[at] };
	}
}

/* The share of bytes that pass a table for a bucket. */
static double share_passing(const struct nibbles *t, unsigned bucket)
{
	double sum = 0;

	for (unsigned c = 0; c < 256; c++)
		if (nibbles_get(t, (uint8_t)c) >> bucket & 1)
			sum += bytefreq[c];
	return sum / BYTEFREQ_ALL;
}

/* The share of places that the first tests leave. */
static double share_left(const struct literals *l, unsigned tests)
{
	double sum = 0;

	for (unsigned b = 0; b < LITERALS_BUCKETS; b++) {
		double share = 1;

		for (unsigned k = 0; k < tests && share > 0; k++)
			share *= share_passing(&l->sorted[k].nibbles, b);
		sum += share;
	}
	return sum;
}

double literals_left(const struct literals *l)
{
	return share_left(l, LITERALS_BYTES);
}

static int fill_lists(struct literals *l, size_t n)
{
	size_t slots = SLOTS_LEAST;

	while (slots < SLOTS_EACH * n)
		slots *= 2;
	l->key_mask = UINT32_MAX >> (32 - 8 * l->key);
	l->key_shift = 32 - (unsigned)__builtin_ctzll(slots);
	l->first = mem_new(slots, sizeof(*l->first));
	l->next = mem_new(n, sizeof(*l->next));
	if (!l->first || !l->next)
		return -1;
	/* The last one added becomes the first of its list. */
	for (size_t i = n; i-- > 0;) {
		uint16_t *first =
			&l->first[literals_slot(l, l->needles[i].text.p, l->needles[i].text.n)];

		l->next[i] = *first;
		*first = (uint16_t)(i + 1);
	}
	return 0;
}

int literals_init(struct literals *l, const struct needle *needles, size_t n)
{
	*l = (struct literals){ .kernels = kernels_best(),
				.needles = needles,
				.key = LITERALS_BYTES };
	for (size_t i = 0; i < n; i++)
		if (needles[i].text.n < l->key)
			l->key = needles[i].text.n;
	if (fill_lists(l, n) < 0) {
		literals_done(l);
		return -1;
	}
	fill_tables(l, n);
	sort_tests(l);
	l->by_four = share_left(l, 2) > TWO_LEAVE_MUCH;
	return 0;
}

void literals_done(struct literals *l)
{
	mem_free(l->first);
	mem_free(l->next);
	*l = (struct literals){ 0 };
}

/* Whether a needle of the list that begins with k is at the start of text. */
static bool needle_at(const struct literals *l, unsigned k, struct str text)
{
	for (; k; k = l->next[k - 1]) {
		const struct needle *n = &l->needles[k - 1];

		if (n->text.n <= text.n &&
		    same_text((const uint8_t *)text.p, (const uint8_t *)n->text.p, n->text.n,
			      n->nocase))
			return true;
	}
	return false;
}

size_t literals_find(const struct literals *l, struct str text, size_t from)
{
	unsigned k = 0;

	for (from = literals_candidate(l, text, from, &k); from < text.n;) {
		if (needle_at(l, k, (struct str){ text.p + from, text.n - from }))
			return from;
		/* Near misses may come in runs, and a kernel is slow to start for each. */
		from++;
		k = text.n - from < l->key ? 0 : literals_first(l, text.p + from, text.n - from);
		if (!k)
			from = literals_candidate(l, text, from, &k);
	}
	return text.n;
}
