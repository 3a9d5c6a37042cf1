/* SPDX-License-Identifier: MIT */
/* cache: which directories go when all of them have too much. */

#include "sandbox/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"
#include "unit.h"

enum { FILE_BYTES = 64 << 10 };

/* A cache with one file, last used that long after the epoch. */
static void make(const char *parent, const char *workspace, int64_t used, char path[PATH_MAX])
{
	static const char bytes[FILE_BYTES];
	const struct timespec times[2] = { { .tv_sec = used }, { .tv_sec = used } };
	char file[PATH_MAX + 8];
	struct err e;
	AUTO_FD held = cache_open(parent, str_of(workspace), path, &e);

	assert_true(held >= 0);
	(void)snprintf(file, sizeof file, "%s/file", path);
	AUTO_FD fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
	assert_int_equal(futimens(held, times), 0);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void test_the_oldest_that_nobody_uses_goes(void **state)
{
	char base[] = "/tmp/sidecar-unit-XXXXXX", parent[64], path[4][PATH_MAX], again[PATH_MAX];
	char link[PATH_MAX + 8];
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(base));
	(void)snprintf(parent, sizeof parent, "%s/a/b", base);
	make(parent, "/one", 3, path[0]);
	make(parent, "/two", 1, path[1]);
	make(parent, "/three", 2, path[2]);
	make(parent, "/four", 0, path[3]);
	/* What a command has left is removed, never followed. */
	(void)snprintf(link, sizeof link, "%s/link", path[1]);
	assert_int_equal(symlink(path[0], link), 0);
	make(parent, "/two", 1, path[1]);
	{
		AUTO_FD held = cache_open(parent, STR("/four"), again, &e);
		assert_string_equal(again, path[3]);
		assert_int_equal(futimens(held, (struct timespec[2]){ { 0 } }), 0);
		cache_tidy(path[0], 4 * 2 * FILE_BYTES);
		for (int i = 0; i < 4; i++)
			assert_true(is_there(path[i]));
		cache_tidy(path[0], 3 * FILE_BYTES + FILE_BYTES / 2);
		assert_false(is_there(path[1])); /* the one before it is in use */
		assert_true(is_there(path[0]) && is_there(path[2]) && is_there(path[3]));
	}
	cache_tidy(path[0], 0);
	for (int i = 0; i < 4; i++)
		assert_false(is_there(path[i]));
	assert_int_equal(rmdir(parent), 0); /* nothing is left */
	(void)snprintf(parent, sizeof parent, "%s/a", base);
	assert_int_equal(rmdir(parent), 0);
	assert_int_equal(rmdir(base), 0);
}

static void test_one_that_others_may_write_is_refused(void **state)
{
	char base[] = "/tmp/sidecar-unit-XXXXXX", path[PATH_MAX], none[PATH_MAX];
	struct err e = { 0 };

	(void)state;
	assert_non_null(mkdtemp(base));
	AUTO_FD made = cache_open(base, STR("/one"), path, &e);
	assert_true(made >= 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(cache_open(base, STR("/one"), none, &e), -1);
	assert_int_equal(e.code, ERR_PERMISSION_DENIED);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("/", path), 0);
	assert_int_equal(cache_open(base, STR("/one"), none, &e), -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(base), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_oldest_that_nobody_uses_goes),
		cmocka_unit_test(test_one_that_others_may_write_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
