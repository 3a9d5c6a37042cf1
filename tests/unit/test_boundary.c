/* SPDX-License-Identifier: MIT */
/* The public library: which paths are allowed, where they lead, and opening them. */

#include "scratch.h"

#include <sidecar.h>

static struct scratch s;

static int set_up(void **state)
{
	(void)state;
	s = scratch_new();
	put_dir(&s, "projects");
	put_dir(&s, "projects/ws");
	put_dir(&s, "projects/my-app");
	put_dir(&s, "out");
	put(&s, "projects/ws/f", "inside");
	put(&s, "out/passwd", "SECRET");
	put_link(&s, "projects/link", "@/out");
	put_link(&s, "projects/ws/abs", "@/projects/ws/f");
	put_link(&s, "projects/ws/leaves", "@/out/passwd");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_free(&s);
	return 0;
}

static struct sidecar_boundary *make(bool outside, bool limited)
{
	char root[PATH_MAX], data[PATH_MAX], allowed[PATH_MAX];
	struct sidecar_error error;

	(void)snprintf(root, sizeof root, "%s", in(&s, "projects/ws"));
	(void)snprintf(data, sizeof data, "%s", in(&s, "data"));
	(void)snprintf(allowed, sizeof allowed, "%s", in(&s, "projects"));
	const struct sidecar_options options = {
		.workspace_root = root,
		.data_dir = data,
		.allowed_root = limited ? allowed : NULL,
		.allow_outside = outside,
	};
	struct sidecar_boundary *b = sidecar_boundary_new(&options, &error);
	if (!b)
		fail_msg("%s", error.message);
	return b;
}

/* Names that begin with "@" are below the scratch directory. */
static const char *full(const char *name)
{
	return *name == '@' ? in(&s, name + 2) : name;
}

static void each_path_leads_where_listed(void **state)
{
	static const struct {
		const char *path, *want; /* where it leads, or the code of the error */
	} rows[] = {
		{ "@/projects/my-app/src/index.ts", "@/projects/my-app/src/index.ts" },
		{ "@/data/settings.json", "@/data/settings.json" },
		{ "@/data", "@/data" },
		{ "@/projects", "@/projects" },
		{ "f", "@/projects/ws/f" },
		{ "", "@/projects/ws" },
		{ "abs", "@/projects/ws/f" },
		{ "new/file", "@/projects/ws/new/file" },
		{ "/etc/passwd", "PATH_NOT_ALLOWED" },
		{ "@/projects/../etc/passwd", "PATH_NOT_ALLOWED" },
		{ "@/projects/link/passwd", "SYMLINK_OUTSIDE_WORKSPACE" },
		{ "leaves", "SYMLINK_OUTSIDE_WORKSPACE" },
	};
	struct sidecar_boundary *b = make(true, true);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char got[SIDECAR_PATH_MAX] = "";
		struct sidecar_error error = { "", "" };
		const int n = sidecar_validate_path(b, full(rows[i].path), got, sizeof got, &error);
		assert_string_equal(n < 0 ? error.code : got, full(rows[i].want));
		assert_int_equal(n < 0, *error.message != '\0');
		assert_int_equal(sidecar_is_path_allowed(b, full(rows[i].path)), n >= 0);
		assert_true(n < 0 || (size_t)n == strlen(got));
	}
	sidecar_boundary_free(b);
}

static void within_a_directory_by_text(void **state)
{
	static char longest[PATH_MAX + 8];
	static const struct {
		const char *path, *directory;
		bool want;
	} rows[] = {
		{ "/projects/app/src", "/projects", true },
		{ "/projects/file.txt", "/projects", true },
		{ "/projects", "/projects", true },
		{ "/projects/", "/projects", true },
		{ "/projects/a", "/projects/", true },
		{ "/projects/a", "//projects/./x/..", true },
		{ "/projects/..a", "/projects", true },
		{ "/projects/../projects/a", "/projects", true },
		{ "/etc/passwd", "/", true },
		{ "/", "/", true },
		{ "/../..", "/", true },
		{ "/", "/projects", false },
		{ "/etc/passwd", "/projects", false },
		{ "/home/user", "/projects", false },
		{ "/projects2/a", "/projects", false },
		{ "/project", "/projects", false },
		{ "/projects/../etc", "/projects", false },
		{ "/projects/../../root", "/projects", false },
		{ "projects/a", "/projects", false },
		{ "/projects/a", "projects", false },
		{ "a", "", false },
		{ "", "/", false },
		{ NULL, "/", false },
		{ "/a", NULL, false },
		{ longest, "/", false },
	};

	(void)state;
	memset(longest, '/', sizeof longest - 1);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (sidecar_is_path_within(rows[i].path, rows[i].directory) != rows[i].want)
			fail_msg("%s in %s", rows[i].path, rows[i].directory);
}

