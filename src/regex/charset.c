/* SPDX-License-Identifier: MIT */
/* charset: sorted ranges of code points, their spelling in UTF-8, and a decoder. */

#include "regex/charset.h"

#include "base/utf8.h"

/* Letters whose other case is at a fixed distance, or is the neighbour. */
struct fold {
	uint32_t lo, hi; /* the upper-case letters, or pairs of upper and lower */
	uint32_t delta;	 /* distance to the lower-case letter; 1: upper and lower alternate */
};

static const struct fold folds[] = {
	{ 'A', 'Z', 32 },     { 0xc0, 0xd6, 32 },   { 0xd8, 0xde, 32 },	  { 0x100, 0x12f, 1 },
	{ 0x132, 0x137, 1 },  { 0x139, 0x148, 1 },  { 0x14a, 0x177, 1 },  { 0x179, 0x17e, 1 },
	{ 0x391, 0x3a1, 32 }, { 0x3a3, 0x3ab, 32 }, { 0x400, 0x40f, 80 }, { 0x410, 0x42f, 32 },
	{ 0x460, 0x481, 1 },  { 0x48a, 0x4bf, 1 },  { 0x4d0, 0x52f, 1 },
};

static bool grow(struct charset *s, struct arena *a)
{
	if (s->n < s->cap)
		return true;

	const uint32_t cap = s->cap ? s->cap * 2 : 4;
	struct char_range *r = arena_array(a, cap, sizeof(*r));

	if (!r)
		return false;
	if (s->n)
		memcpy(r, s->ranges, s->n * sizeof(*r));
	s->ranges = r;
	s->cap = cap;
	return true;
}

void charset_add(struct charset *s, uint32_t lo, uint32_t hi, struct arena *a)
{
	uint32_t first = 0, after;

	while (first < s->n && s->ranges[first].hi + 1 < lo)
		first++;
	for (after = first; after < s->n && s->ranges[after].lo <= hi + 1; after++) {
		if (s->ranges[after].lo < lo)
			lo = s->ranges[after].lo;
		if (s->ranges[after].hi > hi)
			hi = s->ranges[after].hi;
	}
	if (after == first && !grow(s, a))
		return;
	memmove(s->ranges + first + 1, s->ranges + after, (s->n - after) * sizeof(*s->ranges));
	s->ranges[first] = (struct char_range){ lo, hi };
	s->n = s->n - (after - first) + 1;
}

void charset_add_all(struct charset *s, const struct charset *other, struct arena *a)
{
	for (uint32_t i = 0; i < other->n; i++)
		charset_add(s, other->ranges[i].lo, other->ranges[i].hi, a);
}

void charset_negate(struct charset *s, struct arena *a)
{
	struct charset out = { 0 };
	uint32_t from = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->ranges[i].lo > from)
			charset_add(&out, from, s->ranges[i].lo - 1, a);
		from = s->ranges[i].hi + 1;
	}
	if (from <= CHARSET_ILL)
		charset_add(&out, from, CHARSET_ILL, a);
	*s = out;
}

void charset_remove(struct charset *s, uint32_t c, struct arena *a)
{
	if (!charset_has(s, c))
		return;
	charset_negate(s, a);
	charset_add(s, c, c, a);
	charset_negate(s, a);
}

static void fold_range(struct charset *s, struct char_range r, const struct fold *f,
		       struct arena *a)
{
	const uint32_t lower = f->lo + f->delta, lower_last = f->hi + f->delta;

	if (f->delta == 1) {
		for (uint32_t c = r.lo > f->lo ? r.lo : f->lo; c <= r.hi && c <= f->hi; c++) {
			const uint32_t other = f->lo + ((c - f->lo) ^ 1);

			charset_add(s, other, other, a);
		}
		return;
	}
	const uint32_t up_lo = r.lo > f->lo ? r.lo : f->lo, up_hi = r.hi < f->hi ? r.hi : f->hi;
	const uint32_t low_lo = r.lo > lower ? r.lo : lower;
	const uint32_t low_hi = r.hi < lower_last ? r.hi : lower_last;

	if (up_lo <= up_hi)
		charset_add(s, up_lo + f->delta, up_hi + f->delta, a);
	if (low_lo <= low_hi)
		charset_add(s, low_lo - f->delta, low_hi - f->delta, a);
}

