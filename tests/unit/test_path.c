/* SPDX-License-Identifier: MIT */
/* What requested paths mean, as tables. */

#include "unit.h"

#include <stdlib.h>

#include "base/own.h"
#include "workspace/path.h"

enum place_set { PLAIN, SLASH, LITERAL, ALIASED, DATA, PROJECTS, LITERAL_SLASH, NESTED, LINKED };

#define S(text)                                                                                    \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static const struct path_rules sets[] = {
	[PLAIN] = { .root = S("/tmp/root") },
	[SLASH] = { .root = S("/") },
	[LITERAL] = { .root = S("/tmp/root"), .outside = true },
	[ALIASED] = { .root = S("/real/ws"), .alias = S("/workspace") },
	[DATA] = { .root = S("/tmp/root"), .data = S("/data") },
	[PROJECTS] = { .root = S("/projects/ws"),
		       .data = S("/data"),
		       .allowed = S("/projects"),
		       .outside = true },
	[LITERAL_SLASH] = { .root = S("/"), .outside = true },
	[NESTED] = { .root = S("/data/ws"), .data = S("/data") },
	[LINKED] = { .root = S("/mnt/projects/ws"),
		     .alias = S("/projects/ws"),
		     .data = S("/mnt/data"),
		     .data_alias = S("/data"),
		     .allowed = S("/mnt/projects"),
		     .allowed_alias = S("/projects"),
		     .outside = true },
};

enum { ANY = -1, SHORT = PATH_SHORTHAND, STRICT = PATH_STRICT };

/* W: below the workspace root, D: below the data directory, O: below the outermost root; else the
 * name of the error. */
