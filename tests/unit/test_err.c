/* SPDX-License-Identifier: MIT */
/* err: codes have unique names, sentences are cut between characters, errno becomes words. */

#include "unit.h"

#include <errno.h>

#include "base/err.h"
#include "base/own.h"
#include "base/utf8.h"

static void every_code_has_its_own_name(void **unused)
{
	(void)unused;
	for (int i = ERR_NONE + 1; i < ERR_COUNT; i++) {
		const struct str name = str_of(err_name((enum err_code)i));
		assert_true(name.n > 0);
		assert_int_equal(err_by_name(name), i);
		for (size_t k = 0; k < name.n; k++)
			assert_true((name.p[k] >= 'A' && name.p[k] <= 'Z') || name.p[k] == '_');
	}
}

/* The names are the wire: they do not change by accident. */
static void names_are_those_of_the_wire(void **unused)
{
#define X(id, name) assert_string_equal(name, &#id[4]);
	(void)unused;
	ERR_TABLE(X)
#undef X
	assert_string_equal(err_name(ERR_FILE_NOT_FOUND), "FILE_NOT_FOUND");
}

static void what_is_no_code_has_no_name(void **unused)
{
	(void)unused;
	assert_string_equal(err_name(ERR_NONE), "");
	assert_string_equal(err_name(ERR_COUNT), "");
	assert_string_equal(err_name((enum err_code) - 1), "");
	assert_string_equal(err_name((enum err_code)1000), "");
	assert_int_equal(err_by_name(STR("")), ERR_NONE);
	assert_int_equal(err_by_name(STR("file_not_found")), ERR_NONE);
	assert_int_equal(err_by_name(STR("FILE_NOT_FOUN")), ERR_NONE);
	assert_int_equal(err_by_name(STR("FILE_NOT_FOUND\0")), ERR_NONE);
	assert_int_equal(err_by_name((struct str){ NULL, 0 }), ERR_NONE);
}

static void setting_returns_minus_one(void **unused)
{
	struct err e = { 0 };

	(void)unused;
	assert_int_equal(err_set(&e, ERR_NO_CHANGE, "%s %d", "line", 7), -1);
	assert_int_equal(e.code, ERR_NO_CHANGE);
	assert_string_equal(e.msg, "line 7");
	assert_int_equal(err_set(&e, ERR_IO_ERROR, "%s", ""), -1);
	assert_string_equal(e.msg, "");
}

/* Around the length that fits, with characters of one to four bytes. */
static void a_long_sentence_is_cut_between_characters(void **unused)
{
	static const char *const characters[] = { "a", "\xc3\xa9", "\xe2\x82\xac",
						  "\xf0\x9f\x98\x80" };

	(void)unused;
	for (size_t c = 0; c < ARRAY_LEN(characters); c++) {
		for (size_t start = 0; start < 4; start++) {
			for (size_t length = 1010; length < 1040; length++) {
				char text[1100];
				struct err e;
				size_t n = start;
				memset(text, 'x', start);
				while (n + strlen(characters[c]) <= length)
					n += (size_t)sprintf(text + n, "%s", characters[c]);
				text[n] = '\0';
				(void)err_set(&e, ERR_IO_ERROR, "%s", text);
				const struct str msg = str_of(e.msg);
				assert_true(utf8_valid(msg));
				if (n < sizeof e.msg) {
					assert_str(msg, text);
					continue;
				}
				assert_true(str_ends(msg, STR("...")));
				assert_true(msg.n > sizeof e.msg - 8);
				assert_memory_equal(msg.p, text, msg.n - 3);
			}
		}
	}
}

static void a_sentence_is_added_before_the_advice(void **unused)
{
	char long_text[1100], advice[600];
	struct err e;

	(void)unused;
	(void)err_set(&e, ERR_IO_ERROR, "It failed");
	assert_int_equal(err_say(&e, "Nothing was changed."), -1);
	assert_string_equal(e.msg, "It failed. Nothing was changed.");
	assert_int_equal(e.advice, 0);
	(void)err_set(&e, ERR_IO_ERROR, "It failed.");
	(void)err_advise(&e, "Try again.");
	(void)err_say(&e, "Nothing was changed.");
	assert_string_equal(e.msg, "It failed. Nothing was changed. Try again.");
	assert_string_equal(e.msg + e.advice, "Try again.");
	assert_int_equal(e.code, ERR_IO_ERROR);
	/* What is too long is cut; the sentence stays, and so does the advice. */
	memset(long_text, 'x', sizeof long_text);
	memset(advice, 'y', sizeof advice);
	long_text[sizeof long_text - 1] = advice[sizeof advice - 1] = '\0';
	(void)err_set(&e, ERR_IO_ERROR, "%s", long_text);
	(void)err_say(&e, "Nothing was changed.");
	assert_true(str_ends(str_of(e.msg), STR("x... Nothing was changed.")));
	(void)err_set(&e, ERR_IO_ERROR, "%.400s", long_text);
	(void)err_advise(&e, "%s", advice);
	(void)err_say(&e, "Nothing was changed.");
	assert_non_null(strstr(e.msg, "x... Nothing was changed. yyy"));
	assert_true(str_ends(str_of(e.msg), STR("yyy")));
}

