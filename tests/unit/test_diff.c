/* SPDX-License-Identifier: MIT */
/* The diff of two texts: exactly as the wire contract shows it, as short as can be, and true. */

#include "unit.h"

#include <stdlib.h>

#include "workspace/diff.h"

enum { MOST = 60 };

static void diff(struct str old, struct str new, struct buf *out)
{
	const struct str x = guarded(old), y = guarded(new);
	AUTO_ARENA a = { .max = 64 << 20 };
	struct err e;

	assert_int_equal(diff_lines(x, y, &a, out, &e), 0);
	guarded_free(x);
	guarded_free(y);
}

#define TEN "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

static const struct {
	const char *old, *new, *shown;
} displays[] = {
	{ "", "", "" },
	{ "", "a", "+1 a" },
	{ "a", "", "-1 a" },
	{ "a", "b", "-1 a\n+1 b" },
	{ "a", "a\n", "-1 a\n+1 a" },
	{ "a\n", "a\nb\n", " 1 a\n+2 b" },
	{ "a\nb\n", "b\n", "-1 a\n 2 b" },
	{ "a\nb\nc\n", "a\nx\ny\nc\n", " 1 a\n-2 b\n+2 x\n+3 y\n 3 c" },
	{ "\n\n", "\n", " 1 \n-2 " },
	/* The empty line after the last newline counts for the width. */
	{ TEN, TEN "10\n", "    ...\n  6 6\n  7 7\n  8 8\n  9 9\n+10 10" },
	{ TEN, "one\n2\n3\n4\n5\n6\n7\n8\n9\n",
	  "- 1 1\n+ 1 one\n  2 2\n  3 3\n  4 4\n  5 5\n    ..." },
	{ "1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\n5\n6\n7\nx",
	  "   ...\n 4 4\n 5 5\n 6 6\n 7 7\n-8 8\n+8 x" },
	/* Eight unchanged lines between two changes are shown, nine are not. */
	{ "a\n1\n2\n3\n4\n5\n6\n7\nb", "A\n1\n2\n3\n4\n5\n6\n7\nB",
	  "-1 a\n+1 A\n 2 1\n 3 2\n 4 3\n 5 4\n 6 5\n 7 6\n 8 7\n-9 b\n+9 B" },
	{ "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\nb", "A\n1\n2\n3\n4\n5\n6\n7\n8\n9\nB",
	  "- 1 a\n+ 1 A\n  2 1\n  3 2\n  4 3\n  5 4\n    ...\n  7 6\n  8 7\n  9 8\n 10 9\n"
	  "-11 b\n+11 B" },
	{ "a\r\nb\n", "a\nb\n", "-1 a\r\n+1 a\n 2 b" },
};

static void it_is_shown_as_the_contract_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(displays); i++) {
		AUTO_BUF out = { .max = 1 << 20 };
		diff(str_of(displays[i].old), str_of(displays[i].new), &out);
		assert_str(buf_str(&out), displays[i].shown);
	}
}

/* Random lines of few letters, so that many are alike. */
static size_t random_lines(char *lines, size_t most, int letters)
{
	const size_t n = (size_t)rand() % most;

	for (size_t i = 0; i < n; i++)
		lines[i] = (char)('a' + rand() % letters);
	return n;
}

static size_t join(const char *lines, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = lines[i];
		out[2 * i + 1] = '\n';
	}
	return 2 * n;
}

/* The textbook table. */
static size_t longest_common(const char *x, size_t n, const char *y, size_t m)
{
	size_t best[MOST + 1][MOST + 1] = { 0 };

	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++) {
			best[i][j] =
				best[i - 1][j] > best[i][j - 1] ? best[i - 1][j] : best[i][j - 1];
			if (x[i - 1] == y[j - 1])
				best[i][j] = best[i - 1][j - 1] + 1;
		}
	return best[n][m];
}

/* What a diff says: which old lines go, and which new lines come. */
struct said {
	bool removed[MOST + 1];
	char added[MOST + 1];
	size_t edits;
};

