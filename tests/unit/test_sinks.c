/* SPDX-License-Identifier: MIT */
/* sinks: what the table says of a path, and what the operator adds. */

#include "guard/sinks.h"

#include <string.h>

#include "unit.h"

static const struct {
	const char *path;
	enum sink_class class;
} names[] = {
	{ ".mcp.json", SINK_GUARDED },
	{ "sub/.mcp.json", SINK_NOTED },
	{ ".claude/settings.json", SINK_GUARDED },
	{ ".claude/settings.local.json", SINK_GUARDED },
	{ "deep/er/.claude/settings.json", SINK_NOTED },
	{ ".claude/agents/x.md", SINK_GUARDED },
	{ "deep/er/.claude/agents/x.md", SINK_NOTED },
	{ ".claude/commands/x.md", SINK_NONE },
	{ "CLAUDE.md", SINK_NONE },
	{ ".codex/config.toml", SINK_GUARDED },
	{ ".codex/hooks.json", SINK_GUARDED },
	{ ".codex/hooks/x", SINK_GUARDED },
	{ ".codex/notes", SINK_NONE },
	{ ".gemini/settings.json", SINK_GUARDED },
	{ ".gemini/extensions/a/b.js", SINK_GUARDED },
	{ ".qwen/settings.json", SINK_GUARDED },
	{ ".opencode/plugin/x.js", SINK_GUARDED },
	{ "opencode.json", SINK_GUARDED },
	{ "opencode.jsonc", SINK_GUARDED },
	{ ".cursor/mcp.json", SINK_GUARDED },
	{ ".cursor/hooks.json", SINK_GUARDED },
	{ ".cursor/rules/x", SINK_NONE },
	{ ".sidecarignore", SINK_GUARDED },
	{ "a/.sidecarignore", SINK_NONE },
	{ ".vscode/tasks.json", SINK_NOTED },
	{ "pkg/.vscode/launch.json", SINK_NOTED },
	{ ".vscode/extensions.json", SINK_NONE },
	{ ".idea/workspace.xml", SINK_NOTED },
	{ ".devcontainer.json", SINK_NOTED },
	{ ".devcontainer/devcontainer.json", SINK_NOTED },
	{ ".envrc", SINK_NOTED },
	{ ".husky/pre-commit", SINK_NOTED },
	{ ".github/workflows/x.yml", SINK_NONE },
	{ "src/main.c", SINK_NONE },
};

static void test_names(void **state)
{
	struct sinks s = { .table = { .count = 0 } };
	struct err e;
	bool said;

	(void)state;
	assert_int_equal(sinks_init(&s, STR(""), &e), 0);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct sink_rule r = sinks_match(&s, str_of(names[i].path), false, &said);
		if (r.class != names[i].class)
			fail_msg("%s is %d", names[i].path, r.class);
		assert_int_equal(said, r.class != SINK_NONE);
		if (r.class != SINK_NONE)
			assert_true(r.rule.n && r.why && *r.why);
	}
	sinks_done(&s);
}

static void test_the_operator_decides(void **state)
{
	static const struct {
		const char *path;
		enum sink_class class;
		bool said;
	} own[] = {
		{ "Makefile", SINK_GUARDED, true },
		{ "a/Makefile", SINK_GUARDED, true },
		{ "ci/run", SINK_GUARDED, true },
		{ "ci/free/x", SINK_NONE, true },
		{ "ci/free/but/x", SINK_NONE, true },
		{ ".mcp.json", SINK_NONE, true },
		{ ".git/hooks/x", SINK_NONE, true },
		{ ".claude/settings.json", SINK_GUARDED, true },
		{ "b", SINK_NONE, false },
	};
	struct sinks s = { .table = { .count = 0 } };
	struct err e;
	bool said;

	(void)state;
	assert_int_equal(
		sinks_init(&s, STR("Makefile\nci/\n!ci/free\n!/.mcp.json\n!.git/hooks\n"), &e), 0);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		const struct sink_rule r = sinks_match(&s, str_of(own[i].path), false, &said);
		if (r.class != own[i].class || said != own[i].said)
			fail_msg("%s is %d", own[i].path, r.class);
	}
	sinks_done(&s);
}

/* A link or a directory of that name could bring a guarded name. */
static void test_names_that_lead_there(void **state)
{
	static const char *const ways[] = { ".claude", ".codex", "ci",	"ci/deep",
					    "x/y/sh",  "tools",	 "any", "any/d/e" };
	static const char *const others[] = { "src",	  "x/.claude", ".claude/commands",
					      "Makefile", "ci/run.sh", "x/ci",
					      "ci/other", "sh/x/y" };
	struct sinks s = { .table = { .count = 0 } };
	struct err e;

	(void)state;
	assert_int_equal(sinks_init(&s,
				    STR("Makefile\n/ci/deep/run.sh\n**/sh/*.sh\nt*/run\nany/**/x\n"
					"!src/x\n"),
				    &e),
			 0);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!sinks_lead(&s, str_of(ways[i])))
			fail_msg("%s leads nowhere", ways[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (sinks_lead(&s, str_of(others[i])))
			fail_msg("%s leads somewhere", others[i]);
	sinks_done(&s);
}

static void test_names_in_a_git_directory(void **state)
{
	(void)state;
	assert_int_equal(sinks_in_git(STR("hooks")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("hooks/pre-commit")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("config")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("config.worktree")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("info/attributes")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("commondir")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("config.lock")).class, SINK_NONE);
	assert_int_equal(sinks_in_git(STR("info/exclude")).class, SINK_NONE);
	assert_int_equal(sinks_in_git(STR("refs/heads/config")).class, SINK_NONE);
	assert_int_equal(sinks_in_git(STR("HEAD")).class, SINK_NONE);
	assert_int_equal(sinks_in_git(STR("modules/m/hooks/x")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("modules/a/m/config")).class, SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("modules/m/modules/n/info/attributes")).class,
			 SINK_GUARDED);
	assert_int_equal(sinks_in_git(STR("modules/hooks/HEAD")).class, SINK_NONE);
	assert_int_equal(sinks_in_git(STR("worktrees/w/config.worktree")).class, SINK_NOTED);
	assert_int_equal(sinks_in_git(STR("worktrees/config/HEAD")).class, SINK_NONE);
	assert_int_equal(sinks_in_git(STR("worktrees/config")).class, SINK_NONE);
	assert_true(sinks_has_name(STR("/x/.git/y")));
	assert_true(sinks_has_name(STR(".claude")));
	assert_false(sinks_has_name(STR("/dev/null")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_the_operator_decides),
		cmocka_unit_test(test_names_that_lead_there),
		cmocka_unit_test(test_names_in_a_git_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