static const struct {
	enum place_set set;
	struct str requested;
	int policy;
	const char *want;
} cases[] = {
	/* the table of the specification */
	{ PLAIN, S("/tmp/root/logs/output.log"), SHORT, "W:logs/output.log" },
	{ PLAIN, S("/logs/output.log"), SHORT, "W:logs/output.log" },
	{ PLAIN, S("/logs/output.log"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ SLASH, S("/home/kevin/worktrees/assistant"), ANY, "W:home/kevin/worktrees/assistant" },
	{ LITERAL, S("/etc/passwd"), ANY, "O:etc/passwd" },
	{ LITERAL, S("/"), ANY, "O:" },
	{ PLAIN, S("/"), ANY, "W:" },
	{ PLAIN, S("../etc/passwd"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ LITERAL, S("../etc/passwd"), ANY, "O:tmp/etc/passwd" },
	{ PLAIN, S("a/../b"), ANY, "W:b" },
	{ LITERAL, S("a/../b"), ANY, "W:b" },
	{ PLAIN, S("/tmp/root2/x"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("/tmp/root/../etc/passwd"), SHORT, "W:tmp/etc/passwd" },
	{ PLAIN, S("/../../etc/passwd"), SHORT, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("..hidden/f"), ANY, "W:..hidden/f" },
	{ LITERAL, S("..hidden/f"), ANY, "W:..hidden/f" },
	{ PLAIN, S("dir\\sub\\f.txt"), ANY, "W:dir/sub/f.txt" },
	{ PLAIN, S("f\0.txt"), ANY, "INVALID_PATH" },
	{ LITERAL, S("f\0.txt"), ANY, "INVALID_PATH" },
	/* the root itself, in every spelling */
	{ PLAIN, S(""), ANY, "W:" },
	{ PLAIN, S("."), ANY, "W:" },
	{ PLAIN, S("./"), ANY, "W:" },
	{ PLAIN, S("./."), ANY, "W:" },
	{ PLAIN, S("//"), ANY, "W:" },
	{ PLAIN, S("///"), ANY, "W:" },
	{ PLAIN, S("/."), ANY, "W:" },
	{ PLAIN, S("\\"), ANY, "W:" },
	{ PLAIN, S("a/.."), ANY, "W:" },
	{ PLAIN, S("a/b/../.."), ANY, "W:" },
	{ PLAIN, S("/tmp/root"), ANY, "W:" },
	{ PLAIN, S("/tmp/root/"), ANY, "W:" },
	{ PLAIN, S("/tmp/root/."), ANY, "W:" },
	{ PLAIN, S("../root"), ANY, "W:" },
	{ LITERAL, S(""), ANY, "W:" },
	{ LITERAL, S("//"), ANY, "O:" },
	{ LITERAL, S("/tmp/root"), ANY, "W:" },
	{ SLASH, S(""), ANY, "W:" },
	{ SLASH, S("/"), ANY, "W:" },
	{ SLASH, S("/.."), ANY, "W:" },
	{ SLASH, S(".."), ANY, "W:" },
	/* dots that are names */
	{ PLAIN, S("..."), ANY, "W:..." },
	{ PLAIN, S("..foo"), ANY, "W:..foo" },
	{ PLAIN, S("foo.."), ANY, "W:foo.." },
	{ PLAIN, S(".../..a/...."), ANY, "W:.../..a/...." },
	{ PLAIN, S(".hidden"), ANY, "W:.hidden" },
	{ PLAIN, S("/..foo"), SHORT, "W:..foo" },
	{ PLAIN, S("/..."), SHORT, "W:..." },
	{ PLAIN, S("/..."), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("/tmp/root/..foo"), ANY, "W:..foo" },
	{ PLAIN, S("a/.../b"), ANY, "W:a/.../b" },
	/* what collapses */
	{ PLAIN, S("a//b"), ANY, "W:a/b" },
	{ PLAIN, S("a/./b/."), ANY, "W:a/b" },
	{ PLAIN, S("a/b/"), ANY, "W:a/b" },
	{ PLAIN, S("a/b///"), ANY, "W:a/b" },
	{ PLAIN, S("./a"), ANY, "W:a" },
	{ PLAIN, S("a/b/../../c"), ANY, "W:c" },
	{ PLAIN, S("//tmp//root//x"), ANY, "W:x" },
	{ PLAIN, S("/./tmp/./root/./x"), ANY, "W:x" },
	{ PLAIN, S("/tmp/a/../root/x"), ANY, "W:x" },
	{ PLAIN, S("/../tmp/root/x"), ANY, "W:x" },
	{ PLAIN, S("//x"), SHORT, "W:x" },
	{ PLAIN, S("/x/../y"), SHORT, "W:y" },
	{ PLAIN, S("/x/.."), SHORT, "W:" },
	/* climbing */
	{ PLAIN, S(".."), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("../"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("../.."), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("a/../.."), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("a/../../b"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("../../../../../../etc"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("..\\..\\etc\\passwd"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("../root2/x"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("../roo"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("../root/x"), ANY, "W:x" },
	{ PLAIN, S("../../tmp/root/x"), ANY, "W:x" },
	{ PLAIN, S("../root/../root/x"), ANY, "W:x" },
	{ PLAIN, S("../root/.."), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("/.."), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("/../x"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ SLASH, S("../../etc"), ANY, "W:etc" },
	{ SLASH, S("/../etc"), ANY, "W:etc" },
	/* whole components */
	{ PLAIN, S("/tmp/root2"), SHORT, "W:tmp/root2" },
	{ PLAIN, S("/tmp/roo"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("/tmp"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("/tmp/root.bak/x"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("/tmp/Root/x"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ LITERAL, S("/tmp/root2"), ANY, "O:tmp/root2" },
	/* backslashes */
	{ PLAIN, S("\\tmp\\root\\x"), ANY, "W:x" },
	{ PLAIN, S("\\logs\\x"), SHORT, "W:logs/x" },
	{ PLAIN, S("\\logs\\x"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ PLAIN, S("a\\..\\b"), ANY, "W:b" },
	{ PLAIN, S("C:\\x"), ANY, "W:C:/x" },
	{ PLAIN, S("\\\\host\\share"), SHORT, "W:host/share" },
	/* names are bytes */
	{ PLAIN, S("a b"), ANY, "W:a b" },
	{ PLAIN, S("~"), ANY, "W:~" },
	{ PLAIN, S("$HOME/%2e%2e/x"), ANY, "W:$HOME/%2e%2e/x" },
	{ PLAIN, S("\xff\xfe"), ANY, "W:\xff\xfe" },
	{ PLAIN, S("a\nb\x01"), ANY, "W:a\nb\x01" },
	{ PLAIN, S("\0"), ANY, "INVALID_PATH" },
	{ PLAIN, S("/tmp/root/x\0"), ANY, "INVALID_PATH" },
	/* the operator's own spelling of the root */
	{ ALIASED, S("/workspace/x"), ANY, "W:x" },
	{ ALIASED, S("/real/ws/x"), ANY, "W:x" },
	{ ALIASED, S("/workspace"), ANY, "W:" },
	{ ALIASED, S("/workspace2/x"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ ALIASED, S("/workspace/../x"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ ALIASED, S("../workspace/x"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ ALIASED, S("../ws/x"), ANY, "W:x" },
	/* DATA_DIR, by absolute path only */
	{ DATA, S("/data/settings.json"), ANY, "D:settings.json" },
	{ DATA, S("/data"), ANY, "D:" },
	{ DATA, S("/data/"), ANY, "D:" },
	{ DATA, S("/data/../etc/passwd"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ DATA, S("/data/../etc/passwd"), SHORT, "W:etc/passwd" },
	{ DATA, S("/data2/x"), STRICT, "PATH_OUTSIDE_WORKSPACE" },
	{ DATA, S("../../data/x"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	{ DATA, S("data/x"), ANY, "W:data/x" },
	{ NESTED, S("/data/ws/x"), ANY, "W:x" },
	{ NESTED, S("/data/other"), ANY, "D:other" },
	{ NESTED, S("../other"), ANY, "PATH_OUTSIDE_WORKSPACE" },
	/* ALLOWED_ROOT_DIRECTORY */
	{ PROJECTS, S("/projects/my-app/src/index.ts"), ANY, "O:my-app/src/index.ts" },
	{ PROJECTS, S("/projects/ws/x"), ANY, "W:x" },
	{ PROJECTS, S("/data/settings.json"), ANY, "D:settings.json" },
	{ PROJECTS, S("/projects"), ANY, "O:" },
	{ PROJECTS, S("/etc/passwd"), ANY, "PATH_NOT_ALLOWED" },
	{ PROJECTS, S("/"), ANY, "PATH_NOT_ALLOWED" },
	{ PROJECTS, S("/projects/../etc/passwd"), ANY, "PATH_NOT_ALLOWED" },
	{ PROJECTS, S("/projects2"), ANY, "PATH_NOT_ALLOWED" },
	{ PROJECTS, S("../x"), ANY, "O:x" },
	{ PROJECTS, S("../../etc"), ANY, "PATH_NOT_ALLOWED" },
	{ PROJECTS, S("../../data/x"), ANY, "D:x" },
	{ PROJECTS, S("x"), ANY, "W:x" },
	{ LITERAL_SLASH, S("/etc/passwd"), ANY, "W:etc/passwd" },
	{ LITERAL_SLASH, S("/"), ANY, "W:" },
	/* the operator's own spelling of the other two */
	{ LINKED, S("/projects/app/x"), ANY, "O:app/x" },
	{ LINKED, S("/mnt/projects/app/x"), ANY, "O:app/x" },
	{ LINKED, S("/projects/ws/x"), ANY, "W:x" },
	{ LINKED, S("/data/x"), ANY, "D:x" },
	{ LINKED, S("/mnt/data/x"), ANY, "D:x" },
	{ LINKED, S("/mnt/x"), ANY, "PATH_NOT_ALLOWED" },
	{ LINKED, S("/projects2"), ANY, "PATH_NOT_ALLOWED" },
};

static void check(size_t i, enum path_policy policy)
{
	const struct str requested = guarded(cases[i].requested);
	char got[PATH_MAX + 8];
	struct path p;
	struct err e = { 0 };

	if (path_resolve(&sets[cases[i].set], requested, policy, &p, &e) < 0)
		(void)snprintf(got, sizeof got, "%s", err_name(e.code));
	else
		(void)snprintf(got, sizeof got, "%c:%s", "WDO"[p.base], p.name);
	if (strcmp(got, cases[i].want) != 0)
		fail_msg("row %zu: \"%.*s\", %s: got %s, want %s", i, STR_FMT(cases[i].requested),
			 policy == PATH_STRICT ? "strict" : "shorthand", got, cases[i].want);
	guarded_free(requested);
}

static void rows_of_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int policy = PATH_SHORTHAND; policy <= PATH_STRICT; policy++)
			if (cases[i].policy == ANY || cases[i].policy == policy)
				check(i, (enum path_policy)policy);
}

static int resolve_repeated(size_t n, bool slashes, struct path *p, struct err *e)
{
	char *text = malloc(n + 1);

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		text[i] = slashes && i % 2 ? '/' : 'a';
	const int rc = path_resolve(&sets[PLAIN], (struct str){ text, n }, PATH_STRICT, p, e);
	free(text);
	return rc;
}

static void borders_of_length(void **state)
{
	static const struct {
		size_t n;
		bool slashes, ok;
	} lengths[] = {
		{ NAME_MAX, false, true },     { NAME_MAX + 1, false, false },
		{ PATH_MAX - 1, true, true },  { PATH_MAX, true, false },
		{ PATH_MAX + 1, true, false }, { 1 << 20, true, false },
	};
	struct path p;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		const int rc = resolve_repeated(lengths[i].n, lengths[i].slashes, &p, &e);
		assert_int_equal(rc, lengths[i].ok ? 0 : -1);
		if (rc < 0)
			assert_int_equal(e.code, ERR_INVALID_PATH);
	}
}

static void a_long_path_may_stand_below_a_long_root(void **state)
{
	char root[PATH_MAX], asked[PATH_MAX];
	struct path p;
	struct err e;

	(void)state;
	for (size_t i = 0; i < PATH_MAX; i++) {
		root[i] = i % 2 ? 'r' : '/';
		asked[i] = i % 2 ? '/' : 'a';
	}
	const struct path_rules rules = { .root = { root, PATH_MAX - 2 } };
	const struct str request = { asked, PATH_MAX - 1 };
	assert_int_equal(path_resolve(&rules, request, PATH_STRICT, &p, &e), 0);
	assert_int_equal(strlen(p.name), PATH_MAX - 1);
}

static void refusals_say_what_to_do(void **state)
{
	struct path p = { .base = PATH_DATA, .name = "untouched" };
	struct err e;

	(void)state;
	assert_int_equal(path_resolve(&sets[PLAIN], STR("../x"), PATH_STRICT, &p, &e), -1);
	assert_string_equal(e.msg,
			    "Path is outside the workspace: ../x. Use a path relative to the "
			    "workspace root.");
	assert_int_equal(
		path_resolve(&sets[PROJECTS], STR("/projects/../etc/passwd"), PATH_STRICT, &p, &e),
		-1);
	assert_string_equal(e.msg, "Path not allowed: /projects/../etc/passwd. Must be within "
				   "ALLOWED_ROOT_DIRECTORY or DATA_DIR.");
	assert_int_equal(p.base, PATH_DATA);
	assert_string_equal(p.name, "untouched");
}

static void containment_is_by_components(void **state)
{
	static const struct {
		const char *dir, *path, *below; /* NULL: not within */
	} rows[] = {
		{ "/", "/", "" },	   { "/", "/a", "a" },	   { "/", "/a/b", "a/b" },
		{ "/a", "/a", "" },	   { "/a", "/a/b", "b" },  { "/a", "/ab", NULL },
		{ "/a", "/", NULL },	   { "/a/b", "/a", NULL }, { "/a/b", "/a/b/c/d", "c/d" },
		{ "/a/b", "/a/bc", NULL }, { "/a", "/b/a", NULL },
	};
	struct str below;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const bool within = path_within(str_of(rows[i].dir), str_of(rows[i].path), &below);
		assert_int_equal(within, rows[i].below != NULL);
		if (within)
			assert_str(below, rows[i].below);
	}
}

static void normalising_collapses(void **state)
{
	static const char *const rows[][2] = {
		{ "/", "/" },
		{ "//", "/" },
		{ "/.", "/" },
		{ "/..", "/" },
		{ "/../..", "/" },
		{ "/a/..", "/" },
		{ "/a/../b", "/b" },
		{ "/a/b/..", "/a" },
		{ "/a//b/./c/", "/a/b/c" },
		{ "/..a/b..", "/..a/b.." },
		{ "/a/../../b", "/b" },
		{ "/.../a", "/.../a" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char to[32];
		const size_t n = path_normalise(str_of(rows[i][0]), to);
		assert_string_equal(to, rows[i][1]);
		assert_int_equal(n, strlen(to));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_the_table),
		cmocka_unit_test(borders_of_length),
		cmocka_unit_test(a_long_path_may_stand_below_a_long_root),
		cmocka_unit_test(refusals_say_what_to_do),
		cmocka_unit_test(containment_is_by_components),
		cmocka_unit_test(normalising_collapses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
