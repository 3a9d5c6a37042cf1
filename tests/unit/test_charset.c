/* SPDX-License-Identifier: MIT */
/* charset: sets, their spelling in UTF-8, and the decoder. */

#include "unit.h"

#include "base/own.h"
#include "base/utf8.h"
#include "regex/charset.h"

enum { SEQUENCES = 64 };

static bool in_sequence(const struct utf8_sequence *s, const char *bytes, size_t n)
{
	if (s->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((uint8_t)bytes[i] < s->bytes[i].lo || (uint8_t)bytes[i] > s->bytes[i].hi)
			return false;
	return true;
}

static void test_sequences_hold_exactly_the_range(void **state)
{
	static const struct char_range ranges[] = {
		{ 0, 0x10ffff },	{ 0x80, 0x80 },	     { 0x7f, 0x800 },
		{ 0x3b1, 0x3c9 },	{ 0x7ff, 0xffff },   { 0xd700, 0xe100 },
		{ 0xd800, 0xdfff },	{ 0xffff, 0x10000 }, { 0x1234, 0x54321 },
		{ 0x10ffff, 0x10ffff }, { 0x41, 0x5a },	     { 0xfff, 0x3f000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		struct utf8_split split = utf8_split(ranges[i].lo, ranges[i].hi);
		struct utf8_sequence all[SEQUENCES];
		size_t n = 0;

		while (utf8_split_next(&split, &all[n]))
			assert_true(++n < SEQUENCES);
		for (uint32_t c = 0x80; c <= CHARSET_LAST; c++) {
			char bytes[4];
			const size_t len = utf8_encode(c, bytes);
			unsigned found = 0;

			if (c >= 0xd800 && c < 0xe000)
				continue;
			for (size_t k = 0; k < n; k++)
				found += in_sequence(&all[k], bytes, len);
			if (found != (c >= ranges[i].lo && c <= ranges[i].hi))
				fail_msg("U+%04X in U+%04X-U+%04X: %u times", c, ranges[i].lo,
					 ranges[i].hi, found);
		}
	}
}

/* The decoder cuts any bytes into the pieces that base/utf8 cuts them into. */
static void test_decoder_agrees(void **state)
{
	static const uint8_t interesting[] = {
		'a',  0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
		0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff, 0x80, 0xa0, 0xbf
	};
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		uint8_t bytes[8];
		struct str rest = { (const char *)bytes, sizeof(bytes) };
		enum utf8_state s = UTF8_WHOLE;
		size_t next = 0, bad = 0;
		bool ill = false;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1;
			bytes[i] = interesting[(seed >> 33) % sizeof(interesting)];
		}
		for (size_t i = 0; i <= sizeof(bytes); i++) {
			const unsigned byte = i < sizeof(bytes) ? bytes[i] : UTF8_END;

			assert_int_equal(!utf8_state_inside(s, byte), i == next);
			assert_int_equal(utf8_state_ill(s, byte), i == next && ill);
			if (i == next && i < sizeof(bytes)) {
				const size_t n = utf8_next(str_from(rest, i), &bad);

				ill = n == 0;
				next += n ? n : bad;
			}
			s = i < sizeof(bytes) ? utf8_state_next(s, byte) : s;
		}
	}
}

static void test_sets(void **state)
{
	AUTO_ARENA a = { .max = 1 << 20 };
	struct charset s = { 0 };

	(void)state;
	charset_add(&s, 'c', 'e', &a);
	charset_add(&s, 'a', 'a', &a);
	charset_add(&s, 'g', 'h', &a);
	assert_int_equal(s.n, 3);
	charset_add(&s, 'b', 'b', &a);
	assert_int_equal(s.n, 2);
	charset_add(&s, 'f', 'z', &a);
	assert_int_equal(s.n, 1);
	assert_true(charset_covers(&s, 'a', 'z'));
	charset_remove(&s, 'm', &a);
	assert_int_equal(s.n, 2);
	assert_false(charset_has(&s, 'm'));
	charset_negate(&s, &a);
	assert_true(charset_has(&s, 'm') && charset_has(&s, CHARSET_ILL) && !charset_has(&s, 'a'));
	charset_negate(&s, &a);
	assert_false(charset_has(&s, CHARSET_ILL));
	assert_int_equal(charset_last(&s), 'z');
}

static void test_other_case(void **state)
{
	static const uint32_t pairs[][2] = { { 'a', 'A' },     { 'z', 'Z' },	 { 0xe9, 0xc9 },
					     { 0x101, 0x100 }, { 0x13a, 0x139 }, { 0x3c9, 0x3a9 },
					     { 0x436, 0x416 }, { 0x451, 0x401 }, { 0x17e, 0x17d } };
	static const uint32_t alone[] = { '@', '[', '`', '{', 0xd7, 0xf7, 0x131, 0x4e00, '1' };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs) * 2; i++) {
		AUTO_ARENA a = { .max = 1 << 16 };
		struct charset s = { 0 };

		charset_add(&s, pairs[i / 2][i % 2], pairs[i / 2][i % 2], &a);
		charset_fold(&s, &a);
		assert_true(charset_has(&s, pairs[i / 2][0]) && charset_has(&s, pairs[i / 2][1]));
		assert_int_equal(s.n, 2 - (pairs[i / 2][0] == pairs[i / 2][1] + 1));
	}
	for (size_t i = 0; i < ARRAY_LEN(alone); i++) {
		AUTO_ARENA a = { .max = 1 << 16 };
		struct charset s = { 0 };

		charset_add(&s, alone[i], alone[i], &a);
		charset_fold(&s, &a);
		assert_true(s.n == 1 && s.ranges[0].lo == s.ranges[0].hi);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequences_hold_exactly_the_range),
		cmocka_unit_test(test_decoder_agrees),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_other_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
