/* SPDX-License-Identifier: MIT */
/* Directories named by the operator: made, held, or refused in one sentence. */

#include "scratch.h"

#include <sched.h>
#include <sys/mount.h>

#include "base/own.h"
#include "workspace/root.h"

static int set_up(void **state)
{
	static struct scratch s;

	s = scratch_new();
	*state = &s;
	put_dir(&s, "d");
	put(&s, "file", "x");
	put_link(&s, "link", "d");
	put_link(&s, "loop", "loop2");
	put_link(&s, "loop2", "loop");
	put_link(&s, "dangling", "nothing");
	return 0;
}

static int tear_down(void **state)
{
	scratch_free(*state);
	return 0;
}

static void usable_roots(void **state)
{
	static const struct {
		const char *name, *path, *alias;
	} rows[] = {
		{ "d", "d", "" },
		{ "d/", "d", "" },
		{ "link", "d", "link" },
		{ "link/../d", "d", "" },
		{ ".//link//new", "d/new", "link/new" },
		{ "p/q/r", "p/q/r", "" },
	};
	const struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct root r = { .fd = -1 };
		struct err e;
		struct stat held, there;
		char would[PATH_MAX];
		assert_int_equal(root_canonical("ROOT", in(s, rows[i].name), would, &e), 0);
		assert_string_equal(would, in(s, rows[i].path));
		assert_int_equal(root_open("ROOT", in(s, rows[i].name), true, &r, &e), 0);
		assert_string_equal(r.path, in(s, rows[i].path));
		assert_string_equal(r.alias, *rows[i].alias ? in(s, rows[i].alias) : "");
		assert_int_equal(fstat(r.fd, &held), 0);
		assert_int_equal(stat(r.path, &there), 0);
		assert_true(held.st_ino == there.st_ino && held.st_dev == there.st_dev);
		assert_true(fcntl(r.fd, F_GETFD) & FD_CLOEXEC);
		root_done(&r);
		assert_int_equal(r.fd, -1);
	}
}

static void the_file_system_root_is_a_root(void **state)
{
	struct root r = { .fd = -1 };
	struct err e;

	(void)state;
	assert_int_equal(root_open("ROOT", "//", true, &r, &e), 0);
	assert_string_equal(r.path, "/");
	assert_string_equal(r.alias, "");
	root_unmake(&r);
	root_done(&r);
}

static void made_directories_can_be_unmade(void **state)
{
	const struct scratch *s = *state;
	struct root r = { .fd = -1 };
	struct err e;

	root_unmake(&r);
	assert_int_equal(root_open("ROOT", in(s, "d/p/q"), true, &r, &e), 0);
	root_unmake(&r);
	root_done(&r);
	assert_int_equal(count_entries(in(s, "d"), ""), 0);
	assert_int_equal(root_open("ROOT", in(s, "d"), true, &r, &e), 0);
	root_unmake(&r);
	root_done(&r);
	assert_int_equal(access(in(s, "d"), F_OK), 0);
}

/* Expect a refusal with this code and this message, in which %s is the path. */
static void refused(const struct scratch *s, const char *path, bool make, enum err_code code,
		    const char *words)
{
	const int before = count_entries(s->path, "");
	struct root r = { .fd = -7 };
	char want[sizeof((struct err *)0)->msg];
	struct err e = { 0 };

	assert_int_equal(root_open("WORKSPACE_ROOT", path, make, &r, &e), -1);
	assert_int_equal(r.fd, -7);
	const char *at = strstr(words, "%s");
	(void)snprintf(want, sizeof want, "%.*s%s%s", (int)(at - words), words, path, at + 2);
	assert_string_equal(e.msg, want);
	assert_int_equal(e.code, code);
	assert_int_equal(count_entries(s->path, ""), before);
}

