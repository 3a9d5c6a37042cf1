/* SPDX-License-Identifier: MIT */
/* jw: every byte is escaped or kept as it should, and the buf's maximum holds everywhere. */

#include "unit.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/json.h"
#include "base/jw.h"
#include "base/utf8.h"

#define T(literal)                                                                                 \
	{                                                                                          \
		"" literal, sizeof(literal) - 1                                                    \
	}

enum { ROOM = 1 << 20 };

static void write_everything(struct jw *w)
{
	jw_object(w, NULL);
	jw_str(w, "text", STR("a\"\n\xc3\xa9\xff\x01 0123456789abcdef0123456789"));
	jw_array(w, "many");
	jw_int(w, NULL, INT64_MIN);
	jw_num(w, NULL, 0.1);
	jw_bool(w, NULL, true);
	jw_bool(w, NULL, false);
	jw_null(w, NULL);
	jw_array(w, NULL);
	jw_end(w);
	jw_object(w, NULL);
	jw_end(w);
	jw_end(w);
	jw_raw(w, "raw", STR("{\"x\":[]}"));
	jw_base64(w, "b\n64", STR("abcd"));
	jw_open_str(w, "pieces");
	jw_piece(w, STR("one\t"));
	jw_piece(w, STR(""));
	jw_piece(w, STR("two"));
	jw_close_str(w);
	jw_int(w, "", 7);
	jw_end(w);
}

static const char everything[] =
	"{\"text\":\"a\\\"\\n\xc3\xa9\xef\xbf\xbd\\u0001 0123456789abcdef0123456789\","
	"\"many\":[-9223372036854775808,0.1,true,false,null,[],{}],\"raw\":{\"x\":[]},"
	"\"b\\n64\":\"YWJjZA==\",\"pieces\":\"one\\ttwo\",\"\":7}";

static void values_get_their_commas_and_quotes(void **unused)
{
	AUTO_BUF b = { .max = ROOM };
	AUTO_ARENA a = { .max = ROOM };
	struct jw w = jw_to(&b);
	const struct json *v;
	struct err e;

	(void)unused;
	write_everything(&w);
	assert_false(b.failed);
	assert_str(buf_str(&b), everything);
	assert_false(jw_is_open(&w));
	assert_int_equal(json_parse(buf_str(&b), &a, &v, &e), 0);
}

/* At its exact length a text succeeds; one byte less, wherever that hits, is a failure. The memory
 * ends where the maximum is, so a write after it would crash. */
static void the_maximum_holds_at_every_place(void **unused)
{
	const size_t length = sizeof everything - 1;

	(void)unused;
	for (size_t max = 0; max <= length; max++) {
		char room[sizeof everything] = { 0 };
		const struct str memory = guarded((struct str){ room, max });
		struct buf b = buf_over((char *)(uintptr_t)memory.p, max);
		struct jw w = jw_to(&b);
		write_everything(&w);
		assert_int_equal(b.failed, max < length);
		assert_true(b.n <= max);
		/* What was written before the failure is the start of the whole. */
		assert_memory_equal(b.p, everything, b.n);
		guarded_free(memory);
	}
}