void charset_fold(struct charset *s, struct arena *a)
{
	struct charset before = { 0 };

	/* A copy, because adding moves the ranges that are being walked. */
	charset_add_all(&before, s, a);
	for (uint32_t i = 0; i < before.n; i++)
		for (size_t k = 0; k < ARRAY_LEN(folds); k++)
			fold_range(s, before.ranges[i], &folds[k], a);
}

uint32_t charset_last(const struct charset *s)
{
	return s->n ? s->ranges[s->n - 1].hi : 0;
}

bool charset_has(const struct charset *s, uint32_t c)
{
	return charset_covers(s, c, c);
}

bool charset_covers(const struct charset *s, uint32_t lo, uint32_t hi)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->ranges[i].lo <= lo && hi <= s->ranges[i].hi)
			return true;
	return false;
}

struct utf8_split utf8_split(uint32_t lo, uint32_t hi)
{
	return (struct utf8_split){ lo < 0x80 ? 0x80 : lo, hi > 0x10ffff ? 0x10ffff : hi };
}

/* The largest end of a range from lo that is one sequence of byte ranges. */
static uint32_t sequence_end(uint32_t lo, uint32_t hi)
{
	static const uint32_t length_ends[] = { 0x7ff, 0xd7ff, 0xffff, 0x10ffff };

	for (unsigned i = 0; i < 4; i++)
		if (lo <= length_ends[i]) {
			hi = hi < length_ends[i] ? hi : length_ends[i];
			break;
		}
	/* One byte may have a range only when all bytes after it have their full range. */
	for (unsigned bits = 18; bits > 0; bits -= 6) {
		const uint32_t mask = (1u << bits) - 1;

		if (lo >> bits == hi >> bits)
			continue;
		if (lo & mask)
			hi = lo | mask;
		else if ((hi & mask) != mask)
			hi = (hi & ~mask) - 1;
	}
	return hi;
}

bool utf8_split_next(struct utf8_split *s, struct utf8_sequence *ret)
{
	char first[4], last[4];

	if (s->lo >= 0xd800 && s->lo <= 0xdfff)
		s->lo = 0xe000;
	if (s->lo > s->hi)
		return false;

	const uint32_t end = sequence_end(s->lo, s->hi);

	ret->n = (unsigned)utf8_encode(s->lo, first);
	utf8_encode(end, last);
	for (unsigned i = 0; i < ret->n; i++) {
		ret->bytes[i].lo = (uint8_t)first[i];
		ret->bytes[i].hi = (uint8_t)last[i];
	}
	s->lo = end + 1;
	return true;
}

bool utf8_state_inside(enum utf8_state s, unsigned next)
{
	static const struct {
		uint8_t lo, hi;
	} continues[] = {
		[UTF8_WHOLE] = { 1, 0 },       [UTF8_STRAY] = { 1, 0 },
		[UTF8_ONE] = { 0x80, 0xbf },   [UTF8_TWO] = { 0x80, 0xbf },
		[UTF8_THREE] = { 0x80, 0xbf }, [UTF8_E0] = { 0xa0, 0xbf },
		[UTF8_ED] = { 0x80, 0x9f },    [UTF8_F0] = { 0x90, 0xbf },
		[UTF8_F4] = { 0x80, 0x8f },
	};

	return next >= continues[s].lo && next <= continues[s].hi;
}

bool utf8_state_ill(enum utf8_state s, unsigned next)
{
	return s == UTF8_STRAY || (s != UTF8_WHOLE && !utf8_state_inside(s, next));
}

static enum utf8_state lead(unsigned byte)
{
	if (byte < 0x80)
		return UTF8_WHOLE;
	if (byte < 0xc2 || byte > 0xf4)
		return UTF8_STRAY;
	if (byte < 0xe0)
		return UTF8_ONE;
	if (byte < 0xf0)
		return byte == 0xe0 ? UTF8_E0 : byte == 0xed ? UTF8_ED : UTF8_TWO;
	return byte == 0xf0 ? UTF8_F0 : byte == 0xf4 ? UTF8_F4 : UTF8_THREE;
}

enum utf8_state utf8_state_next(enum utf8_state s, unsigned byte)
{
	if (!utf8_state_inside(s, byte))
		return lead(byte);
	switch (s) {
	case UTF8_ONE:
		return UTF8_WHOLE;
	case UTF8_TWO:
	case UTF8_E0:
	case UTF8_ED:
		return UTF8_ONE;
	default:
		return UTF8_TWO;
	}
}