static void one_sentence_for_each_refusal(void **state)
{
	const struct scratch *s = *state;
	char longest[PATH_MAX + 2];

	refused(s, "", true, ERR_INVALID_PATH, "WORKSPACE_ROOT is empty: set it to a directory%s");
	refused(s, "some/dir", true, ERR_INVALID_PATH,
		"WORKSPACE_ROOT must be an absolute path, but it is \"%s\"");
	refused(s, ".", true, ERR_INVALID_PATH,
		"WORKSPACE_ROOT must be an absolute path, but it is \"%s\"");
	refused(s, in(s, "file"), true, ERR_NOT_A_DIRECTORY,
		"WORKSPACE_ROOT \"%s\" is not a directory");
	refused(s, in(s, "file/x"), true, ERR_NOT_A_DIRECTORY,
		"WORKSPACE_ROOT \"%s\" cannot be used: not a directory");
	refused(s, in(s, "loop"), true, ERR_SYMLINK_LOOP,
		"WORKSPACE_ROOT \"%s\" cannot be used: too many levels of symbolic links");
	refused(s, in(s, "loop/x"), true, ERR_SYMLINK_LOOP,
		"WORKSPACE_ROOT \"%s\" cannot be used: too many levels of symbolic links");
	refused(s, in(s, "dangling"), true, ERR_FILE_NOT_FOUND,
		"WORKSPACE_ROOT \"%s\" is a symbolic link to something that does not exist");
	refused(s, in(s, "missing"), false, ERR_FILE_NOT_FOUND,
		"WORKSPACE_ROOT \"%s\" cannot be read: no such file or directory");
	memset(longest, 'x', sizeof longest);
	longest[0] = '/';
	longest[PATH_MAX] = '\0';
	struct root r;
	struct err e;
	assert_int_equal(root_open("ROOT", longest, true, &r, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_PATH);
	longest[PATH_MAX - 1] = '\0';
	assert_int_equal(root_open("ROOT", longest, true, &r, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_PATH);
}

static void what_was_made_on_the_way_is_removed(void **state)
{
	const struct scratch *s = *state;
	char path[PATH_MAX];
	struct root r;
	struct err e;

	/* The last name is too long: its parents have been made by then. */
	(void)snprintf(path, sizeof path, "%s/p/q/%0300d", s->path, 1);
	assert_int_equal(root_open("ROOT", path, true, &r, &e), -1);
	assert_int_equal(e.code, ERR_INVALID_PATH);
	assert_int_equal(access(in(s, "p"), F_OK), -1);
}

static int as_nobody(void *arg)
{
	const struct scratch *s = arg;
	static const char *const dirs[] = { "noread", "noenter", "nowrite" };
	static const mode_t modes[] = { 0311, 0644, 0555 };

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		put_dir(s, dirs[i]);
		assert_int_equal(chown(in(s, dirs[i]), 65534, 65534), 0);
		assert_int_equal(chmod(in(s, dirs[i]), modes[i]), 0);
	}
	assert_int_equal(setresgid(65534, 65534, 65534), 0);
	assert_int_equal(setresuid(65534, 65534, 65534), 0);
	refused(s, in(s, "noread"), true, ERR_PERMISSION_DENIED,
		"WORKSPACE_ROOT \"%s\" cannot be read: permission denied");
	refused(s, in(s, "noenter"), true, ERR_PERMISSION_DENIED,
		"WORKSPACE_ROOT \"%s\" cannot be read: permission denied");
	refused(s, in(s, "noenter/x"), true, ERR_PERMISSION_DENIED,
		"WORKSPACE_ROOT \"%s\" cannot be used: permission denied");
	refused(s, in(s, "nowrite/x/y"), true, ERR_PERMISSION_DENIED,
		"WORKSPACE_ROOT \"%s\" does not exist and cannot be made: permission denied");
	return 0;
}

static void without_permission(void **state)
{
	if (geteuid() != 0)
		skip_because("needs root to become another user");
	in_child(as_nobody, *state);
}

static int on_read_only(void *arg)
{
	const struct scratch *s = arg;
	struct root r;
	struct err e;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", in(s, "d"), "tmpfs", MS_RDONLY, "size=64k") < 0) {
		print_message("SKIP: this machine gives no mount namespaces\n");
		return SKIPPED;
	}
	refused(s, in(s, "d/x/y"), true, ERR_PERMISSION_DENIED,
		"WORKSPACE_ROOT \"%s\" does not exist and cannot be made: the file system is "
		"read-only");
	/* An existing one may be read. */
	assert_int_equal(root_open("ROOT", in(s, "d"), true, &r, &e), 0);
	root_done(&r);
	return 0;
}

static void read_only_file_system(void **state)
{
	in_child(on_read_only, *state);
}

#define OVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OVER(usable_roots),
		OVER(the_file_system_root_is_a_root),
		OVER(made_directories_can_be_unmade),
		OVER(one_sentence_for_each_refusal),
		OVER(what_was_made_on_the_way_is_removed),
		OVER(without_permission),
		OVER(read_only_file_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
