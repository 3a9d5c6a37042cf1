/* SPDX-License-Identifier: MIT */
/* utf8: every short sequence and every border against a naive decoder, and known cases. */

#include "unit.h"

#include "base/own.h"
#include "base/utf8.h"
#include "utf8_naive.h"
#include "utf8_splits.h"

#define T(literal)                                                                                 \
	{                                                                                          \
		"" literal, sizeof(literal) - 1                                                    \
	}

static void check(struct str s)
{
	size_t bad = 99;
	const size_t want = naive_character(s);
	const size_t got = utf8_next(s, &bad);

	if (got != want || (!want && bad != naive_bad(s)))
		fail_msg("%02x %02x %02x %02x of %zu: length %zu, want %zu; bad %zu, want %zu",
			 (unsigned char)s.p[0], s.n > 1 ? (unsigned char)s.p[1] : 0,
			 s.n > 2 ? (unsigned char)s.p[2] : 0, s.n > 3 ? (unsigned char)s.p[3] : 0,
			 s.n, got, want, bad, want ? 0 : naive_bad(s));
	assert_int_equal(utf8_valid(s), want == s.n || (want && utf8_valid(str_from(s, want))));
}

static void all_sequences_of_one_and_two_bytes(void **unused)
{
	const struct str end = guarded(STR("xy"));
	char *const c = (char *)(uintptr_t)end.p;

	(void)unused;
	for (unsigned a = 0; a < 256; a++) {
		c[1] = (char)a;
		check(str_from(end, 1));
		for (unsigned b = 0; b < 256; b++) {
			c[0] = (char)a;
			c[1] = (char)b;
			check(end);
		}
	}
	guarded_free(end);
}

/* Each byte that borders a range of table 3-7, in every place of three and four bytes. */
static void the_borders_of_longer_sequences(void **unused)
{
	static const unsigned char borders[] = {
		0x00, 0x41, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
		0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xfe, 0xff,
	};
	const size_t n = sizeof borders;
	const struct str end = guarded(STR("wxyz"));
	char *const c = (char *)(uintptr_t)end.p;

	(void)unused;
	for (unsigned first = 0x80; first < 256; first++) {
		for (size_t i = 0; i < n * n * n; i++) {
			c[0] = (char)first;
			c[1] = (char)borders[i / n / n];
			c[2] = (char)borders[i / n % n];
			c[3] = (char)borders[i % n];
			check(end);
			c[3] = c[2];
			c[2] = c[1];
			c[1] = c[0];
			if (i % n == 0)
				check(str_from(end, 1));
		}
	}
	guarded_free(end);
}

