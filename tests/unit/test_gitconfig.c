/* SPDX-License-Identifier: MIT */
/* gitconfig: which keys execute, and texts that are hard to read. */

#include "guard/gitconfig.h"

#include <string.h>

#include "unit.h"

#define OLD "[core]\n\tbare = false\n\tpager = less -R\n[alias]\n\tst = status\n"

/* The key that is new and executes; "": none; "?": it cannot be read. */
static const struct {
	const char *new, *key;
} texts[] = {
	{ "", "" },
	{ OLD, "" },
	{ OLD "[user]\n\tname = x\n", "" },
	{ OLD "[remote \"o\"]\n\turl = /x\n\tfetch = +refs/heads/*:refs/remotes/o/*\n", "" },
	{ OLD "[branch \"main\"]\n\tremote = o\n\tmerge = refs/heads/main\n", "" },
	{ OLD "[submodule \"a\"]\n\tactive = true\n\turl = ../a\n", "" },
	{ OLD "[extensions]\n\tworktreeConfig = true\n", "" },
	{ OLD "[alias]\n\tst = status\n", "" },
	{ OLD "[alias]\n\tco = checkout\n", "alias.co" },
	{ "[alias]\n\tco = submodule foreach ./x\n", "alias.co" },
	{ "[gc]\n\trecentObjectsHook = x\n", "gc.recentobjectshook" },
	{ "[svn]\n\tauthorsProg = x\n", "svn.authorsprog" },
	{ "[core]\n\talternateRefsCommand = x\n", "core.alternaterefscommand" },
	{ "[uploadpack]\n\tpackObjectsHook = x\n", "uploadpack.packobjectshook" },
	{ "[submodule \"a\"]\n\tupdate = \r!x\n", "submodule.a.update" },
	{ "[core\r\"a\"]\n\teditor = x\n", "core.a.editor" },
	{ "[core]\n\tx =\r\n\teditor = x\r\n", "core.editor" },
	{ OLD "# [core] fsmonitor = x\n; x = \"\n", "" },
	{ "[core]\n\tpager = less -R\n", "" },
	{ "[CORE]\r\n\tPager = \"less -R\"\r\n", "" },
	{ "[core]\n\tpager = less\n", "core.pager" },
	{ "[core]\n\tfsmonitor = x\n", "core.fsmonitor" },
	{ "[core] fsmonitor = x", "core.fsmonitor" },
	{ "[core]\n\tfsmonitor\n", "core.fsmonitor" },
	{ "[core]fsmonitor=x", "core.fsmonitor" },
	{ "[Core]\n\tHooksPath = /tmp\n", "core.hookspath" },
	{ "[core]\n\tsshCommand = x\n", "core.sshcommand" },
	{ "[core]\n\tx = a \\\n\n\teditor = y\n", "core.editor" },
	{ "[core]\n\tx = \"a\\\nb\" # c\n\taskPass = y\n", "core.askpass" },
	{ "[alias]\n\tco = !x\n", "alias.co" },
	{ "[imap]\n\ttunnel = x\n", "imap.tunnel" },
	{ "[alias]\n\tco = \"!x\"\n", "alias.co" },
	{ "[diff \"a\"]\n\ttextconv = x\n", "diff.a.textconv" },
	{ "[diff.a]\n\ttextconv = x\n", "diff.a.textconv" },
	{ "[filter \"lfs\"]\n\tsmudge = x\n", "filter.lfs.smudge" },
	{ "[filter \"a\\\"]b\"]\n\tprocess = x\n", "filter.a\"]b.process" },
	{ "[include]\n\tpath = x\n", "include.path" },
	{ "[includeIf \"gitdir:/x\"]\n\tpath = x\n", "includeif.gitdir:/x.path" },
	{ "[url \"ext::x\"]\n\tinsteadOf = https://a\n", "url.ext::x.insteadof" },
	{ "[protocol \"ext\"]\n\tallow = always\n", "protocol.ext.allow" },
	{ "[remote \"o\"]\n\tuploadpack = x\n", "remote.o.uploadpack" },
	{ "[remote \"o\"]\n\tvcs = x\n", "remote.o.vcs" },
	{ "[gpg]\n\tprogram = x\n", "gpg.program" },
	{ "[pager]\n\tlog = x\n", "pager.log" },
	{ "[sequence]\n\teditor = x\n", "sequence.editor" },
	{ "[interactive]\n\tdiffFilter = x\n", "interactive.difffilter" },
	{ "[sendemail]\n\tsendmailCmd = x\n", "sendemail.sendmailcmd" },
	{ "[credential]\n\thelper = x\n", "credential.helper" },
	{ "[mergetool \"a\"]\n\tcmd = x\n", "mergetool.a.cmd" },
	{ "[init]\n\ttemplateDir = x\n", "init.templatedir" },
	{ "[submodule \"a\"]\n\tupdate = !x\n", "submodule.a.update" },
	{ "[submodule \"a\"]\n\tupdate = merge\n", "" },
	{ "[core]\n\tworktree = /x\n", "core.worktree" },
	{ "[core\n", "?" },
	{ "x = y\n", "?" },
	{ "[core]\n\tx = \"a\n", "?" },
	{ "[core]\n\tx = \\q\n", "?" },
	{ "[core]\n\t-- = y\n\t= z\n", "?" },
	{ "[core \"a]\n\tpager = x\n", "?" },
	{ "\xef\xbb\xbf[core]\n\tfsmonitor = x\n", "core.fsmonitor" },
};

static void test_keys_that_execute(void **state)
{
	const struct str old[] = { STR(OLD), STR("") };
	char key[GITCONFIG_KEY];

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		key[0] = '\0';
		const bool executes = gitconfig_executes(str_of(texts[i].new), old, 2, key);
		if (executes != (*texts[i].key != '\0') || strcmp(key, texts[i].key) != 0)
			fail_msg("\"%s\" gives \"%s\"", texts[i].new, key);
	}
}

static void test_a_key_that_moves_is_not_new(void **state)
{
	const struct str old[] = { STR("[core]\n\tworktree = ../x\n"), STR("") };
	char key[GITCONFIG_KEY];

	(void)state;
	assert_false(gitconfig_executes(STR("[core]\n\tworktree = ../x\n"), old, 2, key));
	assert_true(gitconfig_executes(STR("[core]\n\tworktree = ../y\n"), old, 2, key));
	assert_true(gitconfig_executes(STR("[core \"a\"]\n\tworktree = ../x\n"), old, 2, key));
}

static void test_the_last_value_counts(void **state)
{
	AUTO_BUF out = { .max = 100 };

	(void)state;
	assert_true(gitconfig_value(STR("[core]\nhooksPath = a\n[core]\nHOOKSPATH=\"b c\" ; d\n"),
				    "core.hookspath", &out));
	assert_int_equal(out.n, 3);
	assert_memory_equal(out.p, "b c", 3);
	assert_false(gitconfig_value(STR("[core \"x\"]\nhooksPath = a\n"), "core.hookspath", &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_that_execute),
		cmocka_unit_test(test_a_key_that_moves_is_not_new),
		cmocka_unit_test(test_the_last_value_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
