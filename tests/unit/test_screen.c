/* SPDX-License-Identifier: MIT */
/* screen: a line is shown as a terminal shows it at its end, however its bytes were cut. */

#include "unit.h"

#include "base/own.h"
#include "screen_model.h"
#include "tools/limits.h"
#include "tools/screen.h"

enum { ROOM = 64 << 20 };

#define E "\x1b"

static const struct {
	const char *text, *want;
} cases[] = {
	/* Plain text is not touched. */
	{ "", "" },
	{ "a", "a" },
	{ "a\tb\n\n c \nd", "a\tb\n\n c \nd" },
	{ "Gr\xc3\xbc\xc3\x9f"
	  "e \xe2\x82\xac \xc2\xa0\xc2\xb0 \xf0\x9f\x99\x82\n",
	  "Gr\xc3\xbc\xc3\x9f"
	  "e \xe2\x82\xac \xc2\xa0\xc2\xb0 \xf0\x9f\x99\x82\n" },
	{ "\xff\xfe x \xc3\n\xe2\x82\nz\xc2", "\xff\xfe x \xc3\n\xe2\x82\nz\xc2" },
	{ "e\xcc\x81\xcc\xa3 \xcc\x81\n\xcc\x81x\n", "e\xcc\x81\xcc\xa3 \xcc\x81\n\xcc\x81x\n" },

	/* A carriage return goes to the start of the line. */
	{ "abcdef\rXY", "XYcdef" },
	{ "abcdef\rXY\n", "XYcdef\n" },
	{ "a\r\nb\r\n", "a\nb\n" },
	{ "a\r\r\nb", "a\nb" },
	{ "\r\n\r\n", "\n\n" },
	{ "one\ntwo\rT\nthree", "one\nTwo\nthree" },
	{ " 0%\r 50%\r100%\ndone\n", "100%\ndone\n" },
	{ "100%\rok\n", "ok0%\n" },
	{ "ab\rabcd\rx\n", "xbcd\n" },

	/* Backspaces. */
	{ "abc\b\bX\n", "aXc\n" },
	{ "abc\b \b\n", "ab \n" },
	{ "\b\bab\n", "ab\n" },
	{ "N\bNA\bAM\bME\bE\n", "NAME\n" },
	{ "_\bw_\bo_\brd\n", "word\n" },
	{ "|\b/\b-\b\\\bok\n", "ok\n" },

	/* Colours and other sequences without effect. */
	{ E "[31mred" E "[0m\n", "red\n" },
	{ E "[1;31;48;5;200mx" E "[38:2::1:2:3my" E "[m\n", "xy\n" },
	{ E "[?25lx" E "[?25h" E "[>c" E "[!p" E "[0 q\n", "x\n" },
	{ E "[2;5Hx" E "[Ay" E "[10Bz" E "[r\n", "xyz\n" },
	{ E "(Bx" E ")0y" E "%Gz" E "#8" E " F!\n", "xyz!\n" },
	{ E "7x" E "8y" E "=" E ">" E "c" E "Mz\n", "xyz\n" },
	{ E "]0;title\ax" E "]2;t" E "\\y\n", "xy\n" },
	{ E "]8;;http://a/b" E "\\link" E "]8;;" E "\\\n", "link\n" },
	{ E "P1;2q#0~~@@" E "\\x" E "_G\xc3\xa9" E "\\y" E "^pm" E "\\z" E "Xsos" E "\\!\n",
	  "xyz!\n" },
	{ "a" E "]0;never ended\nb\n", "a\nb\n" },
	{ "a" E "]0;x\x18y" E "Pz\x1a!\n", "ay!\n" },
	{ "a" E "]0;x" E "[1mb\n", "ab\n" },
	{ E E "[1mx\n", "x\n" },
	{ E "[1" E "[2mx\n", "x\n" },
	{ "a" E "[3\nb\n", "a\nb\n" },
	{ "a" E "\nb" E "(\nc\n", "a\nb\nc\n" },
	{ "a" E "[1\xc3\xa9" E "\xe2\x82\xac\n", "a\xc3\xa9\xe2\x82\xac\n" },
	{ E "[99999999999999999999mx\n", "x\n" },

	/* What is unfinished at the end is dropped. */
	{ "a" E, "a" },
	{ "a" E "[", "a" },
	{ "a" E "[12;3", "a" },
	{ "a" E "]0;title", "a" },
	{ "a" E "]0;title" E, "a" },
	{ "a" E "(", "a" },

	/* Control characters of ISO 6429 as UTF-8, and bytes that are only part of a character. */
	{ "\xc2\x9b"
	  "31mred\xc2\x9b"
	  "m\n",
	  "red\n" },
	{ "a\xc2\x85"
	  "b\xc2\x80"
	  "c\xc2\x9f"
	  "d\n",
	  "abcd\n" },
	{ "\xc3\xa2\xc2\x80\xc2\x9dquoted twice\n", "\xc3\xa2quoted twice\n" },
	{ "\xe3\x81\x9b\x9b\x1b[m\xe2\x9b\x94\n", "\xe3\x81\x9b\x9b\xe2\x9b\x94\n" },
	{ "\xc2" E "[mx\n", "\xc2x\n" },
	{ "\xe2\xc2\x9b"
	  "1mx\n",
	  "\xe2x\n" },

	/* Other control characters. */
	{ "a\a\v\f\x0e\x0f\x7f\x01z\n", "az\n" },
	{ "a\tb" E "[mc\td\n", "a\tbc\td\n" },

	/* Erasing. */
	{ "working 50%\r" E "[Kdone\n", "done\n" },
	{ "abcdef\b\b" E "[K\n", "abcd\n" },
	{ "abcdef\b\b" E "[1K\n", "     f\n" },
	{ "abcdef\b\b" E "[1KX\n", "    Xf\n" },
	{ "abc" E "[1K\n", "\n" },
	{ "abc" E "[1Kd\n", "   d\n" },
	{ "abc" E "[2K\n", "\n" },
	{ "abc" E "[2Kd\n", "   d\n" },
	{ "abc" E "[2K\rd\n", "d\n" },
	{ "abc" E "[2K" E "[1Gd\n", "d\n" },
	{ "abc\r" E "[Jd\n", "d\n" },
	{ E "[2J" E "[Hhello\n", "hello\n" },
	{ "abc\r" E "[?Kd\n", "dbc\n" },
	{ "a  " E "[K\n", "a  \n" },

	/* Moving within the line. */
	{ "abc" E "[2DX\n", "aXc\n" },
	{ "abc" E "[DX\n", "abX\n" },
	{ "abc" E "[0DX\n", "abX\n" },
	{ "abc" E "[99DX\n", "Xbc\n" },
	{ "abc\r" E "[CX\n", "aXc\n" },
	{ "abc" E "[2GX\n", "aXc\n" },
	{ "abc" E "[GX\n", "Xbc\n" },
	{ "abc" E "[6Gd\n", "abc  d\n" },
	{ "ab" E "[3Cc\n", "ab   c\n" },
	{ "ab" E "[3C\n", "ab\n" },
	{ "x" E "[20G\ty\n", "x                       y\n" },

	/* Tabs have the columns up to the next stop. */
	{ "a\tb\rXY\n", "XY      b\n" },
	{ "a\tb\r\tX\n", "a\tX\n" },
	{ "a\rX\tb\n", "X\tb\n" },
	{ "a\tb" E "[5GX\n", "a   X   b\n" },
	{ "abc\r\td\n", "abc\td\n" },
	{ "a\tb\b\bX\n", "a      Xb\n" },

	/* Wide characters have two columns, marks none. */
	{ "\xe6\x97\xa5\xe6\x9c\xac\rab\n", "ab\xe6\x9c\xac\n" },
	{ "\xe6\x97\xa5\xe6\x9c\xac\ra\n", "a \xe6\x9c\xac\n" },
	{ "\xe6\x97\xa5\xe6\x9c\xac\bX\n", "\xe6\x97\xa5 X\n" },
	{ "abcd\r\xe6\x97\xa5\n", "\xe6\x97\xa5"
				  "cd\n" },
	{ "abcd" E "[4G\xe6\x97\xa5\n", "abc\xe6\x97\xa5\n" },
	{ "e\xcc\x81x\rE\n", "Ex\n" },
	{ "ex\re\xcc\x81\n", "e\xcc\x81x\n" },
	{ "e\xcc\x81x\bY\n", "e\xcc\x81Y\n" },
	{ "\xcc\x81x\r\xcc\x81x\n", "x\n" },
	{ "\xe2\x96\x88\xe2\x96\x88  \r\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\n",
	  "\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88 \n" },
	{ "\xe2\xa0\x8b wait\r\xe2\xa0\x99 wait\r\xe2\x9c\x94 done\n", "\xe2\x9c\x94 done\n" },
};

