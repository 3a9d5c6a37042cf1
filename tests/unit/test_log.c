/* SPDX-License-Identifier: MIT */
/* log: lines are whole, parse, and are harmless to a terminal. */

#include "unit.h"

#include "base/log.h"
#include "base/own.h"
#include "base/utf8.h"
#include "capture.h"

static void a_line_is_written_at_once_before_the_start(void **unused)
{
	AUTO_BUF b = { .max = ROOM };
	struct str first, second, rest;

	(void)unused;
	struct capture c = capture_open(0);
	log_configure(LOG_INFO, LOG_TEXT);
	log_event(LOG_INFO, "listening", LOG_STR("socket", STR("/run/s")), LOG_INT("mode", -432),
		  LOG_BOOL("up", true), LOG_BOOL("down", false));
	log_event(LOG_ERROR, "alone", LOG_STR("s", STR("a\x7f\xc2\x9b\xc2\xa0 z")));
	capture_close(&c, &b);
	assert_true(str_cut(buf_str(&b), '\n', &first, &rest));
	assert_true(str_cut(rest, '\n', &second, &rest));
	assert_int_equal(rest.n, 0);
	assert_true(str_ends(first, STR("Z info  listening socket=/run/s mode=-432 up=true "
					"down=false")));
	assert_true(str_ends(second, STR("Z error alone s=a\\u007f\\u009b\xc2\xa0 z")));
}

static void the_json_form_parses(void **unused)
{
	static const char *const levels[] = { "debug", "info", "warn", "error" };
	AUTO_BUF b = { .max = ROOM };
	AUTO_ARENA a = { .max = ROOM };
	struct str line, rest;

	(void)unused;
	struct capture c = capture_open(0);
	log_configure(LOG_DEBUG, LOG_JSON);
	for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
		log_event((enum log_level)level, "a \"sentence\"", LOG_STR("s", STR("x\n\0\xff")),
			  LOG_INT("i", INT64_MIN), LOG_BOOL("b", true));
	capture_close(&c, &b);
	rest = buf_str(&b);
	for (int level = LOG_DEBUG; level <= LOG_ERROR; level++) {
		int y, mo, d, h, mi, s, ms, end = 0;
		assert_true(str_cut(rest, '\n', &line, &rest));
		const struct json *v = parse_line(line, &a, "a \"sentence\"");
		assert_str(json_get(v, STR("level"))->string, levels[level]);
		assert_true(str_eq(json_get(v, STR("s"))->string, STR("x\n\0" UTF8_REPLACEMENT)));
		assert_true(json_get(v, STR("i"))->integer == INT64_MIN);
		assert_true(json_get(v, STR("b"))->boolean);
		const struct str time = arena_dup(&a, json_get(v, STR("time"))->string);
		assert_int_equal(sscanf(time.p, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &y, &mo, &d, &h,
					&mi, &s, &ms, &end),
				 7);
		assert_int_equal(end, time.n);
	}
	assert_int_equal(rest.n, 0);
}

static void lines_below_the_level_are_not_written(void **unused)
{
	(void)unused;
	for (int least = LOG_DEBUG; least <= LOG_ERROR; least++) {
		AUTO_BUF b = { .max = ROOM };
		struct capture c = capture_open(0);
		log_configure((enum log_level)least, LOG_TEXT);
		for (int level = LOG_DEBUG; level <= LOG_ERROR; level++)
			log_event((enum log_level)level, "line");
		capture_close(&c, &b);
		size_t lines = 0;
		for (size_t i = 0; i < b.n; i++)
			lines += b.p[i] == '\n';
		assert_int_equal(lines, LOG_ERROR - least + 1);
	}
}

/* Every byte and every C1 control, in a value and in the sentence. */
static void the_text_form_has_no_control_characters(void **unused)
{
	AUTO_BUF b = { .max = ROOM };
	char bytes[512], msg[512];
	size_t n = 0;

	(void)unused;
	for (unsigned c = 0; c < 256; c++)
		bytes[n++] = (char)c;
	for (unsigned c = 0x80; c < 0xa0; c++) {
		bytes[n++] = '\xc2';
		bytes[n++] = (char)c;
	}
	memcpy(msg, bytes + 1, n - 1);
	msg[n - 1] = '\0';
	struct capture c = capture_open(0);
	log_configure(LOG_INFO, LOG_TEXT);
	log_event(LOG_INFO, msg, LOG_STR("bytes", ((struct str){ bytes, n })));
	capture_close(&c, &b);
	assert_true(utf8_valid(buf_str(&b)));
	for (size_t i = 0; i < b.n; i++) {
		const unsigned char byte = (unsigned char)b.p[i];
		assert_true(byte >= 0x20 || i == b.n - 1);
		assert_int_not_equal(byte, 0x7f);
		if (byte == 0xc2)
			assert_true((unsigned char)b.p[i + 1] >= 0xa0);
	}
	assert_int_equal(b.p[b.n - 1], '\n');
	assert_true(str_find(buf_str(&b), STR("\\u007f")) > 0);
	assert_true(str_find(buf_str(&b), STR("\\u009b")) > 0);
}

static void a_line_too_long_keeps_its_sentence(void **unused)
{
	static const enum log_form forms[] = { LOG_TEXT, LOG_JSON };
	static char many[64 << 10];

	(void)unused;
	memset(many, 'x', sizeof many);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		AUTO_BUF b = { .max = ROOM };
		AUTO_ARENA a = { .max = ROOM };
		struct str first, second, rest;
		struct capture c = capture_open(0);
		log_configure(LOG_INFO, forms[i]);
		log_event(LOG_INFO, "long", LOG_STR("s", ((struct str){ many, sizeof many })));
		log_event(LOG_INFO, "next");
		capture_close(&c, &b);
		assert_true(str_cut(buf_str(&b), '\n', &first, &rest));
		assert_true(str_cut(rest, '\n', &second, &rest));
		assert_int_equal(rest.n, 0);
		if (forms[i] == LOG_TEXT) {
			assert_true(str_ends(first, STR(" long cut=true")));
			assert_true(str_ends(second, STR(" next")));
			continue;
		}
		assert_true(json_get(parse_line(first, &a, "long"), STR("cut"))->boolean);
		(void)parse_line(second, &a, "next");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_written_at_once_before_the_start),
		cmocka_unit_test(the_json_form_parses),
		cmocka_unit_test(lines_below_the_level_are_not_written),
		cmocka_unit_test(the_text_form_has_no_control_characters),
		cmocka_unit_test(a_line_too_long_keeps_its_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
