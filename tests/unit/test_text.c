/* SPDX-License-Identifier: MIT */
/* Lines of a file: tables, and a plain second implementation on random input. */

#include "scratch.h"

#include "base/own.h"
#include "base/utf8.h"
#include "workspace/text.h"

enum { ARENA_MAX = 16 << 20 };

#define S(text)                                                                                    \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* A nameless file with these bytes, at its beginning. */
static int file_of(struct str bytes)
{
	const int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.n ? bytes.p : "", bytes.n), (ssize_t)bytes.n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static const struct {
	struct str file;
	int64_t first, count, max_lines, max_bytes;
	const char *content;
	int64_t total, lines, bytes, out_lines, out_bytes;
	enum text_cut cut;
	bool first_too_long;
} rows[] = {
	{ S(""), 1, TEXT_ALL, 10, 99, "", 1, 1, 0, 1, 0, TEXT_WHOLE, false },
	{ S("\n"), 1, TEXT_ALL, 10, 99, "\n", 2, 2, 1, 2, 1, TEXT_WHOLE, false },
	{ S("a\nb\n"), 1, TEXT_ALL, 10, 99, "a\nb\n", 3, 3, 4, 3, 4, TEXT_WHOLE, false },
	{ S("a\nb"), 1, TEXT_ALL, 10, 99, "a\nb", 2, 2, 3, 2, 3, TEXT_WHOLE, false },
	{ S("a\r\nb\r\n"), 1, 1, 10, 99, "a\r", 3, 1, 2, 1, 2, TEXT_WHOLE, false },
	{ S("a\nb\nc"), 2, 1, 10, 99, "b", 3, 1, 1, 1, 1, TEXT_WHOLE, false },
	{ S("a\nb\nc"), 3, 1, 10, 99, "c", 3, 1, 1, 1, 1, TEXT_WHOLE, false },
	{ S("a\nb\n"), 3, TEXT_ALL, 10, 99, "", 3, 1, 0, 1, 0, TEXT_WHOLE, false },
	{ S("a\nb\n"), 4, TEXT_ALL, 10, 99, "", 3, 0, 0, 0, 0, TEXT_WHOLE, false },
	{ S("a\nb\nc"), 2, 99, 10, 99, "b\nc", 3, 2, 3, 2, 3, TEXT_WHOLE, false },
	{ S("a\nb\nc"), 1, TEXT_ALL, 2, 99, "a\nb", 3, 3, 5, 2, 3, TEXT_CUT_LINES, false },
	{ S("a\nb\nc"), 1, TEXT_ALL, 10, 3, "a\nb", 3, 3, 5, 2, 3, TEXT_CUT_BYTES, false },
	{ S("a\nb\nc"), 1, TEXT_ALL, 10, 4, "a\nb", 3, 3, 5, 2, 3, TEXT_CUT_BYTES, false },
	{ S("a\nb\nc"), 1, TEXT_ALL, 10, 5, "a\nb\nc", 3, 3, 5, 3, 5, TEXT_WHOLE, false },
	{ S("abcdef\nx"), 1, TEXT_ALL, 10, 5, "", 2, 2, 8, 0, 0, TEXT_CUT_BYTES, true },
	{ S("abcdef\nx"), 1, 1, 10, 6, "abcdef", 2, 1, 6, 1, 6, TEXT_WHOLE, false },
	/* three bytes for what is no character */
	{ S("\xff\nx"), 1, TEXT_ALL, 10, 4, "\xff", 2, 2, 5, 1, 3, TEXT_CUT_BYTES, false },
	{ S("\xff\nx"), 1, TEXT_ALL, 10, 2, "", 2, 2, 5, 0, 0, TEXT_CUT_BYTES, true },
	{ S("\xe2\x82\xac\n\xe2\x82"), 1, TEXT_ALL, 10, 99, "\xe2\x82\xac\n\xe2\x82", 2, 2, 7, 2, 7,
	  TEXT_WHOLE, false },
};