/* What comes out of a text in which a piece ends at each of the places. */
static void show(struct str text, const size_t *places, size_t count, struct buf *out)
{
	AUTO_BUF aside = { .max = ROOM };
	CLEANUP(screen_done) struct screen s = { 0 };
	size_t from = 0;

	for (size_t i = 0; i <= count; i++) {
		const size_t to = i < count ? places[i] : text.n;
		buf_add(out, screen_feed(&s, (struct str){ text.p + from, to - from }, &aside));
		from = to;
	}
	buf_add(out, screen_end(&s, &aside));
	assert_false(aside.failed || out->failed);
}

static void show_bytes(struct str text, struct buf *out)
{
	AUTO_BUF aside = { .max = ROOM };
	CLEANUP(screen_done) struct screen s = { 0 };

	for (size_t i = 0; i < text.n; i++)
		buf_add(out, screen_feed(&s, (struct str){ text.p + i, 1 }, &aside));
	buf_add(out, screen_end(&s, &aside));
	assert_false(aside.failed || out->failed);
}

static void assert_same(const struct buf *got, struct str want, struct str text)
{
	if (str_eq(buf_str(got), want))
		return;
	for (size_t i = 0; i < text.n && i < 200; i++)
		print_message("%02x ", (unsigned char)text.p[i]);
	fail_msg("got \"%.*s\", want \"%.*s\"", STR_FMT(buf_str(got)), STR_FMT(want));
}