static void understand(struct str shown, const char *x, struct said *s)
{
	*s = (struct said){ 0 };
	while (shown.n) {
		struct str line;
		(void)str_cut(shown, '\n', &line, &shown);
		char *end;
		const size_t number = strtoul(line.p + 1, &end, 10);
		if (str_ends(line, STR("...")))
			continue;
		assert_true(*end == ' ' && number >= 1 && number <= MOST);
		const char text = end[1];
		if (line.p[0] != '+')
			assert_int_equal(x[number - 1], text);
		if (line.p[0] == '-')
			s->removed[number] = true;
		if (line.p[0] == '+')
			s->added[number] = text;
		s->edits += line.p[0] != ' ';
	}
}

static size_t apply(const struct said *s, const char *x, size_t n, char *out)
{
	size_t m = 0;

	for (size_t i = 1; i <= n || (m < MOST && s->added[m + 1]);) {
		if (m < MOST && s->added[m + 1])
			out[m] = s->added[m + 1], m++;
		else if (!s->removed[i++])
			out[m++] = x[i - 2];
	}
	return m;
}

static void it_is_true_and_the_shortest(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 4000; round++) {
		char x[MOST], y[MOST], old[2 * MOST], new[2 * MOST], made[2 * MOST];
		const int letters = 1 + rand() % 5;
		const size_t n = random_lines(x, MOST, letters), m = random_lines(y, MOST, letters);
		AUTO_BUF out = { .max = 1 << 20 };
		struct said said;

		diff((struct str){ old, join(x, n, old) }, (struct str){ new, join(y, m, new) },
		     &out);
		buf_addc(&out, '\n'); /* strtoul needs an end */
		understand((struct str){ out.p, out.n - 1 }, x, &said);
		assert_int_equal(said.edits, n + m - 2 * longest_common(x, n, y, m));
		assert_int_equal(apply(&said, x, n, made), m);
		assert_memory_equal(made, y, m);
	}
}

static void counting_is_as_exact_as_the_diff(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < 3000; round++) {
		char x[MOST], y[MOST], old[2 * MOST], new[2 * MOST];
		const int letters = 1 + rand() % 20;
		const size_t n = random_lines(x, MOST, letters);
		size_t m = random_lines(y, MOST, letters);
		AUTO_BUF out = { .max = 1 << 20 };
		AUTO_ARENA a = { .max = 1 << 20 };
		struct diff_size counted;

		/* Often only some lines are different, and the last one has no newline. */
		if (round % 3 == 0) {
			memcpy(y, x, n);
			m = n;
			for (int i = rand() % 3; i > 0 && m; i--)
				y[(size_t)rand() % m] = 'z';
		}
		struct str was = { old, join(x, n, old) }, is = { new, join(y, m, new) };
		was.n -= was.n && rand() % 4 == 0;
		is.n -= is.n && rand() % 4 == 0;
		diff(was, is, &out);
		const struct diff_size shown = diff_size(buf_str(&out));
		assert_true(diff_count(was, is, &a, &counted));
		assert_int_equal(counted.added, shown.added);
		assert_int_equal(counted.removed, shown.removed);
	}
}

static void number_lines(struct buf *b, const char *word, int from, int to)
{
	for (int i = from; i < to; i++)
		buf_addf(b, "%s %d\n", word, i);
}

static size_t lines_with(struct str shown, char sign)
{
	size_t n = 0;

	for (struct str line; shown.n; n += line.n && line.p[0] == sign)
		(void)str_cut(shown, '\n', &line, &shown);
	return n;
}

