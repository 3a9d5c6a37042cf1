/* SPDX-License-Identifier: MIT */
/* inflate: canonical Huffman codes, read bit by bit: short rather than fast. */

#include "base/inflate.h"

enum {
	LONGEST_CODE = 15,
	LITERALS = 288, /* bytes, the end of a block, and lengths */
	DISTANCES = 32,
	END_OF_BLOCK = 256,
};

struct inflation {
	struct str in;
	size_t at;	/* the next byte of it */
	unsigned bits;	/* that were read of it but not used … */
	unsigned count; /* … and how many they are */
	char *to;
	size_t n, size;
	bool failed;
};

/* The number of codes of each length, and the symbols in the order of their codes. */
struct huffman {
	uint16_t counts[LONGEST_CODE + 1];
	uint16_t symbols[LITERALS];
};

static unsigned take(struct inflation *s, unsigned need)
{
	while (s->count < need) {
		if (s->at == s->in.n) {
			s->failed = true;
			return 0;
		}
		s->bits |= (unsigned)(unsigned char)s->in.p[s->at++] << s->count;
		s->count += 8;
	}
	const unsigned got = s->bits & ((1U << need) - 1);
	s->bits >>= need;
	s->count -= need;
	return got;
}

static void build(struct huffman *h, const uint8_t *lengths, size_t n)
{
	uint16_t next[LONGEST_CODE + 2] = { 0 };

	*h = (struct huffman){ .counts = { 0 } };
	for (size_t i = 0; i < n; i++)
		h->counts[lengths[i]]++;
	h->counts[0] = 0;
	for (size_t i = 1; i <= LONGEST_CODE; i++)
		next[i + 1] = (uint16_t)(next[i] + h->counts[i]);
	for (size_t i = 0; i < n; i++)
		if (lengths[i])
			h->symbols[next[lengths[i]]++] = (uint16_t)i;
}

/* Codes of one length are consecutive numbers, and follow those of the shorter ones. */
static unsigned read_symbol(struct inflation *s, const struct huffman *h)
{
	unsigned code = 0, first = 0, index = 0;

	for (unsigned length = 1; length <= LONGEST_CODE && !s->failed; length++) {
		code |= take(s, 1);
		const unsigned count = h->counts[length];
		if (code >= first && code - first < count)
			return h->symbols[index + code - first];
		index += count;
		first = (first + count) << 1;
		code <<= 1;
	}
	s->failed = true;
	return END_OF_BLOCK;
}

static void copy_back(struct inflation *s, size_t length, size_t distance)
{
	if (distance > s->n || length > s->size - s->n) {
		s->failed = true;
		return;
	}
	while (length-- > 0) {
		s->to[s->n] = s->to[s->n - distance];
		s->n++;
	}
}

static void read_match(struct inflation *s, unsigned symbol, const struct huffman *distances)
{
	static const uint16_t lengths[] = { 3,	4,  5,	6,   7,	  8,   9,   10,	 11, 13,
					    15, 17, 19, 23,  27,  31,  35,  43,	 51, 59,
					    67, 83, 99, 115, 131, 163, 195, 227, 258 };
	static const uint8_t length_bits[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
					       2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	const unsigned which = symbol - END_OF_BLOCK - 1;

	if (which >= sizeof length_bits) {
		s->failed = true;
		return;
	}
	const unsigned length = lengths[which] + take(s, length_bits[which]);
	const unsigned code = read_symbol(s, distances);
	if (s->failed || code >= 30) {
		s->failed = true;
		return;
	}
	/* From the fifth on two codes have the same number of further bits. */
	const unsigned more = code < 4 ? 0 : code / 2 - 1;
	const unsigned base = code < 4 ? code + 1 : ((2 + code % 2) << more) + 1;
	copy_back(s, length, base + take(s, more));
}

static void read_codes(struct inflation *s, const struct huffman *literals,
		       const struct huffman *distances)
{
	while (!s->failed) {
		const unsigned symbol = read_symbol(s, literals);
		if (symbol == END_OF_BLOCK)
			return;
		if (symbol > END_OF_BLOCK)
			read_match(s, symbol, distances);
		else if (s->n < s->size)
			s->to[s->n++] = (char)symbol;
		else
			s->failed = true;
	}
}

static void read_stored(struct inflation *s)
{
	s->bits = s->count = 0;
	const unsigned length = take(s, 16);
	const unsigned check = take(s, 16);
	if (s->failed || length != (~check & 0xffff) || length > s->in.n - s->at ||
	    length > s->size - s->n) {
		s->failed = true;
		return;
	}
	if (length)
		memcpy(s->to + s->n, s->in.p + s->at, length);
	s->at += length;
	s->n += length;
}

static void read_fixed(struct inflation *s)
{
	struct huffman literals, distances;
	uint8_t lengths[LITERALS];

	for (size_t i = 0; i < LITERALS; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	build(&literals, lengths, LITERALS);
	memset(lengths, 5, DISTANCES);
	build(&distances, lengths, DISTANCES);
	read_codes(s, &literals, &distances);
}

/* The lengths of codes, which are themselves coded: 16 repeats the last one, 17 and 18 are runs of
 * zeros. */
static void read_lengths(struct inflation *s, const struct huffman *h, uint8_t *to, size_t n)
{
	static const struct {
		uint8_t bits, least;
	} runs[] = { { 2, 3 }, { 3, 3 }, { 7, 11 } };
	size_t i = 0;

	while (i < n && !s->failed) {
		const unsigned symbol = read_symbol(s, h);
		if (symbol < 16) {
			to[i++] = (uint8_t)symbol;
			continue;
		}
		if (symbol > 18 || (symbol == 16 && i == 0)) {
			s->failed = true;
			return;
		}
		const uint8_t value = symbol == 16 ? to[i - 1] : 0;
		size_t times = runs[symbol - 16].least + take(s, runs[symbol - 16].bits);
		while (times-- > 0 && i < n)
			to[i++] = value;
	}
}

static void read_dynamic(struct inflation *s)
{
	static const uint8_t order[] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					 11, 4,	 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[LITERALS + DISTANCES] = { 0 };
	struct huffman literals, distances;
	const size_t literal_count = take(s, 5) + 257;
	const size_t distance_count = take(s, 5) + 1;
	const size_t length_count = take(s, 4) + 4;

	for (size_t i = 0; i < length_count; i++)
		lengths[order[i]] = (uint8_t)take(s, 3);
	build(&literals, lengths, sizeof order);
	memset(lengths, 0, sizeof order);
	if (literal_count > LITERALS)
		s->failed = true;
	else
		read_lengths(s, &literals, lengths, literal_count + distance_count);
	if (s->failed)
		return;
	build(&literals, lengths, literal_count);
	build(&distances, lengths + literal_count, distance_count);
	read_codes(s, &literals, &distances);
}

bool inflate(struct str packed, char *to, size_t size)
{
	struct inflation s = { .in = packed, .size = size };
	bool last = false;

	s.to = to;
	while (!last && !s.failed) {
		last = take(&s, 1);
		const unsigned kind = take(&s, 2);
		if (kind == 0)
			read_stored(&s);
		else if (kind == 1)
			read_fixed(&s);
		else if (kind == 2)
			read_dynamic(&s);
		else
			s.failed = true;
	}
	return !s.failed && s.n == size && s.at == packed.n;
}
