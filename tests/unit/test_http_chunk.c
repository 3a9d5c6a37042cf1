/* SPDX-License-Identifier: MIT */
/* Chunked bodies: data and verdict, however the bytes come. */

#include "unit.h"

#include "net/http_parse.h"
#include "net/limits.h"

/* What became of a body: its data, how the last call ended, and how many bytes it took. */
struct outcome {
	char data[1024];
	size_t n, used;
	int rc, status;
};

/* The body in pieces of `step` bytes, each call seeing only what is not used yet, at the end of
 * memory. */
static struct outcome decode(struct str text, size_t step)
{
	struct http_chunks chunks = { 0 };
	struct outcome o = { 0 };

	for (size_t have = 0; o.rc >= 0 && o.rc != HTTP_CHUNK_END;) {
		const struct str in = guarded(str_from(str_upto(text, have), o.used));
		struct http_refusal why = { 0 };
		struct str data = { NULL, 0 };
		size_t used = 0;
		o.rc = http_chunk_next(&chunks, in, &data, &used, &why);
		o.status = why.status;
		if (o.rc == HTTP_CHUNK_DATA) {
			assert_true(data.n > 0 && data.p >= in.p && data.p + data.n == in.p + used);
			assert_true(o.n + data.n <= sizeof o.data);
			memcpy(o.data + o.n, data.p, data.n);
			o.n += data.n;
		}
		guarded_free(in);
		if (o.rc >= 0)
			o.used += used;
		if (o.rc == HTTP_CHUNK_MORE && have == text.n)
			break;
		if (o.rc == HTTP_CHUNK_MORE)
			have = have + step < text.n ? have + step : text.n;
	}
	return o;
}

static struct outcome decode_both(struct str text)
{
	const struct outcome whole = decode(text, text.n), slow = decode(text, 1);

	if (whole.rc != slow.rc || whole.status != slow.status || whole.n != slow.n ||
	    memcmp(whole.data, slow.data, whole.n) != 0)
		fail_msg("%.*s: at once %d %d, byte by byte %d %d", STR_FMT(text), whole.rc,
			 whole.status, slow.rc, slow.status);
	if (whole.rc == HTTP_CHUNK_END)
		assert_int_equal(whole.used, slow.used);
	return whole;
}

struct good {
	struct str text;
	const char *data;
	size_t rest; /* bytes of the next message after it */
};

static const struct good good[] = {
	{ STR("0\r\n\r\n"), "", 0 },
	{ STR("5\r\nhello\r\n0\r\n\r\n"), "hello", 0 },
	{ STR("5\r\nhello\r\n0\r\n\r\nGET /"), "hello", 5 },
	{ STR("5\r\nhello\r\n1\r\n!\r\n000\r\n\r\n"), "hello!", 0 },
	{ STR("2\r\n\r\n\r\n0\r\n\r\n"), "\r\n", 0 },
	{ STR("000000000000001\r\nx\r\n0\r\n\r\n"), "x", 0 },
	{ STR("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789", 0 },
	{ STR("a\r\n0123456789\r\n0\r\n\r\n"), "0123456789", 0 },
	{ STR("1;a\r\nx\r\n0;b=c;d=\"e \\\"\\\\;\tf\";g\r\n\r\n"), "x", 0 },
	{ STR("1\r\nx\r\n0\r\nA: b\r\nContent-Type: 9\r\nC:\r\n\r\n"), "x", 0 },
};

static void data_comes_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		const struct outcome o = decode_both(good[i].text);
		if (o.rc != HTTP_CHUNK_END)
			fail_msg("%.*s: %d %d", STR_FMT(good[i].text), o.rc, o.status);
		assert_str((struct str){ o.data, o.n }, good[i].data);
		assert_int_equal(good[i].text.n - o.used, good[i].rest);
	}
}