static void every_code_point_is_encoded_and_read_back(void **unused)
{
	(void)unused;
	for (uint32_t c = 0; c < 0x110010; c++) {
		char out[4];
		const bool none = (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff;
		const struct str s = { out, utf8_encode(c, out) };
		if (none) {
			assert_str(s, UTF8_REPLACEMENT);
			continue;
		}
		size_t bad;
		assert_int_equal(utf8_next(s, &bad), s.n);
		assert_int_equal(naive_character(s), s.n);
		assert_int_equal(utf8_decode(s.p, s.n), c);
		assert_int_equal(s.n, c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
	}
	char out[4];
	assert_int_equal(utf8_encode(UINT32_MAX, out), 3);
	assert_memory_equal(out, UTF8_REPLACEMENT, 3);
}

/* What decoders on the web show, "?" standing for U+FFFD. */
static const struct {
	struct str bytes;
	const char *shown;
} replaced[] = {
	{ T(""), "" },
	{ T("abc"), "abc" },
	{ T("a\0b"), "a.b" },
	{ T("\xf0\x80\x80\x41"), "???A" },
	{ T("\xe1\x80\xe2"), "??" },
	{ T("\xed\xa0\x80"), "???" },
	{ T("\xf4\x90\x80\x80"), "????" },
	{ T("\xc0\xaf"), "??" },
	{ T("\xe0\x80\xaf"), "???" },
	{ T("\xe0\x80\xbf\xf0\x81\x82\x41"), "??????A" },
	{ T("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"), "????????A" },
	{ T("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"), "?????A??B" },
	{ T("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), "????A" },
	{ T("\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64"), "???b?c??d" },
	{ T("\x80"), "?" },
	{ T("\xc2"), "?" },
	{ T("\xe2\x82"), "?" },
	{ T("\xf0\x9f\x98"), "?" },
	{ T("\xf8\x88\x80\x80\x80"), "?????" },
	{ T("\xfc\x84\x80\x80\x80\x80"), "??????" },
	{ T("\xfe\xff"), "??" },
	{ T("\xc2\x41"), "?A" },
	{ T("x\xe2\x82y"), "x?y" },
};

static void ill_formed_bytes_are_replaced_by_maximal_subparts(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(replaced); i++) {
		const struct str all = guarded(replaced[i].bytes);
		char shown[32];
		size_t n = 0, length = 0, bad;
		bool valid = true;
		for (struct str s = all; s.n;) {
			const size_t good = utf8_next(s, &bad);
			shown[n++] = good ? (s.p[0] ? s.p[0] : '.') : '?';
			length += good ? good : 3;
			valid = valid && good;
			s = str_from(s, good ? good : bad);
		}
		shown[n] = '\0';
		assert_string_equal(shown, replaced[i].shown);
		assert_int_equal(utf8_replaced_length(all), length);
		assert_int_equal(utf8_valid(all), valid);
		guarded_free(all);
	}
}

static const struct {
	struct str s;
	size_t whole;
} ends[] = {
	{ T(""), 0 },
	{ T("a"), 1 },
	{ T("a\xc3"), 1 },
	{ T("a\xc3\xa9"), 3 },
	{ T("a\xe2"), 1 },
	{ T("a\xe2\x82"), 1 },
	{ T("a\xe2\x82\xac"), 4 },
	{ T("a\xf0"), 1 },
	{ T("a\xf0\x9f"), 1 },
	{ T("a\xf0\x9f\x98"), 1 },
	{ T("a\xf0\x9f\x98\x80"), 5 },
	{ T("\xf0\x9f\x98"), 0 },
	/* Ill-formed: never held back. */
	{ T("a\x80"), 2 },
	{ T("a\xff"), 2 },
	{ T("a\xc0"), 2 },
	{ T("a\xf5"), 2 },
	{ T("a\xe0\x80"), 3 },
	{ T("a\xed\xa0"), 3 },
	{ T("a\xf0\x80"), 3 },
	{ T("a\xf4\x90\x80"), 4 },
	{ T("\x80\x80\x80\x80"), 4 },
	{ T("a\xc3\xa9\x80"), 4 },
	{ T("\xe2\x82\xac\x80\x80"), 5 },
	{ T("\xe2\xe2"), 1 },
};

static void an_unfinished_character_is_held_back(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const struct str s = guarded(ends[i].s);
		assert_int_equal(utf8_whole(s), ends[i].whole);
		guarded_free(s);
	}
	assert_int_equal(utf8_whole((struct str){ NULL, 0 }), 0);
}

/* However a stream is split, its parts joined at utf8_whole give the same replacements. */
static void a_stream_may_be_split_anywhere(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(replaced); i++) {
		const struct str s = replaced[i].bytes;
		for (size_t cut = 0; cut <= s.n; cut++) {
			const size_t whole = utf8_whole(str_upto(s, cut));
			assert_true(whole <= cut && cut - whole <= 3);
			assert_int_equal(utf8_replaced_length(str_upto(s, whole)) +
						 utf8_replaced_length(str_from(s, whole)),
					 utf8_replaced_length(s));
		}
	}
}

static void a_stream_of_any_pieces_is_the_whole_text(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(split_texts); i++) {
		const struct str text = split_texts[i];
		for (unsigned way = 0; way < split_ways(text); way++) {
			struct utf8_stream stream = { .n = 0 };
			AUTO_BUF seen = { .max = 1 << 10 };
			for (struct str rest = text, part; rest.n;) {
				struct str left = split_next(text, &rest, way);
				const struct str piece = guarded(left);
				left = piece;
				while ((part = utf8_take(&stream, &left)).n)
					split_show(&seen, part);
				assert_int_equal(left.n, 0);
				assert_in_range(stream.n, 0, 3);
				guarded_free(piece);
			}
			split_show(&seen, utf8_rest(&stream));
			assert_int_equal(utf8_rest(&stream).n, 0);
			assert_seen_whole(&seen, text, way);
		}
	}
}

static void ascii_ends_at_the_first_high_byte(void **unused)
{
	enum { LENGTH = 40 };
	char text[LENGTH];

	(void)unused;
	for (size_t n = 0; n <= LENGTH; n++) {
		for (size_t at = 0; at <= n; at++) {
			for (size_t k = 0; k < n; k++)
				text[k] = (char)(k * 5 & 0x7f);
			if (at < n)
				text[at] = '\x80';
			const struct str s = guarded((struct str){ text, n });
			assert_int_equal(utf8_ascii(s), at);
			assert_int_equal(utf8_valid(s), at == n);
			assert_int_equal(utf8_replaced_length(s), at < n ? n + 2 : n);
			guarded_free(s);
		}
	}
	assert_int_equal(utf8_ascii((struct str){ NULL, 0 }), 0);
	assert_true(utf8_valid((struct str){ NULL, 0 }));
	assert_int_equal(utf8_replaced_length((struct str){ NULL, 0 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sequences_of_one_and_two_bytes),
		cmocka_unit_test(the_borders_of_longer_sequences),
		cmocka_unit_test(every_code_point_is_encoded_and_read_back),
		cmocka_unit_test(ill_formed_bytes_are_replaced_by_maximal_subparts),
		cmocka_unit_test(an_unfinished_character_is_held_back),
		cmocka_unit_test(a_stream_may_be_split_anywhere),
		cmocka_unit_test(a_stream_of_any_pieces_is_the_whole_text),
		cmocka_unit_test(ascii_ends_at_the_first_high_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
