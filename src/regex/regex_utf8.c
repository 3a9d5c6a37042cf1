/* SPDX-License-Identifier: MIT */
/* regex_utf8: character ranges as byte ranges, and a decoder as small as a number. */

#include "regex/regex_utf8.h"

#include "base/utf8.h"

struct utf8_split utf8_split(uint32_t lo, uint32_t hi)
{
	return (struct utf8_split){ lo < 0x80 ? 0x80 : lo, hi > 0x10ffff ? 0x10ffff : hi };
}

/* The largest end of a piece from lo that is one sequence of byte ranges. */
static uint32_t piece_end(uint32_t lo, uint32_t hi)
{
	static const uint32_t length_ends[] = { 0x7ff, 0xd7ff, 0xffff, 0x10ffff };

	for (unsigned i = 0; i < 4; i++)
		if (lo <= length_ends[i]) {
			hi = hi < length_ends[i] ? hi : length_ends[i];
			break;
		}
	/* One byte may have a range only when all bytes behind it have their full range. */
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

	const uint32_t end = piece_end(s->lo, s->hi);

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