static void selections(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA a = { .max = ARENA_MAX };
		AUTO_FD fd = file_of(rows[i].file);
		const struct text_want want = { .first = rows[i].first,
						.count = rows[i].count,
						.max_lines = rows[i].max_lines,
						.max_bytes = rows[i].max_bytes };
		struct text t;
		struct err e;
		assert_int_equal(text_read(fd, &want, &a, &t, &e), 0);
		assert_str(t.content, rows[i].content);
		if (t.total_lines != rows[i].total || t.lines != rows[i].lines ||
		    t.bytes != rows[i].bytes || t.out_lines != rows[i].out_lines ||
		    t.out_bytes != rows[i].out_bytes || t.cut != rows[i].cut ||
		    t.first_too_long != rows[i].first_too_long)
			fail_msg("row %zu: %d of %d lines, %d bytes; out %d, %d; cut %d", i,
				 (int)t.lines, (int)t.total_lines, (int)t.bytes, (int)t.out_lines,
				 (int)t.out_bytes, (int)t.cut);
	}
}

/* Where line n of the text begins; past the end if it has fewer. */
static size_t line_start(struct str s, int64_t n)
{
	size_t at = 0;

	for (int64_t i = 1; i < n; i++) {
		const ptrdiff_t k = str_index(str_from(s, at), '\n');
		if (k < 0)
			return s.n + 1;
		at += (size_t)k + 1;
	}
	return at;
}

/* The same as text_read, the plain way: everything in memory, one thing after the other. */
static struct text naive(struct str s, const struct text_want *w)
{
	struct text t = { .total_lines = 1 };

	for (size_t i = 0; i < s.n; i++)
		t.total_lines += s.p[i] == '\n';
	if (w->first > t.total_lines)
		return t;
	const bool rest = w->count > t.total_lines - w->first;
	const size_t from = line_start(s, w->first);
	const size_t to = rest ? s.n : line_start(s, w->first + w->count) - 1;
	const struct str all = str_from(str_upto(s, to), from);
	t.lines = rest ? t.total_lines - w->first + 1 : w->count;
	t.bytes = (int64_t)utf8_replaced_length(all);
	size_t at = 0;
	int64_t bytes = 0;
	for (int64_t n = 1; n <= t.lines; n++) {
		const ptrdiff_t newline = str_index(str_from(all, at), '\n');
		const size_t end = newline < 0 ? all.n : at + (size_t)newline;
		bytes += (int64_t)utf8_replaced_length((struct str){ all.p + at, end - at });
		t.cut = n > w->max_lines       ? TEXT_CUT_LINES
			: bytes > w->max_bytes ? TEXT_CUT_BYTES
					       : TEXT_WHOLE;
		if (t.cut != TEXT_WHOLE)
			break;
		t.content = str_upto(all, end);
		t.out_lines = n;
		t.out_bytes = bytes;
		at = end + 1;
		bytes++;
	}
	t.first_too_long = t.cut == TEXT_CUT_BYTES && t.out_lines == 0;
	return t;
}

/* Small numbers that are the same on every run. */
static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static size_t random_text(uint32_t *seed, char *to, size_t room)
{
	static const struct str pieces[] = {
		S("a"),
		S("\n"),
		S("\r\n"),
		S("word "),
		S("\xc3\xa9"),
		S("\xe2\x82\xac"),
		S("\xf0\x9f\x98\x80"),
		S("\xff"),
		S("\xe2\x82"),
		S("\xf0\x9f\x98"),
		S("\x80"),
		S("\xf0\x90\xe2"),
		S("\xed\xa0\x80"),
	};
	/* Mostly one long line, or mostly short ones. */
	const uint32_t newlines = next(seed) % 3;
	size_t n = 0;

	for (;;) {
		struct str p = pieces[next(seed) % ARRAY_LEN(pieces)];
		if (newlines == 0 && p.p[p.n - 1] == '\n' && next(seed) % 512)
			continue;
		if (n + p.n > room)
			return n;
		memcpy(to + n, p.p, p.n);
		n += p.n;
	}
}

static void same(const struct text *got, const struct text *want, int turn)
{
	if (!str_eq(got->content, want->content) || got->total_lines != want->total_lines ||
	    got->lines != want->lines || got->bytes != want->bytes ||
	    got->out_lines != want->out_lines || got->out_bytes != want->out_bytes ||
	    got->cut != want->cut || got->first_too_long != want->first_too_long)
		fail_msg("turn %d: lines %d/%d/%d bytes %d out %d/%d cut %d, want lines %d/%d/%d "
			 "bytes %d out %d/%d cut %d",
			 turn, (int)got->out_lines, (int)got->lines, (int)got->total_lines,
			 (int)got->bytes, (int)got->out_bytes, (int)got->content.n, (int)got->cut,
			 (int)want->out_lines, (int)want->lines, (int)want->total_lines,
			 (int)want->bytes, (int)want->out_bytes, (int)want->content.n,
			 (int)want->cut);
}

