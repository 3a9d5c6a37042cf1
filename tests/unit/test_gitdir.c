/* SPDX-License-Identifier: MIT */
/* gitdir: which names of a git directory commands may write. The rest is in test_git_directory.py. */

#include "sandbox/gitdir.h"

#include "unit.h"

#define COMMON "/r/.git"
#define OWN    COMMON "/worktrees/w"

static const struct {
	const char *name;
	enum gitdir_use worktree, submodule; /* with OWN; with COMMON as the only one */
} names[] = {
	{ COMMON, GITDIR_READ, GITDIR_READ },
	{ "/r/.github/x", GITDIR_READ, GITDIR_READ },
	{ COMMON "/objects", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/objects/pack/a", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/refs/heads/hooks", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/packed-refs.lock", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/index.lock", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/FETCH_HEAD", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/rebase-merge/done", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/gc.pid", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/HEAD/config", GITDIR_READ, GITDIR_WRITE },
	{ COMMON "/COMMIT_EDITMSG", GITDIR_READ, GITDIR_WRITE },
	{ COMMON "/description", GITDIR_READ, GITDIR_WRITE },
	{ COMMON "/config", GITDIR_READ, GITDIR_READ },
	{ COMMON "/config.lock", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/config.worktree", GITDIR_READ, GITDIR_READ },
	{ COMMON "/hooks", GITDIR_READ, GITDIR_READ },
	{ COMMON "/hooks/pre-commit", GITDIR_READ, GITDIR_READ },
	{ COMMON "/modules/m/HEAD", GITDIR_READ, GITDIR_MODULE },
	{ COMMON "/commondir", GITDIR_READ, GITDIR_READ },
	{ COMMON "/info", GITDIR_DIRECTORY, GITDIR_DIRECTORY },
	{ COMMON "/info/attributes", GITDIR_READ, GITDIR_READ },
	{ COMMON "/info/exclude", GITDIR_READ, GITDIR_READ },
	{ COMMON "/info/refs", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/info/refs/attributes", GITDIR_READ, GITDIR_READ },
	{ COMMON "/info/sparse-checkout.lock", GITDIR_WRITE, GITDIR_WRITE },
	{ COMMON "/worktrees", GITDIR_DIRECTORY, GITDIR_DIRECTORY },
	{ COMMON "/worktrees/new", GITDIR_WRITE, GITDIR_WRITE },
	{ OWN, GITDIR_READ, GITDIR_WRITE },
	{ OWN "/HEAD.lock", GITDIR_WRITE, GITDIR_WRITE },
	{ OWN "/COMMIT_EDITMSG", GITDIR_WRITE, GITDIR_WRITE },
	{ OWN "/logs/HEAD", GITDIR_WRITE, GITDIR_WRITE },
	{ OWN "/info", GITDIR_DIRECTORY, GITDIR_WRITE },
	{ OWN "/info/sparse-checkout", GITDIR_WRITE, GITDIR_WRITE },
	{ OWN "/info/attributes", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/config.worktree", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/commondir", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/gitdir", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/worktrees/x/HEAD", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/modules", GITDIR_DIRECTORY, GITDIR_WRITE },
	{ OWN "/modules/hooks", GITDIR_MODULE, GITDIR_WRITE },
	{ OWN "/modules/m/HEAD", GITDIR_MODULE, GITDIR_WRITE },
	{ OWN "/modules/m/hooks", GITDIR_DIRECTORY, GITDIR_WRITE },
	{ OWN "/modules/m/hooks/x", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/modules/m/hooks/x.sample", GITDIR_MODULE, GITDIR_WRITE },
	{ OWN "/modules/a/m/hooks/x", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/modules/m/modules/n/hooks/x", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/modules/m/config", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/modules/m/config.lock", GITDIR_MODULE, GITDIR_WRITE },
	{ OWN "/modules/m/commondir", GITDIR_READ, GITDIR_WRITE },
	{ OWN "/modules/m/info", GITDIR_DIRECTORY, GITDIR_WRITE },
	{ OWN "/modules/m/info/exclude", GITDIR_MODULE, GITDIR_WRITE },
	{ OWN "/modules/m/info/attributes", GITDIR_READ, GITDIR_WRITE },
	{ OWN "2/HEAD", GITDIR_WRITE, GITDIR_WRITE },
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (gitdir_rule(OWN, COMMON, "/w", names[i].name) != names[i].worktree ||
		    gitdir_rule(COMMON, COMMON, "/w", names[i].name) != names[i].submodule)
			fail_msg("%s", names[i].name);
	}
}

static void test_description(void **state)
{
	static const struct {
		struct gitdir g;
		const char *dir, *said;
	} cases[] = {
		{ { GITDIR_WORKTREE, "", "/a/main/.git" },
		  "/a/work",
		  "linked worktree of ../main" },
		{ { GITDIR_WORKTREE, "", "/a/r.git" }, "/a/b/c", "linked worktree of ../../r.git" },
		{ { GITDIR_WORKTREE, "", "/a/.git" }, "/a/b", "linked worktree of .." },
		{ { GITDIR_SUBMODULE, "", "/a/.git/modules/s" }, "/a/x/s", "submodule of ../.." },
		{ { GITDIR_WORKTREE, "", "/m/.git" }, "/a", "linked worktree of ../m" },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		gitdir_describe(&cases[i].g, cases[i].dir, text, sizeof text);
		assert_string_equal(text, cases[i].said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