static void thousands_of_edits_leave_the_equal_end_alone(void **state)
{
	static const struct {
		int old_middle, new_middle;
	} cases[] = { { 0, 3000 }, { 3000, 0 }, { 2500, 2500 }, { 1, 5000 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF x = { .max = 1 << 20 };
		AUTO_BUF y = { .max = 1 << 20 };
		AUTO_BUF out = { .max = 1 << 20 };
		number_lines(&x, "same", 0, 100);
		number_lines(&y, "same", 0, 100);
		number_lines(&x, "old", 0, cases[i].old_middle);
		number_lines(&y, "new", 0, cases[i].new_middle);
		number_lines(&x, "end", 0, 10000);
		number_lines(&y, "end", 0, 10000);
		diff(buf_str(&x), buf_str(&y), &out);
		assert_int_equal(lines_with(buf_str(&out), '-'), cases[i].old_middle);
		assert_int_equal(lines_with(buf_str(&out), '+'), cases[i].new_middle);
		/* Four around the change, and two gaps. */
		assert_int_equal(lines_with(buf_str(&out), ' '), 4 + 4 + 2);
	}
}

/* An empty text may have no place in memory. */
static void nothing_at_all_is_an_empty_text(void **state)
{
	const struct str none = { NULL, 0 };
	AUTO_ARENA a = { .max = 1 << 20 };
	AUTO_BUF out = { .max = 1 << 10 };
	struct diff_size size;
	struct err e;

	(void)state;
	assert_int_equal(diff_lines(none, STR("a"), &a, &out, &e), 0);
	assert_str(buf_str(&out), "+1 a");
	buf_reset(&out, out.max);
	assert_int_equal(diff_unified(STR("a\n"), none, &a, &out, &e), 0);
	assert_str(buf_str(&out), "@@ -1 +0,0 @@\n-a\n");
	buf_reset(&out, out.max);
	assert_int_equal(diff_lines(none, none, &a, &out, &e), 0);
	assert_int_equal(out.n, 0);
	assert_true(diff_count(none, STR("a\nb\n"), &a, &size));
	assert_int_equal(size.added, 2);
}

static void what_does_not_fit_is_an_error(void **state)
{
	AUTO_ARENA small = { .max = 64 };
	AUTO_ARENA a = { .max = 1 << 20 };
	AUTO_BUF out = { .max = 8 };
	struct err e;

	(void)state;
	assert_int_equal(diff_lines(STR("a\nb\n"), STR("a\nc\n"), &a, &out, &e), -1);
	assert_int_equal(e.code, ERR_FILE_TOO_LARGE);
	assert_int_equal(diff_lines(STR("a\nb\nc\nd\ne\nf\n"), STR("x"), &small, &out, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
}

/* Three hunks of one changed line each; the first and the last line are gaps. */
#define HUNK(n) " 1" n "1 a\n-1" n "2 b\n+1" n "2 B\n 1" n "3 c\n"
#define HUNKS	"     ...\n" HUNK("1") "     ...\n" HUNK("2") "     ...\n" HUNK("3") "     ..."

static void a_long_diff_is_cut_at_a_hunk(void **state)
{
	static const struct {
		int64_t lines, bytes, shown, lines_left, hunks_left;
	} rows[] = {
		{ 100, 1000, 16, 0, 0 }, { 16, 1000, 16, 0, 0 },
		{ 15, 1000, 11, 0, 1 },	 { 11, 1000, 11, 0, 1 },
		{ 10, 1000, 6, 0, 2 },	 { 6, 1000, 6, 0, 2 },
		{ 5, 1000, 5, 0, 2 },	 { 4, 1000, 4, 1, 2 },
		{ 1, 1000, 1, 0, 3 },	 { 0, 1000, 0, 0, 3 },
		{ 100, 0, 0, 0, 3 },	 { 100, sizeof HUNKS - 2, 11, 0, 1 },
	};
	const struct str whole = STR(HUNKS);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct diff_head head = diff_cut(whole, rows[i].lines, rows[i].bytes);
		size_t lines = head.text.n > 0;
		for (size_t k = 0; k < head.text.n; k++)
			lines += head.text.p[k] == '\n';
		assert_int_equal(lines, rows[i].shown);
		assert_int_equal(head.lines, rows[i].lines_left);
		assert_int_equal(head.hunks, rows[i].hunks_left);
		assert_true(str_starts(whole, head.text));
	}
	assert_int_equal(diff_size(whole).added, 3);
	assert_int_equal(diff_size(whole).removed, 3);
	assert_int_equal(diff_cut(STR(""), 10, 10).hunks, 0);
	assert_int_equal(diff_size(STR("")).added, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_shown_as_the_contract_says),
		cmocka_unit_test(it_is_true_and_the_shortest),
		cmocka_unit_test(counting_is_as_exact_as_the_diff),
		cmocka_unit_test(thousands_of_edits_leave_the_equal_end_alone),
		cmocka_unit_test(nothing_at_all_is_an_empty_text),
		cmocka_unit_test(what_does_not_fit_is_an_error),
		cmocka_unit_test(a_long_diff_is_cut_at_a_hunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
