/* SPDX-License-Identifier: MIT */
/* bytes: the fast loops agree with slow ones at every length and alignment. */

#include "unit.h"

#include "base/bytes.h"
#include "base/own.h"

static size_t count_slowly(struct str s, char byte)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == byte;
	return n;
}

static void a_count_is_right_at_every_length(void **unused)
{
	enum { LENGTH = 300 };
	char text[LENGTH];

	(void)unused;
	for (size_t i = 0; i < LENGTH; i++)
		text[i] = "\n\0\xff"
			  "a"[i * i % 4];
	const struct str s = guarded((struct str){ text, LENGTH });
	for (size_t from = 0; from <= LENGTH; from++) {
		const struct str tail = str_from(s, from);
		assert_int_equal(bytes_count(tail, '\n'), count_slowly(tail, '\n'));
		assert_int_equal(bytes_count(tail, '\0'), count_slowly(tail, '\0'));
		assert_int_equal(bytes_count(tail, '\xff'), count_slowly(tail, '\xff'));
		assert_int_equal(bytes_count(tail, 'z'), 0);
	}
	guarded_free(s);
	assert_int_equal(bytes_count((struct str){ NULL, 0 }, '\0'), 0);
}

/* A lane is one byte wide and is summed every 255 rounds: all hits is where it would overflow. */
static void nothing_but_hits_is_counted(void **unused)
{
	static const size_t lengths[] = { 254 * 16, 255 * 16,	   256 * 16,	 257 * 16,
					  511 * 16, 510 * 16 + 15, 1024 * 16 + 1 };
	static char text[1024 * 16 + 1];

	(void)unused;
	memset(text, 'x', sizeof text);
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		assert_int_equal(bytes_count((struct str){ text, lengths[i] }, 'x'), lengths[i]);
		assert_int_equal(bytes_count((struct str){ text, lengths[i] }, 'y'), 0);
	}
}

static bool is_plain(const unsigned char *p, bool last)
{
	if (p[0] == 0xc2)
		return !last && (p[1] < 0x80 || p[1] > 0x9f);
	return p[0] != 0x7f && (p[0] >= 0x20 || p[0] == '\n' || p[0] == '\t');
}

/* Every pair of bytes, where a vector begins, where it ends, and where the text ends. */
static void plain_text_ends_at_a_control_character(void **unused)
{
	static const size_t places[] = { 0, 7, 15, 16, 62, 63, 79, 80, 81, 140, 150, 151 };
	enum { LENGTH = 152 };
	char text[LENGTH];

	(void)unused;
	const struct str s = guarded((struct str){ memset(text, 'x', LENGTH), LENGTH });
	unsigned char *const p = (unsigned char *)(uintptr_t)s.p;
	assert_int_equal(bytes_plain(s), LENGTH);
	assert_int_equal(bytes_plain((struct str){ NULL, 0 }), 0);
	for (size_t k = 0; k < sizeof places / sizeof places[0]; k++)
		for (unsigned pair = 0; pair < 1 << 16; pair++) {
			const size_t at = places[k];
			const bool last = at + 1 == LENGTH;
			p[at] = (unsigned char)(pair >> 8);
			if (!last)
				p[at + 1] = (unsigned char)pair;
			size_t want = LENGTH;
			if (!is_plain(p + at, last))
				want = at;
			else if (!last && !is_plain(p + at + 1, at + 2 == LENGTH))
				want = at + 1;
			if (bytes_plain(s) != want)
				fail_msg("%04x at %zu: %zu", pair, at, bytes_plain(s));
			p[at] = 'x';
			if (!last)
				p[at + 1] = 'x';
		}
	guarded_free(s);
}

static bool is_special(unsigned char c)
{
	return c < 0x20 || c >= 0x80 || c == '"' || c == '\\';
}

static void every_byte_is_special_or_not(void **unused)
{
	char block[BYTES_BLOCK];

	(void)unused;
	for (unsigned c = 0; c < 256; c++) {
		for (size_t at = 0; at < sizeof block; at++) {
			memset(block, 'a', sizeof block);
			block[at] = (char)c;
			const struct str s = guarded((struct str){ block, sizeof block });
			const uint64_t mask = bytes_special(s.p);
			assert_int_equal(mask != 0, is_special((unsigned char)c));
			if (mask)
				assert_true(mask == UINT64_C(1) << at);
			guarded_free(s);
		}
	}
}

static void the_lowest_bit_is_the_first_special_byte(void **unused)
{
	char block[BYTES_BLOCK];

	(void)unused;
	for (size_t first = 0; first < sizeof block; first++) {
		memset(block, '~', first);
		memset(block + first, '"', sizeof block - first);
		assert_int_equal(__builtin_ctzll(bytes_special(block)), first);
	}
}

/* Escapes at every place of a block, apart and in place; it ends where something else begins. */
static void escapes_are_undone(void **unused)
{
	enum { LENGTH = 400 };
	static const char *const ends[] = { "\"", "\\u0041", "\\x", "\n", "\xc3\xa9" };

	(void)unused;
	for (size_t period = 2; period < 140; period++) {
		char text[LENGTH], want[LENGTH], got[LENGTH + BYTES_STEP];
		const size_t end = 7 * period % 250; /* where the other thing stands */
		const char *other = ends[period % ARRAY_LEN(ends)];
		size_t n = 0, wanted = 0, used;
		while (n < end) {
			const size_t which = n % 8;
			const bool escaped = n % period == 0;
			want[wanted++] = escaped ? "\"\\/\b\f\n\r\t"[which] : 'x';
			if (escaped)
				text[n++] = '\\';
			text[n++] = escaped ? "\"\\/bfnrt"[which] : 'x';
		}
		memset(text + n, 'y', LENGTH - n);
		memcpy(text + n, other, strlen(other));
		const struct str s = guarded((struct str){ text, LENGTH });
		assert_int_equal(bytes_unescape(got, s, &used), wanted);
		assert_int_equal(used, n);
		assert_memory_equal(got, want, wanted);
		guarded_free(s);
		char both[BYTES_STEP + LENGTH];
		memcpy(both + BYTES_STEP, text, LENGTH);
		assert_int_equal(
			bytes_unescape(both, (struct str){ both + BYTES_STEP, LENGTH }, &used),
			wanted);
		assert_memory_equal(both, want, wanted);
		assert_memory_equal(both + BYTES_STEP + used, text + n, LENGTH - n);
		/* Near the end nothing is read or written. */
		assert_int_equal(bytes_unescape(got, (struct str){ text, 128 }, &used), 0);
		assert_int_equal(used, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_is_right_at_every_length),
		cmocka_unit_test(nothing_but_hits_is_counted),
		cmocka_unit_test(plain_text_ends_at_a_control_character),
		cmocka_unit_test(every_byte_is_special_or_not),
		cmocka_unit_test(escapes_are_undone),
		cmocka_unit_test(the_lowest_bit_is_the_first_special_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
