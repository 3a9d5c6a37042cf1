/* SPDX-License-Identifier: MIT */
/* utf8: validation by the ranges of Unicode's table 3-7. */

#include "base/utf8.h"

/* How long a character is by its first byte (0: cannot start one), and the range its second byte
 * must be in; later bytes are always 80..BF. */
static size_t lead(unsigned char c, unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xbf;
	if (c < 0x80)
		return 1;
	if (c < 0xc2)
		return 0;
	if (c < 0xe0)
		return 2;
	if (c < 0xf0) {
		if (c == 0xe0)
			*low = 0xa0;
		if (c == 0xed)
			*high = 0x9f;
		return 3;
	}
	if (c < 0xf5) {
		if (c == 0xf0)
			*low = 0x90;
		if (c == 0xf4)
			*high = 0x8f;
		return 4;
	}
	return 0;
}

/* How many bytes at the start of s belong to its first character so far. *want is the length that
 * character would have, 0 if no character starts with these bytes. */
static size_t measure(struct str s, size_t *want)
{
	unsigned char low, high;
	size_t have = 1;

	*want = lead((unsigned char)s.p[0], &low, &high);
	while (have < *want && have < s.n) {
		const unsigned char c = (unsigned char)s.p[have];
		if (c < low || c > high)
			break;
		low = 0x80;
		high = 0xbf;
		have++;
	}
	return have;
}

size_t utf8_next(struct str s, size_t *bad)
{
	size_t want;
	const size_t have = measure(s, &want);

	*bad = have;
	return have == want ? have : 0;
}

size_t utf8_ascii(struct str s)
{
	size_t i = 0;

	for (; s.n - i >= 8; i += 8) {
		uint64_t word;
		memcpy(&word, s.p + i, 8);
		if (word & 0x8080808080808080u)
			break;
	}
	while (i < s.n && !(s.p[i] & 0x80))
		i++;
	return i;
}

bool utf8_valid(struct str s)
{
	size_t bad;

	for (;;) {
		s = str_from(s, utf8_ascii(s));
		if (s.n == 0)
			return true;
		const size_t n = utf8_next(s, &bad);
		if (n == 0)
			return false;
		s = str_from(s, n);
	}
}

size_t utf8_whole(struct str s)
{
	/* Only a lead byte among the last three can start an unfinished character. */
	for (size_t back = 1; back <= 3 && back <= s.n; back++) {
		const struct str tail = str_from(s, s.n - back);
		size_t want;
		if ((tail.p[0] & 0xc0) == 0x80)
			continue;
		const size_t have = measure(tail, &want);
		return have == back && have < want ? s.n - back : s.n;
	}
	return s.n;
}

size_t utf8_cut_rest(struct str s)
{
	size_t n = 0;

	while (n < 3 && n < s.n && (s.p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

struct str utf8_take(struct utf8_stream *s, struct str *piece)
{
	while (s->n && piece->n) {
		s->held[s->n] = piece->p[0];
		const size_t whole = utf8_whole((struct str){ s->held, s->n + 1 });
		/* A byte that starts another character stays in the piece. */
		*piece = str_from(*piece, whole != s->n);
		s->n = whole ? 0 : s->n + 1;
		if (whole)
			return (struct str){ s->held, whole };
	}
	const size_t whole = utf8_whole(*piece);
	const struct str part = str_upto(*piece, whole);
	*piece = str_from(*piece, whole);
	if (whole == 0 && piece->n) {
		memcpy(s->held, piece->p, piece->n);
		s->n = piece->n;
		*piece = str_from(*piece, piece->n);
	}
	return part;
}

struct str utf8_rest(struct utf8_stream *s)
{
	const struct str rest = { s->held, s->n };

	s->n = 0;
	return rest;
}

size_t utf8_replaced_length(struct str s)
{
	size_t length = 0, bad;

	for (;;) {
		const size_t ascii = utf8_ascii(s);
		length += ascii;
		s = str_from(s, ascii);
		if (s.n == 0)
			return length;
		const size_t n = utf8_next(s, &bad);
		length += n ? n : sizeof UTF8_REPLACEMENT - 1;
		s = str_from(s, n ? n : bad);
	}
}

uint32_t utf8_decode(const char *p, size_t n)
{
	static const unsigned char lead_mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)p[0] & lead_mask[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

size_t utf8_encode(uint32_t c, char out[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}