static const struct str bad[] = {
	STR("\r\n"),
	STR("x\r\n"),
	STR("+5\r\nhello\r\n"),
	STR("-5\r\nhello\r\n"),
	STR(" 5\r\nhello\r\n"),
	STR("5 \r\nhello\r\n"),
	STR("5\t\r\nhello\r\n"),
	STR("0x5\r\nhello\r\n"),
	STR("5h\r\nhello\r\n"),
	STR("5,5\r\nhello\r\n"),
	STR("5_0\r\nhello\r\n"),
	STR("0000000000000005\r\nhello\r\n"),
	STR("1000000000000000\r\n"),
	STR("ffffffffffffffff\r\n"),
	STR("10000000000000005\r\nhello\r\n"),
	STR("5\nhello\r\n"),
	STR("5\rhello\r\n"),
	STR("5\r\r\nhello"),
	STR("5\0\r\nhello\r\n"),
	STR("5\r\nhello0\r\n"),
	STR("5\r\nhello\n0\r\n"),
	STR("5\r\nhello\r0\r\n"),
	STR("5\r\nhello!\r\n"),
	STR("5;\r\nhello\r\n"),
	STR("5;;a\r\nhello\r\n"),
	STR("5; a\r\nhello\r\n"),
	STR("5 ;a\r\nhello\r\n"),
	STR("5;a=\r\nhello\r\n"),
	STR("5;a=b c\r\nhello\r\n"),
	STR("5;a=\"b\r\nhello\r\n"),
	STR("5;a=\"b\\\"\r\nhello\r\n"),
	STR("5;a=\"\r\n\"\r\nhello\r\n"),
	STR("5;a=\"\n\"\r\nhello\r\n"),
	STR("5;a\nhello\r\n"),
	STR("0\r\n A: b\r\n\r\n"),
	STR("0\r\nA: b\r\n c\r\n\r\n"),
	STR("0\r\nA : b\r\n\r\n"),
	STR("0\r\nA\r\n\r\n"),
	STR("0\r\nA: b\n\r\n"),
	STR("0\r\nA: \0\r\n\r\n"),
	STR("0\r\ncontent-length: 5\r\n\r\n"),
	STR("0\r\nTransfer-Encoding: chunked\r\n\r\n"),
	STR("0\r\nHost: h\r\n\r\n"),
	STR("0\n\r\n"),
	STR("0\r\n\n"),
	STR("0\r\n\rX"),
};

static void malformed_bodies_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const struct outcome o = decode_both(bad[i]);
		if (o.rc != -1 || o.status != 400)
			fail_msg("%.*s: %d %d", STR_FMT(bad[i]), o.rc, o.status);
	}
}

static void unfinished_bodies_wait(void **state)
{
	const struct str text = STR("5;a=\"b\"\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n");

	(void)state;
	for (size_t n = 0; n < text.n; n++)
		assert_int_equal(decode_both(str_upto(text, n)).rc, HTTP_CHUNK_MORE);
}

/* Feed the text; the last verdict and its status. */
static int verdict(struct http_chunks *chunks, struct str in, int *status)
{
	struct http_refusal why = { 0 };
	struct str data;
	size_t used;
	int rc;

	while ((rc = http_chunk_next(chunks, in, &data, &used, &why)) == HTTP_CHUNK_DATA)
		in = str_from(in, used);
	*status = why.status;
	return rc;
}

static void extensions_are_limited(void **state)
{
	char line[LIMIT_HTTP_CHUNK_LINE + 8];
	struct http_chunks chunks = { 0 }, longer = { 0 };
	int status, rc = 0, rounds = 0;

	(void)state;
	memset(line, 'a', sizeof line);
	memcpy(line, "1;", 2);
	assert_int_equal(verdict(&longer, (struct str){ line, LIMIT_HTTP_CHUNK_LINE }, &status),
			 -1);
	assert_int_equal(status, 400);
	memcpy(line + LIMIT_HTTP_CHUNK_LINE - 2, "\r\nx\r\n", 5);
	while (rc == 0 && rounds++ < LIMIT_HTTP_EXTENSIONS)
		rc = verdict(&chunks, (struct str){ line, LIMIT_HTTP_CHUNK_LINE + 3 }, &status);
	assert_int_equal(rc, -1);
	assert_int_equal(status, 413);
	assert_int_equal(rounds, LIMIT_HTTP_EXTENSIONS / (LIMIT_HTTP_CHUNK_LINE - 3) + 1);
}

static void trailers_are_limited(void **state)
{
	struct http_chunks chunks = { 0 };
	int status, rc, rounds = 0;

	(void)state;
	rc = verdict(&chunks, STR("0\r\n"), &status);
	while (rc == 0 && rounds++ < LIMIT_HTTP_TRAILERS)
		rc = verdict(&chunks, STR("A: bcd\r\n"), &status);
	assert_int_equal(rc, -1);
	assert_int_equal(status, 431);
	assert_int_equal(rounds, LIMIT_HTTP_TRAILERS / 8);
}

static void the_largest_size_is_no_overflow(void **state)
{
	struct http_chunks chunks = { 0 };
	int status;

	(void)state;
	assert_int_equal(verdict(&chunks, STR("fffffffffffffff\r\nabc"), &status), HTTP_CHUNK_MORE);
	assert_true(chunks.left == (INT64_C(1) << 60) - 4);
}

static void the_end_stays_the_end(void **state)
{
	struct http_chunks chunks = { 0 };
	int status;

	(void)state;
	assert_int_equal(verdict(&chunks, STR("0\r\n\r\n"), &status), HTTP_CHUNK_END);
	assert_int_equal(verdict(&chunks, STR("5\r\n"), &status), HTTP_CHUNK_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_comes_out),
		cmocka_unit_test(malformed_bodies_are_refused),
		cmocka_unit_test(unfinished_bodies_wait),
		cmocka_unit_test(extensions_are_limited),
		cmocka_unit_test(trailers_are_limited),
		cmocka_unit_test(the_largest_size_is_no_overflow),
		cmocka_unit_test(the_end_stays_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