static const struct {
	struct str s;
	const char *want;
} escaped[] = {
	{ T(""), "" },
	{ T("a"), "a" },
	{ T("\""), "\\\"" },
	{ T("\\"), "\\\\" },
	{ T("/"), "/" },
	{ T("\b\t\n\f\r"), "\\b\\t\\n\\f\\r" },
	{ T("\0\x01\x0b\x0e\x1f"), "\\u0000\\u0001\\u000b\\u000e\\u001f" },
	{ T("\x7f"), "\x7f" },
	{ T("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ T("0123456789abcde\xc3\xa9"), "0123456789abcde\xc3\xa9" }, /* across a block */
	{ T("0123456789abcd\xf0\x9f\x98\x80"), "0123456789abcd\xf0\x9f\x98\x80" },
	{ T("\xf0\x80\x80\x41"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
				 "A" },
	{ T("x\xe2\x82"), "x\xef\xbf\xbd" },
	{ T("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd" },
	{ T("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
};

static void strings_are_escaped(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(escaped); i++) {
		const size_t length = strlen(escaped[i].want);
		const struct str s = guarded(escaped[i].s);
		for (size_t max = length ? length - 1 : 0; max < length + 200; max++) {
			AUTO_BUF b = { .max = max };
			jw_escape(&b, s);
			assert_int_equal(b.failed, max < length);
			assert_true(b.n <= max);
			if (!b.failed)
				assert_str(buf_str(&b), escaped[i].want);
		}
		guarded_free(s);
	}
}

/* However much is special and however long the text is, each byte is escaped as it is alone. */
static void blocks_are_escaped_as_their_bytes(void **unused)
{
	static const char *const alphabets[] = { "y\n",		"y\n\t\r\b\"\\", "\n",
						 "\"\\\n",	"ab\n\f",	 "yyyyyyy\n",
						 "a\n\x01\x1f", "\b\"\t\\\r\n/ " };
	uint32_t seed = 1;

	(void)unused;
	for (size_t a = 0; a < ARRAY_LEN(alphabets); a++) {
		for (size_t n = 0; n < 400; n += 13) {
			AUTO_BUF whole = { .max = 1 << 20 }, alone = { .max = 1 << 20 };
			char text[400];
			for (size_t i = 0; i < n; i++) {
				seed = seed * 1103515245 + 12345;
				text[i] = alphabets[a][(seed >> 16) % strlen(alphabets[a])];
			}
			const struct str s = guarded((struct str){ text, n });
			jw_escape(&whole, s);
			guarded_free(s);
			for (size_t i = 0; i < n; i++)
				jw_escape(&alone, (struct str){ text + i, 1 });
			assert_true(str_eq(buf_str(&whole), buf_str(&alone)));
		}
	}
}

/* Every byte value, at every place of a block and after it, comes back through the reader. */
static void every_byte_comes_back(void **unused)
{
	(void)unused;
	for (unsigned c = 0; c < 256; c++) {
		for (size_t at = 0; at < 70; at++) {
			AUTO_BUF b = { .max = ROOM };
			AUTO_ARENA a = { .max = ROOM };
			struct jw w = jw_to(&b);
			char text[70];
			const struct json *v;
			struct err e;
			memset(text, 'x', sizeof text);
			text[at] = (char)c;
			const struct str s = guarded((struct str){ text, sizeof text });
			jw_str(&w, NULL, s);
			assert_int_equal(b.n, jw_escaped_length(s) + 2);
			assert_int_equal(json_parse(buf_str(&b), &a, &v, &e), 0);
			assert_int_equal(v->string.n, utf8_replaced_length(s));
			if (c < 0x80)
				assert_true(str_eq(v->string, s));
			else
				assert_memory_equal(v->string.p + at, UTF8_REPLACEMENT, 3);
			guarded_free(s);
		}
	}
}

static void the_worst_input_fits_its_exact_length(void **unused)
{
	static char zeros[1000];

	(void)unused;
	for (size_t n = 0; n < sizeof zeros; n += 37) {
		AUTO_BUF exact = { .max = n * 6 }, less = { .max = n ? n * 6 - 1 : 0 };
		jw_escape(&exact, (struct str){ zeros, n });
		assert_false(exact.failed);
		assert_int_equal(exact.n, n * 6);
		jw_escape(&less, (struct str){ zeros, n });
		assert_int_equal(less.failed, n > 0);
	}
}

static void a_failed_buf_stays_as_it_is(void **unused)
{
	AUTO_BUF b = { .max = 10 };
	struct jw w = jw_to(&b);

	(void)unused;
	b.failed = true;
	write_everything(&w);
	assert_true(b.failed);
	assert_int_equal(b.n, 0);
}

static const struct {
	double value;
	const char *want;
} numbers[] = {
	{ 0, "0" },
	{ -0.0, "-0" },
	{ 1, "1" },
	{ -1, "-1" },
	{ 10, "10" },
	{ 100, "100" },
	{ 1500, "1500" },
	{ -120000, "-120000" },
	{ 0.1, "0.1" },
	{ 0.5, "0.5" },
	{ 1.5, "1.5" },
	{ 120.5, "120.5" },
	{ 0.1 + 0.2, "0.30000000000000004" },
	{ 1.0 / 3, "0.3333333333333333" },
	{ 123456789012345, "123456789012345" },
	{ 9007199254740991, "9007199254740991" },
	{ 1e20, "1e+20" },
	{ 1e-7, "1e-07" },
	{ DBL_MAX, "1.7976931348623157e+308" },
	{ DBL_MIN, "2.2250738585072014e-308" },
	{ 5e-324, "5e-324" },
	{ INFINITY, "null" },
	{ -INFINITY, "null" },
	{ NAN, "null" },
};

static void numbers_are_short_and_read_back(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		AUTO_BUF b = { .max = ROOM };
		AUTO_ARENA a = { .max = ROOM };
		struct jw w = jw_to(&b);
		const struct json *v;
		struct err e;
		jw_num(&w, NULL, numbers[i].value);
		assert_str(buf_str(&b), numbers[i].want);
		assert_int_equal(json_parse(buf_str(&b), &a, &v, &e), 0);
		if (isfinite(numbers[i].value))
			assert_true(v->number == numbers[i].value);
		else
			assert_int_equal(v->type, JSON_NULL);
	}
}

static void base64_has_its_padding(void **unused)
{
	static const struct {
		struct str bytes;
		const char *want;
	} cases[] = {
		{ T(""), "\"\"" },
		{ T("f"), "\"Zg==\"" },
		{ T("fo"), "\"Zm8=\"" },
		{ T("foo"), "\"Zm9v\"" },
		{ T("foob"), "\"Zm9vYg==\"" },
		{ T("fooba"), "\"Zm9vYmE=\"" },
		{ T("foobar"), "\"Zm9vYmFy\"" },
		{ T("\0"), "\"AA==\"" },
		{ T("\xff\xff\xff\xfb\xef\xbe"), "\"////++++\"" },
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const size_t length = strlen(cases[i].want);
		const struct str s = guarded(cases[i].bytes);
		AUTO_BUF b = { .max = length }, less = { .max = length - 1 };
		struct jw w = jw_to(&b), failing = jw_to(&less);
		jw_base64(&w, NULL, s);
		assert_str(buf_str(&b), cases[i].want);
		jw_base64(&failing, NULL, s);
		assert_true(less.failed);
		guarded_free(s);
	}
}

struct seen {
	int count;
	char last[32];
};

static struct str hide(void *arg, struct str value)
{
	struct seen *seen = arg;

	seen->count++;
	(void)snprintf(seen->last, sizeof seen->last, "<%.*s>", STR_FMT(value));
	return str_of(seen->last);
}

static void the_filter_sees_every_string_value(void **unused)
{
	AUTO_BUF b = { .max = ROOM };
	struct seen seen = { 0 };
	AUTO_BUF pieces = { .max = ROOM };
	const struct jw_filter filter = { hide, &seen, &pieces };
	struct jw w = jw_to(&b);

	(void)unused;
	jw_set_filter(&w, &filter);
	jw_object(&w, NULL);
	jw_open_str(&w, "p");
	jw_piece(&w, STR("in "));
	jw_piece(&w, STR("two"));
	jw_close_str(&w);
	jw_str(&w, "a", STR("one\n"));
	jw_array(&w, "b");
	jw_str(&w, NULL, STR("two"));
	jw_str(&w, NULL, STR(""));
	jw_end(&w);
	jw_int(&w, "c", 1);
	jw_end(&w);
	assert_int_equal(seen.count, 4);
	assert_str(buf_str(&b),
		   "{\"p\":\"<in two>\",\"a\":\"<one\\n>\",\"b\":[\"<two>\",\"<>\"],\"c\":1}");
}

/* What only a bug in the caller could do ends the program; in a child, so that it ends alone. */
static bool aborts(void (*misuse)(struct jw *w))
{
	static const struct jw_filter filter = { hide, NULL, NULL };
	int status;
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		const struct rlimit none = { 0, 0 };
		struct buf b = { .max = ROOM };
		struct jw w = jw_to(&b);
		jw_set_filter(&w, &filter);
		(void)setrlimit(RLIMIT_CORE, &none);
		(void)close(STDERR_FILENO);
		(void)signal(SIGABRT, SIG_DFL);
		misuse(&w);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void end_too_often(struct jw *w)
{
	jw_end(w);
}

static void forget_the_name(struct jw *w)
{
	jw_object(w, NULL);
	jw_int(w, NULL, 1);
}

static void name_an_item(struct jw *w)
{
	jw_array(w, NULL);
	jw_int(w, "one", 1);
}

static void open_levels(struct jw *w, int levels)
{
	for (int i = 0; i < levels; i++)
		jw_array(w, NULL);
}

static void open_the_deepest(struct jw *w)
{
	open_levels(w, 64);
}

static void open_one_too_deep(struct jw *w)
{
	open_levels(w, 65);
}

static void misuse_is_noticed(void **unused)
{
	(void)unused;
	assert_true(aborts(end_too_often));
	assert_true(aborts(forget_the_name));
	assert_true(aborts(name_an_item));
	assert_false(aborts(open_the_deepest));
	assert_true(aborts(open_one_too_deep));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_get_their_commas_and_quotes),
		cmocka_unit_test(the_maximum_holds_at_every_place),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(blocks_are_escaped_as_their_bytes),
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(the_worst_input_fits_its_exact_length),
		cmocka_unit_test(a_failed_buf_stays_as_it_is),
		cmocka_unit_test(numbers_are_short_and_read_back),
		cmocka_unit_test(base64_has_its_padding),
		cmocka_unit_test(the_filter_sees_every_string_value),
		cmocka_unit_test(misuse_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