static const struct {
	int error;
	enum err_code code;
	const char *words;
} meanings[] = {
	{ ENOENT, ERR_FILE_NOT_FOUND, "no such file" },
	{ ENOTDIR, ERR_NOT_A_DIRECTORY, "not a directory" },
	{ EISDIR, ERR_NOT_A_FILE, "is a directory" },
	{ ENXIO, ERR_NOT_A_FILE, "not a regular file" },
	{ EACCES, ERR_PERMISSION_DENIED, "permission denied" },
	{ EPERM, ERR_PERMISSION_DENIED, "not permitted" },
	{ EROFS, ERR_PERMISSION_DENIED, "read-only" },
	{ ETXTBSY, ERR_PERMISSION_DENIED, "executed" },
	{ ELOOP, ERR_SYMLINK_LOOP, "symbolic links" },
	{ ENAMETOOLONG, ERR_INVALID_PATH, "too long" },
	{ EILSEQ, ERR_INVALID_PATH, "name" },
	{ EINVAL, ERR_IO_ERROR, "support" },
	{ ENOSPC, ERR_DISK_FULL, "no space" },
	{ EDQUOT, ERR_DISK_FULL, "quota" },
	{ EFBIG, ERR_FILE_TOO_LARGE, "larger" },
	{ EMFILE, ERR_TOO_BUSY, "try again" },
	{ ENFILE, ERR_TOO_BUSY, "try again" },
	{ ENOMEM, ERR_TOO_BUSY, "memory" },
	{ EIO, ERR_IO_ERROR, "input/output" },
	{ EPIPE, ERR_IO_ERROR, ": " }, /* not listed: in the words of the C library */
	{ ETIMEDOUT, ERR_IO_ERROR, ": " },
	{ 99999, ERR_IO_ERROR, "unknown" },
	{ -1, ERR_IO_ERROR, "unknown" },
};

static void errno_becomes_a_code_and_words(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
		struct err e = { 0 };
		errno = meanings[i].error;
		assert_int_equal(err_errno(&e, "Cannot read %s", "a.c"), -1);
		assert_int_equal(e.code, meanings[i].code);
		assert_int_equal(err_code_of_errno(meanings[i].error), meanings[i].code);
		assert_true(str_starts(str_of(e.msg), STR("Cannot read a.c: ")));
		assert_true(strlen(e.msg) > strlen("Cannot read a.c: "));
		if (!strstr(e.msg, meanings[i].words))
			fail_msg("errno %d: %s", meanings[i].error, e.msg);
		assert_null(strstr(e.msg, "null"));
	}
}

/* A path may be longer than a sentence; why it failed must still be told. */
static void the_reason_survives_a_long_text(void **unused)
{
	char path[2000];
	struct err e;

	(void)unused;
	memset(path, 'p', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	errno = ENOSPC;
	assert_int_equal(err_errno(&e, "Cannot write %s", path), -1);
	assert_int_equal(e.code, ERR_DISK_FULL);
	assert_true(str_starts(str_of(e.msg), STR("Cannot write pppp")));
	assert_true(str_ends(str_of(e.msg), STR("ppp...: no space left on the device")));
}

static void advice_follows_the_sentence(void **unused)
{
	struct err e;

	(void)unused;
	(void)err_set(&e, ERR_FILE_NOT_FOUND, "Not there.");
	assert_int_equal(e.advice, 0);
	assert_int_equal(err_advise(&e, "Try %s.", "another"), -1);
	assert_string_equal(e.msg, "Not there. Try another.");
	assert_string_equal(e.msg + e.advice, "Try another.");
	(void)err_set(&e, ERR_FILE_NOT_FOUND, "%2000d", 0);
	(void)err_advise(&e, "This has no room.");
	assert_int_equal(e.advice, 0);
	(void)err_set(&e, ERR_FILE_NOT_FOUND, "%1010d", 0);
	(void)err_advise(&e, "This has little room.");
	assert_string_equal(e.msg + e.advice, "This has ...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_its_own_name),
		cmocka_unit_test(names_are_those_of_the_wire),
		cmocka_unit_test(what_is_no_code_has_no_name),
		cmocka_unit_test(setting_returns_minus_one),
		cmocka_unit_test(a_long_sentence_is_cut_between_characters),
		cmocka_unit_test(a_sentence_is_added_before_the_advice),
		cmocka_unit_test(advice_follows_the_sentence),
		cmocka_unit_test(errno_becomes_a_code_and_words),
		cmocka_unit_test(the_reason_survives_a_long_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
