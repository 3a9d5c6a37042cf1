/* SPDX-License-Identifier: MIT */
/* Lines that vouch for each other: known codes, and what becomes of every way to tamper with them.
 */

#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "service/chain.h"

static void known_codes(void **state)
{
	/* RFC 4231: test cases 1, 2, 3 and 6. */
	static char key1[20], key3[20], data3[50], key6[131];
	const struct {
		struct str key, text;
		const char *mac;
	} cases[] = {
		{ { key1, sizeof key1 },
		  STR("Hi There"),
		  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
		{ STR("Jefe"), STR("what do ya want for nothing?"),
		  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
		{ { key3, sizeof key3 },
		  { data3, sizeof data3 },
		  "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
		{ { key6, sizeof key6 },
		  STR("Test Using Larger Than Block-Size Key - Hash Key First"),
		  "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
	};
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_TEXT];

	(void)state;
	memset(key1, 0x0b, sizeof key1);
	memset(key3, 0xaa, sizeof key3);
	memset(data3, 0xdd, sizeof data3);
	memset(key6, 0xaa, sizeof key6);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		chain_hmac(cases[i].key, str_upto(cases[i].text, 3), str_from(cases[i].text, 3),
			   digest);
		assert_string_equal(sha256_text(digest, hex).p, cases[i].mac);
	}
}

/* So many lines. */
static void write_lines(struct buf *out, struct chain *c, int count)
{
	for (int i = 0; i < count; i++) {
		AUTO_BUF line = { .max = 1024 };
		chain_open(c, &line);
		buf_addf(&line, ",\"what\":\"line %d\"", i + 1);
		chain_seal(c, &line);
		chain_take(c, buf_str(&line));
		buf_add(out, buf_str(&line));
	}
}

struct said {
	char text[512];
};

static void note(void *arg, const struct chain_finding *f)
{
	static const char *const words[] = { "changed", "missing", "put in", "moved", "cut" };
	struct said *s = arg;
	const size_t n = strlen(s->text);

	if (f->fault == CHAIN_MISSING)
		(void)snprintf(s->text + n, sizeof s->text - n, "%lld-%lld missing before %lld; ",
			       (long long)f->first, (long long)f->last, (long long)f->line);
	else
		(void)snprintf(s->text + n, sizeof s->text - n, "%lld %s; ", (long long)f->line,
			       words[f->fault]);
}

static struct chain_report check(struct str key, struct str text, struct said *said)
{
	const struct str copy = guarded(text);
	struct chain c = chain_begin(key);
	struct chain_report report;
	struct err e;

	*said = (struct said){ "" };
	assert_int_equal(chain_check(&c, copy, note, said, &report, &e), 0);
	return report;
}

/* The n-th line, from 1, with its newline. */
static struct str line_of(struct str text, int n)
{
	struct str line = STR("");

	while (n-- > 0)
		(void)str_cut(text, '\n', &line, &text);
	line.n++;
	return line;
}

static void tampering_is_named_by_line(void **state)
{
	/* Which lines stand in the file; 'x' after a number: its content is changed, 'm': its code.
	 */
	static const struct {
		const char *lines, *said;
	} cases[] = {
		{ "1 2 3 4 5 6", "" },
		{ "1 2x 3 4 5 6", "2 changed; " },
		{ "1x 2 3 4 5 6", "1 changed; " },
		{ "1 2 3 4 5 6x", "6 changed; " },
		{ "1 2m 3 4 5 6", "2 changed; " },
		{ "1 2 3 4 5 6m", "6 changed; " },
		{ "1 2x 3x 4 5 6", "2 changed; 3 changed; " },
		{ "1 2 4 5 6", "3-3 missing before 3; " },
		{ "1 2 5 6", "3-4 missing before 3; " },
		{ "2 3 4 5 6", "1-1 missing before 1; " },
		{ "6", "1-5 missing before 1; " },
		{ "1 2 3", "" }, /* the end: what is there fits */
		{ "1 2 2 3 4 5 6", "3 put in; " },
		{ "1 2 3 4 2 5 6", "5 put in; " },
		{ "1 2 0 3 4 5 6", "3 put in; " },
		{ "1 3 2 4 5 6", "2 moved; " },
		{ "1 2 3 6 4 5", "4 moved; " },
		{ "1 5 3 4 2 6", "2 moved; 3 moved; 4 moved; " },
		{ "1 2 3 4 5 6 c", "7 cut; " },
		{ "1 2x 4 5 6", "2 changed; 3-3 missing before 3; " },
	};
	AUTO_BUF good = { .max = 64 << 10 };

	(void)state;
	for (int keyed = 0; keyed < 2; keyed++) {
		const struct str key = keyed ? STR("a key of some bytes") : STR("");
		struct chain c = chain_begin(key);
		buf_reset(&good, SIZE_MAX);
		write_lines(&good, &c, 6);
		for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
			AUTO_BUF text = { .max = 64 << 10 };
			struct said said;
			for (const char *p = cases[i].lines; *p; p++) {
				if (*p >= '1' && *p <= '6')
					buf_add(&text, line_of(buf_str(&good), *p - '0'));
				else if (*p == '0')
					buf_add(&text, STR("{\"seq\":3,\"forged\":1}\n"));
				else if (*p == 'c')
					buf_add(&text, STR("{\"seq\":7,\"wh"));
				else if (*p == 'x')
					text.p[text.n - 80] ^= 1;
				else if (*p == 'm')
					text.p[text.n - 10] =
						text.p[text.n - 10] == '0' ? '1' : '0';
			}
			(void)check(key, buf_str(&text), &said);
			assert_string_equal(said.text, cases[i].said);
		}
	}
}

static void every_changed_byte_is_found(void **state)
{
	AUTO_BUF text = { .max = 64 << 10 };
	struct chain c = chain_begin(STR("key"));
	struct said said;

	(void)state;
	write_lines(&text, &c, 4);
	for (size_t i = 0; i < text.n; i++)
		for (int bit = 0; bit < 8; bit++) {
			text.p[i] ^= (char)(1 << bit);
			const struct chain_report r = check(STR("key"), buf_str(&text), &said);
			text.p[i] ^= (char)(1 << bit);
			if (r.faults == 0)
				fail_msg("bit %d of byte %zu", bit, i);
		}
	assert_int_equal(check(STR("key"), buf_str(&text), &said).faults, 0);
	assert_int_equal(check(STR("another key"), buf_str(&text), &said).good, 0);
	assert_int_equal(check(STR(""), buf_str(&text), &said).good, 0);
}

static void it_goes_on_in_another_text(void **state)
{
	AUTO_BUF first = { .max = 64 << 10 };
	AUTO_BUF second = { .max = 64 << 10 };
	struct chain c = chain_begin(STR("key")), again = chain_begin(STR("key"));
	struct chain_report report;
	struct said said = { "" };
	struct err e;

	(void)state;
	write_lines(&first, &c, 3);
	assert_true(chain_resume(&again, buf_str(&first)));
	assert_int_equal(again.seq, 3);
	AUTO_BUF line = { .max = 1024 };
	chain_open(&again, &line);
	buf_addf(&line, ",\"previous\":\"%s\"", again.mac);
	chain_seal(&again, &line);
	chain_take(&again, buf_str(&line));
	buf_add(&second, buf_str(&line));
	write_lines(&second, &again, 2);
	/* Both. */
	c = chain_begin(STR("key"));
	assert_int_equal(chain_check(&c, buf_str(&first), note, &said, &report, &e), 0);
	assert_int_equal(chain_check(&c, buf_str(&second), note, &said, &report, &e), 0);
	assert_string_equal(said.text, "");
	assert_false(report.continued);
	assert_int_equal(c.seq, 6);
	/* The second alone, and without its first line. */
	assert_true(check(STR("key"), buf_str(&second), &said).continued);
	assert_string_equal(said.text, "");
	(void)check(STR("key"), str_from(buf_str(&second), line.n), &said);
	assert_string_equal(said.text, "1-4 missing before 1; ");
	/* What is not a chain cannot be gone on from. */
	assert_false(chain_resume(&again, STR("")));
	assert_false(chain_resume(&again, STR("no line")));
	assert_false(chain_resume(&again, STR("{\"seq\":1}\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_codes),
		cmocka_unit_test(tampering_is_named_by_line),
		cmocka_unit_test(every_changed_byte_is_found),
		cmocka_unit_test(it_goes_on_in_another_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