static void a_line_is_shown_as_at_its_end(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = { .max = ROOM };
		const struct str text = guarded(str_of(cases[i].text));
		show(text, NULL, 0, &out);
		assert_same(&out, str_of(cases[i].want), text);
		guarded_free(text);
	}
}

static void cuts_change_nothing(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct str text = str_of(cases[i].text), want = str_of(cases[i].want);
		AUTO_BUF bytes = { .max = ROOM };
		show_bytes(text, &bytes);
		assert_same(&bytes, want, text);
		for (size_t a = 0; a <= text.n; a++)
			for (size_t b = a; b <= text.n; b++) {
				AUTO_BUF out = { .max = ROOM };
				show(text, (const size_t[]){ a, b }, 2, &out);
				assert_same(&out, want, text);
			}
	}
}

static void the_model_agrees_with_the_table(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = { .max = ROOM };
		const struct str text = str_of(cases[i].text);
		if (!utf8_valid(text))
			continue;
		model_show(text, &out);
		assert_same(&out, str_of(cases[i].want), text);
	}
}

/* Pieces of text and sequences, put together at random. */
static void a_random_text_is_as_in_the_model(void **unused)
{
	static const char *const parts[] = {
		"a",
		"bcd",
		"\n",
		"\r",
		"\b",
		"\t",
		"\r\n",
		E,
		E "[K",
		E "[1K",
		E "[2K",
		E "[C",
		E "[12C",
		E "[3D",
		E "[G",
		E "[7G",
		E "[300G",
		E "[999C",
		E "[31m",
		E "]0;x\a",
		"\xe6\x97\xa5",
		"[",
		"\xcc\x81",
		"\xc3\xa9",
		"\xc2\x9b",
		"\xc2\x85",
		"\xe2\x96\x88",
		"  ",
		"K",
		"3",
		"\a",
		E "\\",
		E "(B",
		E "_q",
		"\xf0\x9f\x99\x82",
	};
	uint32_t seed = 1;

	(void)unused;
	for (int round = 0; round < LARGE(20000); round++) {
		AUTO_BUF text = { .max = ROOM }, want = { .max = ROOM }, out = { .max = ROOM };
		size_t places[2] = { 0, 0 };
		for (int i = 0; i < 24; i++) {
			seed = seed * 1664525 + 1013904223;
			buf_add(&text, str_of(parts[(seed >> 16) % ARRAY_LEN(parts)]));
		}
		places[0] = (seed >> 8) % text.n;
		places[1] = places[0] + (seed >> 4) % (text.n - places[0]);
		model_show(buf_str(&text), &want);
		show(buf_str(&text), places, round % 2 ? 2 : 0, &out);
		assert_same(&out, buf_str(&want), buf_str(&text));
	}
}