static void directories_are_listed_once(void **state)
{
	(void)state;
	struct sidecar_boundary *b = make(true, true);
	assert_string_equal(sidecar_workspace_root(b), in(&s, "projects/ws"));
	assert_string_equal(sidecar_allowed_root(b), in(&s, "projects"));
	assert_string_equal(sidecar_data_dir(b), in(&s, "data"));
	const char *const *trees = sidecar_allowed_paths(b);
	assert_string_equal(trees[0], in(&s, "projects"));
	assert_string_equal(trees[1], in(&s, "data"));
	assert_null(trees[2]);
	sidecar_boundary_free(b);
	b = make(false, false);
	assert_null(sidecar_allowed_root(b));
	trees = sidecar_allowed_paths(b);
	assert_string_equal(trees[0], in(&s, "projects/ws"));
	assert_string_equal(trees[1], in(&s, "data"));
	assert_null(trees[2]);
	assert_false(sidecar_is_path_allowed(b, in(&s, "projects/my-app")));
	sidecar_boundary_free(b);
	b = make(true, false);
	trees = sidecar_allowed_paths(b);
	assert_string_equal(trees[0], "/");
	assert_null(trees[1]);
	sidecar_boundary_free(b);
	sidecar_boundary_free(NULL);
}

static void files_inside_can_be_opened(void **state)
{
	struct sidecar_boundary *b = make(false, false);
	struct sidecar_error error;
	char text[16] = "";

	(void)state;
	const int fd = sidecar_open_beneath(b, "abs", O_RDONLY, &error);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof text - 1), 6);
	assert_string_equal(text, "inside");
	(void)close(fd);
	assert_int_equal(sidecar_open_beneath(b, "leaves", O_RDONLY, &error), -1);
	assert_string_equal(error.code, "SYMLINK_OUTSIDE_WORKSPACE");
	assert_int_equal(sidecar_open_beneath(b, "missing", O_RDONLY, &error), -1);
	assert_string_equal(error.code, "FILE_NOT_FOUND");
	assert_int_equal(sidecar_open_beneath(b, "new", O_WRONLY | O_CREAT, &error), -1);
	assert_string_equal(error.code, "INVALID_ARGUMENTS");
	assert_int_equal(sidecar_open_beneath(b, "f", O_WRONLY | O_TRUNC, NULL), -1);
	assert_string_equal(get(&s, "projects/ws/f"), "inside");
	sidecar_boundary_free(b);
}

static void wrong_settings_are_refused(void **state)
{
	struct sidecar_options options = { .workspace_root = "relative" };
	struct sidecar_error error = { "", "" };
	char small[4] = "old";

	(void)state;
	assert_null(sidecar_boundary_new(&options, &error));
	assert_string_equal(error.code, "INVALID_PATH");
	assert_string_equal(error.message,
			    "WORKSPACE_ROOT must be an absolute path, but it is \"relative\"");
	assert_null(sidecar_boundary_new(&options, NULL));
	struct sidecar_boundary *b = make(false, false);
	assert_int_equal(sidecar_validate_path(b, "f", small, sizeof small, &error), -1);
	assert_string_equal(error.code, "INVALID_PATH");
	assert_int_equal(sidecar_validate_path(b, NULL, small, sizeof small, &error), -1);
	assert_string_equal(small, "old"); /* a failure writes nothing */
	sidecar_boundary_free(b);
}

#define OVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OVER(each_path_leads_where_listed),
		OVER(directories_are_listed_once),
		cmocka_unit_test(within_a_directory_by_text),
		OVER(files_inside_can_be_opened),
		OVER(wrong_settings_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
