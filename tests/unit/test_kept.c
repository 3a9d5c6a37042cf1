/* SPDX-License-Identifier: MIT */
/* Output that is kept: by name, for its session, within bounds, oldest dropped first. */

#include "unit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own.h"
#include "tools/kept.h"
#include "tools/limits.h"

static uint64_t keep(struct kept_store *k, struct str session, struct str piece, size_t times,
		     struct str tail)
{
	CLEANUP(keeping_done) struct keeping keeping = keeping_new(k);

	for (size_t i = 0; i < times; i++)
		keeping_add(&keeping, piece);
	return keeping_end(&keeping, session, tail);
}

/* The size of what is kept under that number; -1 if it is not there. */
static int64_t size_of(struct kept_store *k, struct str session, uint64_t number)
{
	char name[32];
	struct stat st;
	struct err e;

	(void)snprintf(name, sizeof name, "output:%llu", (unsigned long long)number);
	AUTO_FD fd = kept_open(k, session, str_of(name), &st, &e);
	if (fd >= 0)
		return st.st_size;
	assert_int_equal(e.code, ERR_FILE_NOT_FOUND);
	assert_true(e.advice > 0);
	return -1;
}

static void names_are_told_apart(void **state)
{
	(void)state;
	assert_true(kept_is_name(STR("output:7")));
	assert_true(kept_is_name(STR("output:123456789012345678901234567890")));
	assert_false(kept_is_name(STR("output:")));
	assert_false(kept_is_name(STR("output:7x")));
	assert_false(kept_is_name(STR("./output:7")));
	assert_false(kept_is_name(STR("output")));
	assert_false(kept_is_name(STR("")));
}

static void what_was_added_can_be_read(void **state)
{
	struct kept_store *k = kept_new();
	char text[64];
	struct stat st;
	struct err e;

	(void)state;
	assert_int_equal(keep(k, STR("s"), STR("hello\n"), 2, STR("")), 1);
	for (int i = 0; i < 2; i++) { /* each reader has its own position */
		AUTO_FD fd = kept_open(k, STR("s"), STR("output:1"), &st, &e);
		assert_int_equal(io_read_full(fd, text, sizeof text), 12);
		assert_memory_equal(text, "hello\nhello\n", 12);
	}
	assert_int_equal(size_of(k, STR("other"), 1), -1);
	assert_int_equal(size_of(k, STR(""), 1), -1);
	assert_int_equal(size_of(k, STR("s"), 2), -1);
	assert_int_equal(kept_open(k, STR("s"), STR("output:99999999999999999999"), &st, &e), -1);
	kept_free(k);
}

static void the_middle_of_endless_output_is_missed(void **state)
{
	static char piece[64 << 10];
	struct kept_store *k = kept_new();
	char end[64];
	struct stat st;
	struct err e;

	(void)state;
	memset(piece, 'x', sizeof piece);
	const size_t fits = LIMIT_KEPT_OUTPUT / sizeof piece;
	assert_int_equal(
		keep(k, STR(""), (struct str){ piece, sizeof piece }, fits + 20, STR("the end\n")),
		1);
	AUTO_FD fd = kept_open(k, STR(""), STR("output:1"), &st, &e);
	assert_true(lseek(fd, LIMIT_KEPT_OUTPUT, SEEK_SET) > 0);
	const ssize_t n = io_read_full(fd, end, sizeof end);
	assert_true(n > 0);
	assert_str(((struct str){ end, (size_t)n }), "\n[… 1.2 MB not kept …]\nthe end\n");
	/* What was missed is no longer than the tail: there is no gap. */
	assert_int_equal(keep(k, STR(""), (struct str){ piece, sizeof piece }, fits + 1,
			      (struct str){ piece, sizeof piece }),
			 2);
	assert_int_equal(size_of(k, STR(""), 2), LIMIT_KEPT_OUTPUT + sizeof piece);
	kept_free(k);
}

static void the_oldest_makes_room(void **state)
{
	static char piece[1 << 20];
	struct kept_store *k = kept_new();

	(void)state;
	memset(piece, 'x', sizeof piece);
	for (uint64_t i = 1; i <= 10; i++)
		assert_int_equal(keep(k, STR(""), (struct str){ piece, sizeof piece }, 16, STR("")),
				 i);
	for (uint64_t i = 1; i <= 10; i++)
		assert_int_equal(size_of(k, STR(""), i), i <= 6 ? -1 : 16 << 20);
	for (uint64_t i = 11; i <= 10 + LIMIT_KEPT; i++)
		assert_int_equal(keep(k, STR(""), STR("x"), 1, STR("")), i);
	assert_int_equal(size_of(k, STR(""), 10), -1);
	assert_int_equal(size_of(k, STR(""), 11), 1);
	kept_free(k);
}

static void unfinished_output_takes_room_until_it_is_dropped(void **state)
{
	static char piece[1 << 20];
	struct kept_store *k = kept_new();
	struct keeping many[5];

	(void)state;
	memset(piece, 'x', sizeof piece);
	for (size_t i = 0; i < ARRAY_LEN(many); i++) {
		many[i] = keeping_new(k);
		for (size_t j = 0; j < 16; j++)
			keeping_add(&many[i], (struct str){ piece, sizeof piece });
	}
	assert_int_equal(many[3].missed, 0);
	assert_int_equal(many[4].missed, 16 << 20);
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		keeping_done(&many[i]);
	assert_int_equal(keep(k, STR(""), (struct str){ piece, sizeof piece }, 16, STR("")), 1);
	assert_int_equal(size_of(k, STR(""), 1), 16 << 20);
	kept_free(k);
}

static void without_a_store_nothing_is_kept(void **state)
{
	(void)state;
	assert_int_equal(keep(NULL, STR(""), STR("x"), 1000000, STR("")), 0);
}

static void without_a_descriptor_nothing_is_kept(void **state)
{
	struct kept_store *k = kept_new();
	struct rlimit files;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	const struct rlimit none = { .rlim_cur = 0, .rlim_max = files.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	const uint64_t number = keep(k, STR(""), STR("0123456789"), 100000, STR(""));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_int_equal(number, 0);
	assert_int_equal(keep(k, STR(""), STR("0123456789"), 100000, STR("")), 1);
	assert_int_equal(size_of(k, STR(""), 1), 1000000);
	kept_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_told_apart),
		cmocka_unit_test(what_was_added_can_be_read),
		cmocka_unit_test(the_middle_of_endless_output_is_missed),
		cmocka_unit_test(the_oldest_makes_room),
		cmocka_unit_test(unfinished_output_takes_room_until_it_is_dropped),
		cmocka_unit_test(without_a_store_nothing_is_kept),
		cmocka_unit_test(without_a_descriptor_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