/* No copy of what needs no cleaning. */
static void plain_text_is_passed_through(void **unused)
{
	AUTO_BUF aside = { .max = ROOM };
	CLEANUP(screen_done) struct screen s = { 0 };
	const struct str text = STR("first line\nsecond \xc3\xa9\t!\n");

	(void)unused;
	assert_ptr_equal(screen_feed(&s, text, &aside).p, text.p);
	assert_int_equal(screen_feed(&s, STR("held"), &aside).n, 0);
	assert_str(screen_feed(&s, text, &aside), "heldfirst line\nsecond \xc3\xa9\t!\n");
	assert_ptr_equal(screen_feed(&s, text, &aside).p, text.p);
	assert_int_equal(screen_end(&s, &aside).n, 0);
	assert_null(s.line.failed ? "failed" : NULL);
}

static void a_line_that_is_redrawn_takes_the_memory_of_one(void **unused)
{
	AUTO_BUF aside = { .max = ROOM };
	CLEANUP(screen_done) struct screen s = { 0 };

	(void)unused;
	for (int i = 0; i < 100000; i++) {
		char text[80];
		const int n = snprintf(text, sizeof text, "\r" E "[K\xe2\xa0\x8b %d of 100000", i);
		assert_int_equal(screen_feed(&s, (struct str){ text, (size_t)n }, &aside).n, 0);
	}
	assert_true(s.line.cap <= 1024 && aside.cap <= 1024);
	assert_str(screen_end(&s, &aside), "\xe2\xa0\x8b 99999 of 100000");
}

/* What is beyond the bound goes out as it stands, wherever the pieces were cut. */
static void a_long_line_is_passed_on(void **unused)
{
	enum { LONG = 5 * LIMIT_SCREEN_LINE / 2 };
	static const char *const fillings[] = { "x", "\xc3\xa9", "\xe2\x82\xac", "\xe2\x82", "\t" };
	static const char *const tails[] = { "\n", "\rX\n", "\b\b\bX\x1b[K\n", "\r\xc3\xa9", "" };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(fillings); i++)
		for (size_t j = 0; j < ARRAY_LEN(tails); j++) {
			AUTO_BUF text = { .max = ROOM }, whole = { .max = ROOM },
				 bytes = { .max = ROOM };
			while (text.n < LONG)
				buf_add(&text, str_of(fillings[i]));
			buf_add(&text, str_of(tails[j]));
			show(buf_str(&text), NULL, 0, &whole);
			show_bytes(buf_str(&text), &bytes);
			assert_same(&whole, buf_str(&bytes), buf_str(&text));
			assert_true(whole.n > 2 * LIMIT_SCREEN_LINE);
		}
}