static void random_input_as_the_plain_way(void **state)
{
	static const int64_t limits[] = { 1, 2, 5, 50, 2000, 51200, 1 << 20 };
	char *bytes = malloc(200 << 10);
	uint32_t seed = 1;

	(void)state;
	assert_non_null(bytes);
	for (int turn = 0; turn < 600; turn++) {
		/* Every fourth is long, and its characters stand across the ends of chunks. */
		const size_t room =
			turn % 4 ? next(&seed) % 300 : (64 << 10) - 8 + next(&seed) % (100 << 10);
		const struct str all = { bytes, random_text(&seed, bytes, room) };
		AUTO_ARENA a = { .max = ARENA_MAX };
		AUTO_FD fd = file_of(all);
		const struct text_want want = {
			.first = 1 + next(&seed) % (turn % 3 ? 8 : 1),
			.count = next(&seed) % 3 ? 1 + next(&seed) % 9 : TEXT_ALL,
			.max_lines = limits[next(&seed) % ARRAY_LEN(limits)],
			.max_bytes = limits[next(&seed) % ARRAY_LEN(limits)],
			.size = next(&seed) % 2 ? (int64_t)all.n : 0,
		};
		struct text got, expected = naive(all, &want);
		struct err e;
		assert_int_equal(text_read(fd, &want, &a, &got, &e), 0);
		same(&got, &expected, turn);
		if (want.first == 1 && want.count == TEXT_ALL) {
			text_cut_head(all, want.max_lines, want.max_bytes, &got);
			same(&got, &expected, turn);
		}
	}
	free(bytes);
}

/* A file of text and holes, and the same with its zero bytes written out. */
static void holes_are_read_as_zero_bytes(void **state)
{
	static const int64_t limits[] = { 1, 50, 51200, 1 << 20 };
	static char bytes[1 << 20];
	uint32_t seed = 1;

	(void)state;
	for (int turn = 0; turn < 60; turn++) {
		AUTO_FD sparse = file_of(STR(""));
		size_t n = 8 << 10, texts = 1 + next(&seed) % 3;
		memset(bytes, 0, sizeof bytes);
		memset(bytes, 'x', n);
		assert_int_equal(pwrite(sparse, bytes, n, 0), n);
		while (texts--) {
			n += next(&seed) % (200 << 10);
			const size_t more = random_text(&seed, bytes + n, next(&seed) % (70 << 10));
			assert_int_equal(pwrite(sparse, bytes + n, more, (off_t)n), more);
			n += more;
		}
		n += next(&seed) % (200 << 10);
		assert_int_equal(ftruncate(sparse, (off_t)n), 0);
		AUTO_ARENA a = { .max = ARENA_MAX };
		const struct text_want want = {
			.first = 1 + next(&seed) % 8,
			.count = next(&seed) % 3 ? 1 + next(&seed) % 9 : TEXT_ALL,
			.max_lines = limits[next(&seed) % ARRAY_LEN(limits)],
			.max_bytes = limits[next(&seed) % ARRAY_LEN(limits)],
			.size = (int64_t)n,
		};
		struct text got, expected = naive((struct str){ bytes, n }, &want);
		struct err e;
		assert_int_equal(text_read(sparse, &want, &a, &got, &e), 0);
		same(&got, &expected, turn);
	}
}

static void a_character_across_chunks_is_one(void **state)
{
	enum { CHUNK = 64 << 10 };
	static const struct str ends[] = {
		S("\xe2\x82\xac"),	   S("\xf0\x90\xe2\x82\xac"), S("\xf0\x9f\xf0\x9f\x98\x80"),
		S("\xe2\xe2\xe2\x82\xac"), S("\xf0\x90\x80\xc3\xa9"),
	};
	char *bytes = malloc(CHUNK + 16);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'a', CHUNK + 16);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		for (size_t before = 0; before <= ends[i].n; before++) {
			memcpy(bytes + CHUNK - before, ends[i].p, ends[i].n);
			const struct str all = { bytes, CHUNK - before + ends[i].n };
			AUTO_ARENA a = { .max = ARENA_MAX };
			AUTO_FD fd = file_of(all);
			const struct text_want want = {
				.first = 1, .count = TEXT_ALL, .max_lines = 9, .max_bytes = 1 << 20
			};
			struct text t;
			struct err e;
			assert_int_equal(text_read(fd, &want, &a, &t, &e), 0);
			assert_int_equal(t.bytes, utf8_replaced_length(all));
			memset(bytes, 'a', CHUNK + 16);
		}
	free(bytes);
}

