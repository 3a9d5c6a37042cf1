/* SPDX-License-Identifier: MIT */
/* remove: files, links and trees, in a directory of its own. */

#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "workspace/limits.h"
#include "workspace/workspace.h"

/* A workspace, and a file beside it that must stay. */
struct place_of_test {
	char top[64], root[96], beside[96];
	struct workspace *ws;
};

static int set_up(void **state)
{
	struct place_of_test *t = calloc(1, sizeof *t);
	struct err e;

	(void)snprintf(t->top, sizeof t->top, "/tmp/sidecar-remove-XXXXXX");
	assert_non_null(mkdtemp(t->top));
	(void)snprintf(t->root, sizeof t->root, "%s/ws", t->top);
	(void)snprintf(t->beside, sizeof t->beside, "%s/beside", t->top);
	assert_int_equal(mkdir(t->beside, 0700), 0);
	const struct ws_options options = { .root = t->root };
	assert_int_equal(ws_new(&options, &t->ws, &e), 0);
	*state = t;
	return 0;
}

static int tear_down(void **state)
{
	struct place_of_test *t = *state;
	const struct path root = { .base = PATH_WORKSPACE };
	struct err e;

	(void)ws_remove(t->ws, &(struct removal){ .tree = true }, &root, &e);
	ws_free(t->ws);
	(void)rmdir(t->root);
	(void)rmdir(t->beside);
	(void)rmdir(t->top);
	free(t);
	return 0;
}

static const char *at(const struct place_of_test *t, const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof path, "%s/%s", t->root, name);
	return path;
}

static void make_file(const struct place_of_test *t, const char *name)
{
	const int fd = open(at(t, name), O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const struct place_of_test *t, const char *name)
{
	struct stat st;

	return lstat(at(t, name), &st) == 0;
}

static int remove_path(const struct place_of_test *t, const char *name, bool tree, struct err *e)
{
	struct path p;

	assert_int_equal(ws_resolve(t->ws, str_of(name), PATH_SHORTHAND, &p, e), 0);
	return ws_remove(t->ws, &(struct removal){ .tree = tree }, &p, e);
}

static void what_has_the_name_is_removed(void **state)
{
	const struct place_of_test *t = *state;
	struct err e;

	make_file(t, "file");
	assert_int_equal(mkdir(at(t, "dir"), 0700), 0);
	assert_int_equal(mkdir(at(t, "tree"), 0700), 0);
	make_file(t, "tree/inside");
	assert_int_equal(symlink(t->beside, at(t, "tree/link")), 0);
	assert_int_equal(symlink("file", at(t, "link")), 0);
	assert_int_equal(remove_path(t, "link", true, &e), 0);
	assert_true(is_there(t, "file"));
	assert_int_equal(remove_path(t, "file", false, &e), 0);
	assert_int_equal(remove_path(t, "dir", false, &e), 0);
	assert_int_equal(remove_path(t, "tree", false, &e), -1);
	assert_int_equal(e.code, ERR_DIRECTORY_NOT_EMPTY);
	assert_int_equal(remove_path(t, "tree", true, &e), 0);
	assert_false(is_there(t, "tree"));
	assert_int_equal(access(t->beside, F_OK), 0);
	assert_int_equal(remove_path(t, "tree", true, &e), -1);
	assert_int_equal(e.code, ERR_FILE_NOT_FOUND);
}

static void nothing_beyond_a_link_is_touched(void **state)
{
	const struct place_of_test *t = *state;
	struct err e;

	assert_int_equal(symlink(t->top, at(t, "up")), 0);
	assert_int_equal(remove_path(t, "up/beside", true, &e), -1);
	assert_int_equal(e.code, ERR_SYMLINK_OUTSIDE_WORKSPACE);
	assert_int_equal(access(t->beside, F_OK), 0);
}

/* In a directory with the sticky bit another user's link cannot be removed, which the kernel says
 * by the same error as for a directory. What it leads to is not to be emptied instead. */
static void a_link_that_cannot_be_removed_is_not_followed(void **state)
{
	enum { NOBODY = 65534 };
	const struct place_of_test *t = *state;
	char stays[128];
	struct err e;
	int status;

	if (geteuid() != 0)
		skip_because("needs root to become another user");
	(void)snprintf(stays, sizeof stays, "%s/stays", t->beside);
	assert_int_equal(mkdir(stays, 0777), 0);
	assert_int_equal(symlink(t->beside, at(t, "link")), 0);
	assert_int_equal(chmod(t->beside, 0777) | chmod(t->top, 0755) | chmod(t->root, 01777), 0);
	const pid_t pid = fork();
	if (pid == 0)
		_exit(setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ||
		      remove_path(t, "link", true, &e) != -1 || e.code != ERR_PERMISSION_DENIED);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(stays, F_OK), 0);
	assert_int_equal(rmdir(stays), 0);
}

static void the_workspace_itself_is_emptied(void **state)
{
	const struct place_of_test *t = *state;
	struct err e;

	make_file(t, "file");
	assert_int_equal(remove_path(t, ".", false, &e), -1);
	assert_int_equal(e.code, ERR_DIRECTORY_NOT_EMPTY);
	assert_int_equal(remove_path(t, ".", true, &e), 0);
	assert_false(is_there(t, "file"));
	assert_int_equal(access(t->root, F_OK), 0);
}

static void a_tree_may_be_only_so_deep(void **state)
{
	const struct place_of_test *t = *state;
	struct err e;
	int dir = open(t->root, O_DIRECTORY | O_RDONLY);

	for (int i = 0; i <= LIMIT_REMOVE_DEPTH + 1; i++) {
		assert_int_equal(mkdirat(dir, "d", 0700), 0);
		const int below = openat(dir, "d", O_DIRECTORY | O_RDONLY);
		close(dir);
		dir = below;
	}
	close(dir);
	assert_int_equal(remove_path(t, "d", true, &e), -1);
	/* From half way down it is not too deep any more. */
	char half[LIMIT_REMOVE_DEPTH + 1] = "";
	for (int i = 0; i < LIMIT_REMOVE_DEPTH; i++)
		half[i] = i % 2 ? '/' : 'd';
	assert_int_equal(remove_path(t, half, true, &e), 0);
	assert_int_equal(remove_path(t, "d", true, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_has_the_name_is_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_beyond_a_link_is_touched, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_link_that_cannot_be_removed_is_not_followed,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_workspace_itself_is_emptied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_tree_may_be_only_so_deep, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