static void memory_is_bounded_whatever_comes(void **unused)
{
	static const char *const texts[] = {
		"x",	 "\t",	       "\xc3\xa9\b",	       "\x1b[9999C\xe6\x97\xa5",
		"\x1b]", "\xcc\x81\b", "\x1b[9999C\t\x1b[1K\b"
	};
	AUTO_BUF aside = { .max = LIMIT_SCREEN_ASIDE };

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(screen_done) struct screen s = { 0 };
		AUTO_BUF piece = { .max = ROOM };
		while (piece.n < LIMIT_OUTPUT_CHUNK / 2 - 16)
			buf_add(&piece, str_of(texts[i]));
		for (int round = 0; round < 2; round++)
			(void)screen_feed(&s, buf_str(&piece), &aside);
		assert_false(aside.failed);
		assert_true(s.line.cap <= LIMIT_SCREEN_LINE);
	}
}

/* The most that a piece can become. */
static void a_piece_fits_into_its_limit(void **unused)
{
	AUTO_BUF aside = { .max = LIMIT_SCREEN_ASIDE }, piece = { .max = ROOM };
	CLEANUP(screen_done) struct screen s = { 0 };

	(void)unused;
	while (piece.n < LIMIT_OUTPUT_CHUNK - 8)
		buf_add(&piece, STR(E "[999Cx\n"));
	assert_int_equal(screen_feed(&s, buf_str(&piece), &aside).n,
			 piece.n / 8 * (LIMIT_SCREEN_COLUMNS + 2));

	AUTO_BUF little = { .max = 100 };
	assert_int_equal(screen_feed(&s, buf_str(&piece), &little).n, 0);
	assert_true(little.failed);
}

static bool binary(struct str text)
{
	AUTO_BUF aside = { .max = ROOM };
	CLEANUP(screen_done) struct screen whole = { 0 }, bytes = { 0 };

	(void)screen_feed(&whole, text, &aside);
	for (size_t i = 0; i < text.n; i++)
		(void)screen_feed(&bytes, (struct str){ text.p + i, 1 }, &aside);
	(void)screen_end(&whole, &aside);
	assert_int_equal(screen_binary(&whole), screen_binary(&bytes));
	return screen_binary(&whole);
}

static void output_that_is_not_text_is_known(void **unused)
{
	static char zeros[12000], noise[12000];
	uint32_t seed = 7;

	(void)unused;
	for (size_t i = 0; i < sizeof noise; i++) {
		seed = seed * 1664525 + 1013904223;
		noise[i] = (char)(seed >> 24);
	}
	assert_true(binary((struct str){ zeros, sizeof zeros }));
	assert_true(binary((struct str){ noise, sizeof noise }));
	assert_true(binary((struct str){ noise, 60 }));
	assert_true(binary(STR("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\xe0\x08\2\0\0\0")));
	assert_true(binary(STR("h\0e\0l\0l\0o\0")));

	assert_false(binary((struct str){ NULL, 0 }));
	assert_false(binary(STR("plain\n")));
	assert_false(binary(STR("a\xff"
				"b\0c")));
	assert_false(binary(STR("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\n")));
	assert_false(binary(STR("caf\xe9 cr\xe8me in Latin-1\n")));
	assert_false(binary(STR("one NUL \0 in a line\n")));
	assert_false(binary(STR("src/a.c\0src/b.c\0src/c.c\0")));
	assert_false(binary(STR(E "[1m" E "[31mE" E "[0m" E "[1m:" E "[0m\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_shown_as_at_its_end),
		cmocka_unit_test(cuts_change_nothing),
		cmocka_unit_test(the_model_agrees_with_the_table),
		cmocka_unit_test(a_random_text_is_as_in_the_model),
		cmocka_unit_test(plain_text_is_passed_through),
		cmocka_unit_test(a_line_that_is_redrawn_takes_the_memory_of_one),
		cmocka_unit_test(a_long_line_is_passed_on),
		cmocka_unit_test(memory_is_bounded_whatever_comes),
		cmocka_unit_test(a_piece_fits_into_its_limit),
		cmocka_unit_test(output_that_is_not_text_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