static void bytes_added_later_are_not_read(void **state)
{
	AUTO_ARENA a = { .max = ARENA_MAX };
	AUTO_FD fd = file_of(STR("one\ntwo\nthree"));
	const struct text_want want = {
		.first = 1, .count = TEXT_ALL, .max_lines = 9, .max_bytes = 99, .size = 7
	};
	struct text t;
	struct err e;

	(void)state;
	assert_int_equal(text_read(fd, &want, &a, &t, &e), 0);
	assert_str(t.content, "one\ntwo");
	assert_int_equal(t.total_lines, 2);
}

static void binary_files_are_described(void **state)
{
	static const struct text_want want = {
		.first = 1, .count = TEXT_ALL, .max_lines = 9, .max_bytes = 99
	};
	AUTO_ARENA a = { .max = ARENA_MAX };
	AUTO_FD elf = file_of(STR("\177ELF\2\1\1\0\0\0"));
	char late[(8 << 10) + 1];
	struct text t = { .lines = 77 };
	struct err e;

	(void)state;
	assert_int_equal(text_read(elf, &want, &a, &t, &e), -1);
	assert_int_equal(e.code, ERR_BINARY_FILE);
	assert_string_equal(e.msg,
			    "File is binary (ELF executable, 10 bytes) and cannot be shown as "
			    "text. Use a command such as file, xxd or strings to look into it.");
	assert_int_equal(t.lines, 77);
	/* The last byte that is looked at, and the first that is not. */
	memset(late, 'a', sizeof late);
	late[sizeof late - 2] = '\0';
	AUTO_FD last = file_of((struct str){ late, sizeof late });
	assert_int_equal(text_read(last, &want, &a, &t, &e), -1);
	late[sizeof late - 2] = 'a';
	late[sizeof late - 1] = '\0';
	AUTO_FD late_nul = file_of((struct str){ late, sizeof late });
	assert_int_equal(text_read(late_nul, &want, &a, &t, &e), 0);
}

static int never(void *arg, struct err *e)
{
	(void)arg;
	return err_set(e, ERR_EXECUTION_ERROR, "The call was cancelled");
}

static void a_long_scan_ends_when_it_is_told_to(void **state)
{
	AUTO_ARENA a = { .max = ARENA_MAX };
	AUTO_FD fd = memfd_create("long", MFD_CLOEXEC);
	const struct text_want want = {
		.first = 9, .count = 1, .max_lines = 9, .max_bytes = 99, .may_go_on = never
	};
	struct text t;
	struct err e;

	(void)state;
	assert_int_equal(write(fd, "text that is not binary\n", 24), 24);
	char *page = malloc(64 << 10);
	assert_non_null(page);
	memset(page, 'x', 64 << 10);
	for (int i = 0; i < 200; i++)
		assert_int_equal(write(fd, page, 64 << 10), 64 << 10);
	free(page);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(text_read(fd, &want, &a, &t, &e), -1);
	assert_int_equal(e.code, ERR_EXECUTION_ERROR);
	const struct text_want late = {
		.first = 9, .count = 1, .max_lines = 9, .max_bytes = 99, .deadline_ms = 1
	};
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(text_read(fd, &late, &a, &t, &e), -1);
	assert_int_equal(e.code, ERR_FILE_TOO_LARGE);
	assert_non_null(strstr(e.msg, "too large to count its lines in time"));
}

static void memory_is_bounded(void **state)
{
	AUTO_ARENA a = { .max = 4096 };
	AUTO_FD fd = file_of(STR("a"));
	const struct text_want want = {
		.first = 1, .count = 1, .max_lines = 9, .max_bytes = 1 << 20
	};
	struct text t;
	struct err e;

	(void)state;
	assert_int_equal(text_read(fd, &want, &a, &t, &e), -1);
	assert_int_equal(e.code, ERR_TOO_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selections),
		cmocka_unit_test(random_input_as_the_plain_way),
		cmocka_unit_test(holes_are_read_as_zero_bytes),
		cmocka_unit_test(a_character_across_chunks_is_one),
		cmocka_unit_test(bytes_added_later_are_not_read),
		cmocka_unit_test(binary_files_are_described),
		cmocka_unit_test(a_long_scan_ends_when_it_is_told_to),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
