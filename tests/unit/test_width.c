/* SPDX-License-Identifier: MIT */
/* width: the tables are in order, and well-known characters are as wide as terminals show them. */

#include "unit.h"

#include "base/own.h"
#include "base/utf8.h"

static void characters_have_their_width(void **unused)
{
	static const struct {
		uint32_t c;
		unsigned width;
	} cases[] = {
		{ 'a', 1 },	{ 0xe9, 1 },	{ 0xad, 1 },	{ 0x2ff, 1 },	 { 0x300, 0 },
		{ 0x36f, 0 },	{ 0x370, 1 },	{ 0x5b0, 0 },	{ 0x64b, 0 },	 { 0x94d, 0 },
		{ 0xe34, 0 },	{ 0x1100, 2 },	{ 0x1160, 0 },	{ 0x200b, 0 },	 { 0x200d, 0 },
		{ 0x2026, 1 },	{ 0x20ac, 1 },	{ 0x2588, 1 },	{ 0x2713, 1 },	 { 0x2705, 2 },
		{ 0x280b, 1 },	{ 0x3042, 2 },	{ 0x3099, 0 },	{ 0x4e00, 2 },	 { 0xac00, 2 },
		{ 0xd7a3, 2 },	{ 0xfe0f, 0 },	{ 0xfeff, 0 },	{ 0xff01, 2 },	 { 0xff71, 1 },
		{ 0xfffd, 1 },	{ 0x1d49c, 1 }, { 0x1f600, 2 }, { 0x1f3fb, 2 },	 { 0x20000, 2 },
		{ 0x3fffd, 2 }, { 0xe0100, 0 }, { 0xe01ef, 0 }, { 0x10ffff, 1 },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (width_of(cases[i].c) != cases[i].width)
			fail_msg("U+%04X has width %u", cases[i].c, width_of(cases[i].c));
}

/* A table that is not sorted would lose whole scripts. */
static void scripts_have_one_width(void **unused)
{
	(void)unused;
	for (uint32_t c = 0x4e00; c <= 0x9fff; c++)
		assert_int_equal(width_of(c), 2);
	for (uint32_t c = 0xac00; c <= 0xd7a3; c++)
		assert_int_equal(width_of(c), 2);
	for (uint32_t c = 0x300; c <= 0x36f; c++)
		assert_int_equal(width_of(c), 0);
	for (uint32_t c = 0x2500; c <= 0x259f; c++)
		assert_int_equal(width_of(c), 1);
	for (uint32_t c = 0x2800; c <= 0x28ff; c++)
		assert_int_equal(width_of(c), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_have_their_width),
		cmocka_unit_test(scripts_have_one_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
