"""sidecar setup: an agent's configuration changes where it must, nowhere else, and can be put back byte for byte."""
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import stat
import subprocess
import tempfile
import unittest

import harness
from harness import BIN, PATIENCE

AGENTS = ["claude", "codex", "gemini", "opencode", "cursor", "vscode", "qwen"]
HELD = ["claude", "codex", "gemini", "opencode", "qwen"]

# The project's file with the MCP servers, and that with what holds the agent.
FILES = {"claude": [".mcp.json", ".claude/settings.json"], "codex": [".codex/config.toml"],
         "gemini": [".gemini/settings.json"], "opencode": ["opencode.json"], "cursor": [".cursor/mcp.json"],
         "vscode": [".vscode/mcp.json"], "qwen": [".qwen/settings.json"]}

COMMENTED = """{
    // what the team uses
    "model": "opus", /* for now */
    "mcpServers": {
        "github": { "url": "https://example.org/mcp", "headers": { "X": "a,}b" } },
    },
    "permissions": {
        "deny": ["Read(./.env)"], // secrets
    },
    "tools": { "core": ["run_shell_command"] },
    "permission": { "bash": "allow", "webfetch": "ask" }, // opencode
}
"""

TEXTS = {
    "empty": "",
    "braces": "{}",
    "one line": '{"mcpServers": {"other": {"url": "https://example.org"}}, "permission": "allow"}',
    "comments": COMMENTED,
    "crlf": COMMENTED.replace("\n", "\r\n"),
    "tabs": COMMENTED.replace("    ", "\t"),
    "byte order mark": "\ufeff" + COMMENTED,
    "no newline": COMMENTED.rstrip(),
}

def text_for(agent, text):
    """What of a text the agent reads: Claude Code no comments, only some agents a comma after the last item."""
    if agent == "claude":
        text = re.sub(r"//[^\r\n\"]*(?=\r?\n)|/\*.*?\*/", "", text)
    return re.sub(r",((?:\s|//[^\n]*\n)*[}\]])", r"\1", text) if agent in ("claude", "gemini", "qwen") else text


TOML = """# mine
model = "gpt-5.5" # the good one
approval_policy = "on-request"

[features]
shell_tool = true # for now
web = [ "a", # one
  "b" ]

[mcp_servers.files]
command = "npx"
args = ["-y", "server-filesystem", "/"]

[projects."/somewhere else"]
trust_level = "trusted"
[[rules]]
text = '''
[features]
shell_tool = "no"
'''
"""

TOMLS = {"empty": "", "usual": TOML, "crlf": TOML.replace("\n", "\r\n"), "no newline": TOML.rstrip("\n"),
         "inline": 'features = { shell_tool = true, x = 1 }\nmcp_servers = {}\n',
         "a feature's table only": '[features.code_mode]\nx = 1\n',
         "an environment only": '[mcp_servers.files.env]\nKEY = "x"\n',
         "tables below only": '[mcp_servers.files.env]\nKEY = "x"\n\n[features.x]\ny = 1\n',
         "dotted": "features.shell_tool = true\nfeatures.other = 1\n\n[tui]\nx = 1\n"}

VALUES = ["1", "true", '"a # b"', "'lit#'", '"""a\n[b]\nc = "q" """', "[ # ]\n  1, {}\n]", "{}", "{ x = 1, enabled = true }",
          '{a.b = """\n""", shell_tool = {}}', "1979-05-27 07:32:00Z"]
NAMES = ["shell_tool", "enabled", "command", "x", '"quo.ted"', "env", "'@'", "files"]


def random_toml(rng):
    """A text that is valid, of tables and keys that setup changes or stands beside."""
    import tomllib  # pylint: disable=import-outside-toplevel

    def key(tops, most):
        return ".".join([rng.choice(tops), *rng.choices(NAMES, k=rng.randint(0, most))])
    while True:
        tops = ["features", "mcp_servers", "model", "approval_policy", "projects"]
        lines = [f"{key(tops, 2)} = {rng.choice(VALUES)}" for _ in range(rng.randint(0, 2))]
        for _ in range(rng.randint(0, 4)):
            head = f"[{key(tops, 2)}]"
            lines += ["", f"[{head}]" if rng.random() < 0.1 else f"{head} # head"]
            lines += [f"{key(NAMES, 1)} = {rng.choice(VALUES)} # why" for _ in range(rng.randint(0, 3))]
        text = rng.choice(["\n", "\n", "\r\n"]).join([*lines, ""])
        try:
            tomllib.loads(text)
            return text
        except tomllib.TOMLDecodeError:
            continue


BROKEN = {"json": ['{"mcpServers": {', '{"a": 1 "b": 2}', "[]", '{"mcpServers": [], "mcp": 1, "servers": 3}', "{} x"],
          "toml": ["[mcp_servers", "mcp_servers = 3\n", 'a = "x\n', "a 1\n"]}


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="sidecar-setup-")).resolve()
        self.addCleanup(shutil.rmtree, self.top)
        self.home, self.project = self.top / "home", self.top / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.env = harness.environment(HOME=str(self.home), PATH=f"{os.path.dirname(BIN)}:/usr/bin:/bin")
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            self.env.pop(name, None)

    def sidecar(self, *argv, status=0, verb="setup"):
        done = subprocess.run([BIN, verb, *argv], cwd=self.project, env=self.env, capture_output=True, text=True,
                              timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL)
        if status is not None:
            self.assertEqual(done.returncode, status, (argv, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def put(self, name, text):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def snapshot(self):
        """Every name below home and project: its kind, mode and content, without what undo keeps for itself."""
        found = {}
        for top in (self.home, self.project):
            for path in sorted(top.rglob("*")):
                name = str(path.relative_to(self.top))
                if name.startswith("home/.local"):
                    continue
                info = path.lstat()
                content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
                found[name] = (stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode), content)
        return found

    def round_trip(self, agent, *more):
        """Set up, set up again (nothing to do), undo: everything is as it was."""
        before = self.snapshot()
        said = self.sidecar(agent, "--yes", *more, status=None)
        after = self.snapshot()
        self.assertNotEqual(before, after)
        self.assertTrue("is set up;" in said or "connected, but not held" in said, said)
        self.assertTrue("is set up already" in self.sidecar(agent, "--yes", *more, status=None) or "is set up;" not in said)
        self.assertEqual(self.snapshot(), after)
        self.sidecar(agent, "--undo", "--yes", *[word for word in more if word == "--user"])
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(list((self.home / ".local").rglob("*.json")), [])


class TestFiles(SetupTest):
    def test_files_that_did_not_exist_are_made_and_removed(self):
        for agent in AGENTS:
            for more in [[], ["--user"], *([["--only"], ["--only", "--user"]] if agent in HELD else [])]:
                with self.subTest(agent=agent, more=more):
                    self.round_trip(agent, *more)

    def test_every_json_text_is_put_back_byte_for_byte(self):
        for agent in AGENTS:
            for kind, text in TEXTS.items():
                with self.subTest(agent=agent, text=kind):
                    for name in FILES[agent]:
                        self.put(name, text_for(agent, text) if name.endswith("json") else "")
                    self.round_trip(agent, *(["--only"] if agent in HELD else []))

    def test_every_toml_text_is_put_back_byte_for_byte(self):
        import tomllib  # pylint: disable=import-outside-toplevel
        for kind, text in TOMLS.items():
            with self.subTest(text=kind):
                path = self.put(".codex/config.toml", text)
                self.sidecar("codex", "--only", "--yes")
                now = tomllib.loads(path.read_bytes().decode())
                self.assertEqual(now["features"]["shell_tool"], False)
                self.assertEqual(now["features"]["unified_exec"], False)
                self.assertEqual(now["mcp_servers"]["sidecar"]["args"], ["mcp"])
                self.assertEqual((now["sandbox_mode"], now["approval_policy"]), ("read-only", "never"))
                if "files" in text:
                    self.assertEqual(now["mcp_servers"]["files"]["enabled"], False)
                if kind == "usual":
                    self.assertEqual(now["rules"][0]["text"], '[features]\nshell_tool = "no"\n')
                    self.assertIn("shell_tool = false # for now\n", path.read_text())
                self.sidecar("--check", "codex")
                self.sidecar("codex", "--undo", "--yes")
                self.assertEqual(path.read_bytes(), text.encode())

    def test_toml_stays_valid_whatever_it_was(self):
        import tomllib  # pylint: disable=import-outside-toplevel
        rng = random.Random(1)
        changed = 0
        for _ in range(150):
            text = random_toml(rng)
            with self.subTest(text=text):
                path = self.put(".codex/config.toml", text)
                if "nothing was changed" in self.sidecar("codex", "--only", "--yes", status=None):
                    self.assertEqual(path.read_bytes(), text.encode())
                    continue
                changed += 1
                now = tomllib.loads(path.read_bytes().decode())
                self.assertEqual((now["features"]["shell_tool"], now["approval_policy"]), (False, "never"))
                for name, server in now["mcp_servers"].items():
                    self.assertEqual(server.get("enabled"), None if name == "sidecar" else False)
                edit = rng.choice([b"", b"[mine]\nx = 1\n"])
                path.write_bytes(path.read_bytes() + edit)
                self.sidecar("codex", "--undo", "--yes")
                self.assertEqual(path.read_bytes(), text.encode() + edit)
        self.assertGreater(changed, 50)

    def test_what_is_not_ours_stays(self):
        path = self.put("opencode.json", COMMENTED)
        self.sidecar("opencode", "--only", "--yes")
        text = path.read_text()
        for line in COMMENTED.splitlines()[:-2]:
            self.assertIn(line, text)
        for comment in ("// what the team uses", "/* for now */", "// secrets", "// opencode"):
            self.assertIn(comment, text)
        path = self.put(".claude/settings.json", text_for("claude", COMMENTED))
        self.sidecar("claude", "--only", "--yes", status=1)  # members that it cannot judge
        self.assertIn('"Read(./.env)", "Bash"', path.read_text())

    def test_what_the_agent_would_not_read_is_refused(self):
        for agent, text, why in (("claude", '{\n "a": 1 // x\n}', "line 2: there is a comment"), ("claude", '{"a": 1,\n}', "line 2"),
                                 ("claude", '{"model": 1}', "model is not a string"), ("claude", '{"env": "x"}', "env is not an object"),
                                 ("claude", '{"permissions": {"allow": "x"}}', "allow is not a list"),
                                 ("claude", '{"respectGitignore": "x"}', "respectGitignore is not true or false"),
                                 ("claude", '{"permissions": {"defaultMode": "nope"}}', "defaultMode is not a mode"),
                                 ("claude", '{"permissions": {"additionalDirectories": ["a", 1]}}', "additionalDirectories is not a list of"),
                                 ("claude", '{"availableModels": [1]}', "availableModels is not a list of strings"),
                                 ("claude", '{"sandbox": {"enabled": 1}}', "enabled is not true or false"),
                                 ("claude", '{"spinnerVerbs": 1}', "spinnerVerbs is not an object"),
                                 ("claude", '{"tui": "x"}', "tui is not default"), ("claude", '{"model": null}', "model is not"),
                                 ("claude", '{"cleanupPeriodDays": 0}', "cleanupPeriodDays is not a number above 0"),
                                 ("claude", '{\n"language": "a\tb"}', "line 2: a string has a control character"),
                                 ("claude", '{\n\n"model": "a\\x"}', "line 3: a string has"), ("claude", '{"x": tru}', "line 1: a value"),
                                 ("gemini", '{\n"a": "b\t"}', "line 2: a string"), ("qwen", '{"a": 01}', "line 1: a value"),
                                 ("codex", "x = 1\ny = tru\n", "line 2: a value is not one of TOML"),
                                 ("codex", "[a]\nx = 1\n[a]\n", "line 3: a name is defined twice"),
                                 ("codex", "x = 1\nx = 2\n", "line 2: a name is"), ("codex", "a.b = 1\n[a]\n", "line 2: a name is"),
                                 ("codex", "a = 1\na.b = 2\n", "line 2: a name is"), ("codex", "[[a]]\n[a]\n", "line 2: a name is"),
                                 ("gemini", '{"a": [1,\n]}', "line 2"), ("qwen", '{"a": 1,\n}', "line 2")):
            with self.subTest(agent=agent, text=text):
                path = self.put(FILES[agent][-1], text)
                before = self.snapshot()
                for more in (["--only"], ["--check"]):
                    said = self.sidecar(agent, "--yes", *more, status=1)
                    self.assertIn(f"{path}: {why}", said)
                    self.assertNotIn("is set up", said)
                self.assertEqual(self.snapshot(), before)
                path.unlink()

    def test_a_broken_file_is_named_and_nothing_changes(self):
        for agent in AGENTS:
            name = FILES[agent][0]
            for text in BROKEN["toml" if name.endswith("toml") else "json"]:
                with self.subTest(agent=agent, text=text):
                    path = self.put(name, text)
                    before = self.snapshot()
                    said = self.sidecar(agent, "--yes", status=1)
                    self.assertIn(str(path), said)
                    self.assertIn("nothing was changed", said)
                    self.assertEqual(self.snapshot(), before)

    def test_the_second_file_is_broken_and_the_first_stays(self):
        self.put(".claude/settings.json", '{"permissions": {"deny": "all"}}')
        before = self.snapshot()
        self.assertIn("deny is not a list", self.sidecar("claude", "--only", "--yes", status=1))
        self.assertEqual(self.snapshot(), before)

    def test_the_second_file_cannot_be_written_and_the_first_is_put_back(self):
        (self.project / ".claude").write_text("a file where a directory has to be\n")
        self.put(".mcp.json", "{}\n")
        before = self.snapshot()
        self.assertIn(".claude", self.sidecar("claude", "--only", "--yes", status=1))
        self.assertEqual(self.snapshot(), before)

    @unittest.skipUnless(os.getuid() == 0, "needs root to become another user")
    def test_the_second_file_may_not_be_written_and_the_first_is_put_back(self):
        program = shutil.copy(BIN, self.top / "sidecar")
        self.put(".mcp.json", "{}\n")
        settings = self.put(".claude/settings.json", "{}\n")
        for path in (self.top, self.home, self.project, self.project / ".mcp.json"):
            os.chown(path, 65534, 65534)
        before = self.snapshot()
        done = subprocess.run([program, "setup", "claude", "--only", "--yes"], cwd=self.project, env=self.env, user=65534,
                              group=65534, capture_output=True, text=True, check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{settings}: ", done.stderr)
        self.assertIn("nothing was changed", done.stderr)
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(list((self.home / ".local").rglob("*.json")), [])

    def test_links_modes_and_directories(self):
        dotfiles = self.home / "dotfiles"
        dotfiles.mkdir()
        real = dotfiles / "claude.json"
        text = text_for("claude", COMMENTED)
        real.write_text(text)
        real.chmod(0o600)
        (self.home / ".claude").mkdir()
        (self.home / ".claude/settings.json").symlink_to(real)
        self.sidecar("claude", "--only", "--user", "--yes", status=1)
        self.assertTrue((self.home / ".claude/settings.json").is_symlink())
        self.assertEqual(stat.S_IMODE(real.stat().st_mode), 0o600)
        self.assertIn('"Bash"', real.read_text())
        self.sidecar("claude", "--undo", "--user", "--yes")
        self.assertEqual(real.read_text(), text)
        real.unlink()
        self.assertIn("a link to a file that does not exist", self.sidecar("claude", "--only", "--user", "--yes", status=1))
        shutil.rmtree(self.home / ".claude")
        (self.home / ".claude/settings.json").mkdir(parents=True)
        self.assertIn("is not a file", self.sidecar("claude", "--only", "--user", "--yes", status=1))

    def test_the_record_is_private(self):
        self.sidecar("claude", "--yes")
        records = list((self.home / ".local/state/sidecar/setup").iterdir())
        self.assertEqual([stat.S_IMODE(path.stat().st_mode) for path in records], [0o600])


class TestUndo(SetupTest):
    def test_only_our_part_is_taken_out_of_a_file_that_was_edited_since(self):
        path = self.put(".mcp.json", '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n')
        self.sidecar("claude", "--only", "--yes")
        path.write_text(path.read_text().replace('"a": {}', '"a": {}, "b": {}'))
        settings = self.project / ".claude/settings.json"
        settings.write_text(settings.read_text().replace('"Bash"', '"Mine", "Bash"'))
        self.assertIn("was edited since", self.sidecar("claude", "--undo", "--yes"))
        self.assertEqual(path.read_text(), '{\n  "mcpServers": {\n    "a": {}, "b": {}\n  }\n}\n')
        self.assertEqual(json.loads(settings.read_text()), {"permissions": {"deny": ["Mine"]}})

    def test_the_same_in_toml(self):
        path = self.put(".codex/config.toml", TOML)
        self.sidecar("codex", "--only", "--yes")
        path.write_text(path.read_text() + "\n[tui]\nx = 1\n")
        self.sidecar("codex", "--undo", "--yes")
        left = path.read_text()
        self.assertIn("[tui]\nx = 1\n", left)
        self.assertNotIn("sidecar", left)
        self.assertIn('approval_policy = "on-request"\n', left)
        self.assertIn("shell_tool = true # for now\n", left)
        self.assertNotIn("unified_exec", left)
        self.assertNotIn("enabled", left)

    def test_what_is_left_in_toml_is_what_was_there_and_the_edit(self):
        for kind, text in TOMLS.items():
            if text.endswith("\n"):
                with self.subTest(text=kind):
                    path = self.put(".codex/config.toml", text)
                    self.sidecar("codex", "--only", "--yes")
                    edit = b"\n[mine]\nx = 1\n"
                    path.write_bytes(path.read_bytes() + edit)
                    self.assertIn("was edited since", self.sidecar("codex", "--undo", "--yes"))
                    self.assertEqual(path.read_bytes(), text.encode() + edit)

    def test_a_table_that_the_user_wrote_instead_stays(self):
        path = self.put(".codex/config.toml", "")
        self.sidecar("codex", "--only", "--yes")
        path.write_text(path.read_text().split("[features")[0].replace(
            "[mcp_servers", "features = { shell_tool = false, mine = 1 }\n[mcp_servers"))
        self.sidecar("codex", "--undo", "--yes")
        self.assertEqual(path.read_text().strip(), "features = { mine = 1 }")

    def test_the_same_in_opencode_with_one_word_for_all(self):
        path = self.put("opencode.json", '{"permission": "allow"}\n')
        self.sidecar("opencode", "--only", "--yes")
        path.write_text(path.read_text().replace("{", '{"theme": "x", ', 1))
        self.sidecar("opencode", "--undo", "--yes")
        self.assertEqual(json.loads(path.read_text()), {"theme": "x", "permission": "allow"})

    def test_two_setups_are_undone_as_one(self):
        self.put(".mcp.json", "{}\n")
        before = self.snapshot()
        self.sidecar("claude", "--yes")
        self.sidecar("claude", "--only", "--yes")
        self.sidecar("claude", "--undo", "--yes")
        self.assertEqual(self.snapshot(), before)
        self.assertIn("nothing to undo", self.sidecar("claude", "--undo", "--yes", status=1))

    def test_an_edit_between_two_setups_survives(self):
        path = self.put(".mcp.json", "{}\n")
        self.sidecar("claude", "--yes")
        path.write_text(path.read_text().replace("{", '{"mine": 1,', 1))
        self.sidecar("claude", "--only", "--yes")
        self.sidecar("claude", "--undo", "--yes")
        self.assertEqual(json.loads(path.read_text()), {"mine": 1})

    def test_a_file_that_the_user_removed_stays_removed(self):
        self.sidecar("gemini", "--yes")
        (self.project / ".gemini/settings.json").unlink()
        self.sidecar("gemini", "--undo", "--yes")
        self.assertFalse((self.project / ".gemini/settings.json").exists())

    def test_projects_and_the_user_are_apart(self):
        self.sidecar("codex", "--user", "--yes")
        self.assertIn("nothing to undo", self.sidecar("codex", "--undo", "--yes", status=1))
        self.sidecar("codex", "--undo", "--user", "--yes")
        self.assertFalse((self.home / ".codex").exists())


class TestUninstall(SetupTest):
    def test_every_setup_is_undone_and_what_is_left_is_named(self):
        before = self.snapshot()
        self.sidecar("claude", "--only", "--yes")
        self.sidecar("codex", "--user", "--yes")
        done = self.sidecar("--dry-run", verb="uninstall")
        self.assertIn("nothing was changed (--dry-run)", done)
        self.assertNotEqual(self.snapshot(), before)
        done = self.sidecar("--yes", verb="uninstall")
        self.assertIn("Claude Code, set up in ", done)
        self.assertIn("Codex, set up for this user", done)
        self.assertRegex(done, r"program +/")
        self.assertEqual(self.snapshot(), before)
        self.assertIn("setup has changed nothing", self.sidecar(verb="uninstall"))

    def test_caches_of_commands_are_named(self):
        self.assertNotIn("caches ", self.sidecar(verb="uninstall"))
        place = self.home / ".cache/sidecar/cache-0123456789abcdef/npm"
        place.mkdir(parents=True)
        (place / "package.tgz").write_bytes(b"x" * 3_000_000)
        self.assertRegex(self.sidecar(verb="uninstall"), r"caches +of commands, 2\.9 MB, in %s: .*rm" % (self.home / ".cache/sidecar"))


class TestCheck(SetupTest):
    def test_before_and_after(self):
        for agent in HELD:
            for more in ([], ["--user"]):
                with self.subTest(agent=agent, more=more):
                    self.assertIn("ways around", self.sidecar("--check", agent, status=1))
                    self.sidecar(agent, "--yes", *more)
                    said = self.sidecar("--check", agent, status=1)
                    self.assertEqual("not connected" in said, agent == "codex" and not more)  # it is not trusted yet
                    self.sidecar(agent, "--only", "--yes", *more)
                    self.assertIn("has no way around", self.sidecar("--check", agent))
                    self.sidecar(agent, "--undo", "--yes", *more)
                    self.sidecar("--check", agent, status=1)

    def test_each_hole_is_named(self):
        holes = [
            ("claude", ".claude/settings.json", '"Bash", ', "", 'permissions.deny does not have "Bash"'),
            ("claude", ".claude/settings.json", '"hooks"', '"disableAllHooks": true, "hooks"', "disableAllHooks is true"),
            ("claude", ".claude/settings.json", "mcp__sidecar__|", "", "hooks.PreToolUse does not have"),
            ("claude", ".claude/settings.json", "ConfigChange", "Other", "hooks.ConfigChange does not have"),
            ("codex", ".codex/config.toml", "shell_tool = false", "shell_tool = true", "features.shell_tool is not false"),
            ("codex", ".codex/config.toml", "read-only", "workspace-write", 'sandbox_mode is not "read-only"'),
            ("codex", ".codex/config.toml", "[features]", '[mcp_servers.x]\ncommand = "x"\n\n[features]', "MCP server x"),
            ("codex", ".codex/config.toml", "[features]", '[mcp_servers."@"]\ncommand = "x"\n\n[features]', "MCP server @"),
            ("gemini", ".gemini/settings.json", '"write_todos"', '"run_shell_command"', "tools.core is not"),
            ("gemini", ".gemini/settings.json", '["sidecar"]', '["sidecar", "x"]', "mcp.allowed is not"),
            ("opencode", "opencode.json", '"bash": "deny"', '"bash": "ask"', 'permission.bash is not "deny"'),
            ("opencode", "opencode.json", '"sidecar_*"', '"files_*": "allow", "sidecar_*"', "permission.files_*"),
            ("opencode", "opencode.json", '"mcp"', '"agent": {"a": {"permission": {"bash": "allow"}}}, "mcp"', "agent.a.permission in"),
            ("qwen", ".qwen/settings.json", '"todo_write"', '"edit"', "tools.core is not"),
        ]
        for agent, name, old, new, reason in holes:
            with self.subTest(agent=agent, reason=reason):
                self.sidecar(agent, "--only", "--yes")
                path = self.project / name
                self.assertIn(old, path.read_text())
                path.write_text(path.read_text().replace(old, new, 1))
                self.assertIn(reason, self.sidecar("--check", agent, status=1))
                path.unlink()
                self.sidecar(agent, "--undo", "--yes")

    def test_what_runs_when_the_agent_starts_is_named(self):
        """In every file that it reads; `--only` does not say that the agent is set up."""
        hook = '{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
        server = '{"mcpServers": {"x": {"command": "x"}}}'
        ways = [
            ("claude", "project/.claude/settings.local.json", hook, "hooks.PostToolUse in"),
            ("claude", "home/.claude/settings.json", hook, "hooks.PostToolUse in"),
            ("claude", "home/.claude/settings.json", '{"statusLine": {"type": "command", "command": "x"}}', "statusLine in"),
            ("claude", "project/.claude/settings.local.json", '{"apiKeyHelper": "x"}', "apiKeyHelper in"),
            ("claude", "project/.claude/settings.local.json", '{"env": {"BASH_ENV": "x"}}', "env.BASH_ENV in"),
            ("claude", "project/.claude/settings.local.json", '{"env": {"LANG": "C", "GIT_CONFIG_COUNT": "1"}}', "env.GIT_CONFIG_COUNT in"),
            ("claude", "project/.claude/settings.local.json", hook.replace('{"hooks": [{', '{"enabled": false, "hooks": [{'), "hooks.PostToolUse in"),
            ("claude", "home/.claude.json", server.replace('"x"}', '"x", "enabled": false}'), "mcpServers.x in"),
            ("claude", "project/.claude/settings.local.json", '{"disabledMcpjsonServers": ["x", "sidecar"]}', 'Servers has "sidecar"'),
            ("claude", "project/.claude/agents/a.md", "", "agents is loaded"),
            ("claude", "home/.claude/agents/a.md", "", "agents is loaded"),
            ("claude", ".mcp.json", server, ".mcp.json as well"),
            ("claude", "home/.claude/settings.json", '{"voice": {}}', "settings.json has voice: it cannot be judged"),
            ("claude", "home/.claude/settings.json", '{"permissions": {"new": 1}}', "settings.json has new: it cannot be judged"),
            ("claude", "home/.claude/settings.json", '{"enabledPlugins": {"a@b": true, "c@d": false}}', "enabledPlugins.a@b in"),
            ("claude", "home/.claude.json", server, "mcpServers.x in"),
            ("claude", "home/.claude.json", '{"projects": {"%s": %s}}' % (self.project, server), "mcpServers.x in"),
            ("codex", "home/.codex/config.toml", 'notify = ["x"]\n', "notify in"),
            ("codex", "home/.codex/config.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "x"\n', "hooks in"),
            ("codex", "home/.codex/config.toml", 'profile = "x"\n[profiles.x]\nsandbox_mode = "danger"\n', "profile in"),
            ("codex", "project/.codex/hooks.json", "{}", "hooks.json is loaded"),
            ("codex", ".codex/config.toml", "", ".codex/config.toml as well"),
            ("codex", "home/.codex/config.toml", '[model_providers.x.auth]\ncommand = "x"\n', "model_providers.x.auth in"),
            ("gemini", "home/.gemini/settings.json", hook, "hooks.PostToolUse in"),
            ("gemini", "home/.gemini/settings.json", hook.replace('{"hooks": [{', '{"enabled": false, "hooks": [{'), "hooks.PostToolUse in"),
            ("gemini", "home/.gemini/settings.json", '{"tools": {"discoveryCommand": "x"}}', "tools.discoveryCommand in"),
            ("gemini", "home/.gemini/extensions/a/x.json", "{}", "extensions is loaded"),
            ("opencode", "project/.opencode/plugin/a.js", "", "plugin is loaded"),
            ("opencode", "home/.config/opencode/tools/a.ts", "", "tools is loaded"),
            ("opencode", "project/.opencode/agent/a.md", "", "agent is loaded"),
            ("opencode", "home/.opencode/plugin/a.js", "", "plugin is loaded"),
            ("opencode", ".opencode/plugin/a.js", "", ".opencode/plugin as well"),
            ("opencode", "opencode.jsonc", "{}", "opencode.jsonc as well"),
            ("opencode", "project/opencode.jsonc", "{}", "opencode.jsonc as well"),
            ("opencode", "home/.config/opencode/config.json", "{}", "config.json is loaded"),
            ("opencode", "home/.config/opencode/opencode.json", '{"experimental": {"hook": {"file_edited": {}}}}', "experimental.hook in"),
            ("opencode", "home/.config/opencode/opencode.json",
             '{"provider": {"a": {"models": {"b": {"provider": {"npm": "file:///x.mjs"}}}}}}', "provider.a.models.b.provider.npm in"),
            ("opencode", "home/.config/opencode/opencode.json", '{"provider": {"a": {"npm": "@ai-sdk/x@file:/x"}}}', "provider.a.npm in"),
            ("opencode", "home/.config/opencode/opencode.json", '{"mcp": {"x": {"command": ["x"]}}}', "mcp.x in"),
            ("opencode", "home/.config/opencode/opencode.json", '{"plugin": ["x"]}', "plugin in"),
            ("opencode", "home/.config/opencode/opencode.json", '{"mode": {"build": {"tools": {"bash": true}}}}', "mode.build.tools"),
            ("qwen", "home/.qwen/settings.json", '{"ui": {"statusLine": {"command": "x"}}}', "ui.statusLine in"),
        ]
        for agent, name, text, reason in ways:
            with self.subTest(agent=agent, name=name, reason=reason):
                path = self.top / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if name == "project/opencode.jsonc":
                    self.put("opencode.json", "{}")
                path.write_text(text)
                said = self.sidecar(agent, "--only", "--yes", status=1)
                self.assertIn(reason, said)
                self.assertIn("connected, but not held", said)
                self.assertIn(reason, self.sidecar("--check", agent, status=1))
                self.sidecar(agent, "--undo", "--yes")
                path.unlink()
                first = self.top / "/".join(name.split("/")[:2 if name.split("/")[0] in ("home", "project") else 1])
                shutil.rmtree(first, ignore_errors=True)
                self.sidecar(agent, "--only", "--yes")
                self.sidecar(agent, "--undo", "--yes")

    def test_what_runs_nothing_is_not_named(self):
        for agent, name, text in (
                ("claude", ".claude/settings.local.json", '{"env": {"LANG": "C"}, "model": "opus", "availableModels": ["a"], "tui": "default"}'),
                ("claude", ".claude/settings.local.json", '{"permissions": {"defaultMode": "plan"}, "disabledMcpjsonServers": ["x"]}'),
                ("claude", ".mcp.json", '{"mcpServers": {"sidecar": {"command": "%s", "args": ["mcp", "--read-only"], "env": {"LANG": "C"}}}}'
                 % os.path.realpath(BIN)),
                ("opencode", "opencode.json", '{"mcp": {"x": {"command": ["x"], "enabled": false}}, "provider": {"a": {"npm": "@ai-sdk/x-1"}}}')):
            with self.subTest(agent=agent, text=text):
                path = self.put(name, text)
                self.sidecar(agent, "--only", "--yes")
                path.unlink()

    def test_what_else_the_servers_entry_has(self):
        """Variables and arguments make it another program, or one that holds less; in each file."""
        for member, reason in (('"env": {"LD_PRELOAD": "./x.so"}', "env.LD_PRELOAD in"), ('"env": {"SIDECAR_SANDBOX": "off"}', "SIDECAR_SANDBOX in"),
                               ('"args": ["mcp", "--sandbox", "off"]', "sidecar.args in"), ('"args": ["mcp", "--sandbox=off"]', "sidecar.args in"),
                               ('"args": ["mcp", "--workspace", "/"]', "sidecar.args in"), ('"cwd": "/"', "sidecar.cwd in")):
            for agent, name, text in (
                    ("claude", "project/.mcp.json", '{"mcpServers": {"sidecar": {"command": "sidecar", %s}}}'),
                    ("claude", "home/.claude.json", '{"mcpServers": {"sidecar": {"command": "sidecar", %s}}}'),
                    ("gemini", "home/.gemini/settings.json", '{"mcpServers": {"sidecar": {"command": "sidecar", %s}}}'),
                    ("qwen", "project/.qwen/settings.json", '{"mcpServers": {"sidecar": {"command": "sidecar", %s}}}'),
                    ("opencode", "project/opencode.json", '{"mcp": {"sidecar": {"command": ["sidecar", "mcp"], %s}}}'),
                    ("codex", "home/.codex/config.toml", '[mcp_servers]\nsidecar = { command = "sidecar", %s }\n')):
                with self.subTest(agent=agent, name=name, member=member):
                    path = self.top / name
                    path.parent.mkdir(exist_ok=True)
                    if agent == "codex":
                        member = member.replace('": ', '" = ')
                    path.write_text(text % member)
                    self.assertIn(reason, self.sidecar(agent, "--only", "--yes", status=1))
                    path.unlink()
                    shutil.rmtree(self.home / ".local")
                    for other in FILES[agent]:
                        (self.project / other).unlink(missing_ok=True)
        path = self.put("opencode.json", '{"mcp": {"sidecar": {"command": ["sidecar", "mcp", "--sandbox", "off"]}}}')
        self.assertIn("sidecar.command in", self.sidecar("opencode", "--only", "--yes", status=1))
        for command in ("./tools/sidecar", "/opt/sidecar", "tools/sidecar"):
            path = self.put(".mcp.json", '{"mcpServers": {"sidecar": {"command": "%s"}}}' % command)
            self.assertIn("does not run the sidecar", self.sidecar("claude", "--yes", status=1))
            self.assertIn("mcpServers.sidecar in", self.sidecar("--check", "claude", status=1))
            path.unlink()

    def test_directories_around_the_repository_are_not_read(self):
        (self.top / "opencode.json").write_text("{}")
        self.assertIn(f"{self.top}/opencode.json as well", self.sidecar("opencode", "--only", "--yes", status=1))
        (self.project / ".git").mkdir()
        (self.project / ".git/HEAD").write_text("")
        self.sidecar("--check", "opencode")

    def test_it_says_what_only_a_person_can_take_away(self):
        self.put(".claude/settings.local.json", '{"hooks": {"Stop": [{"hooks": []}]}}')
        self.assertIn("To take them away: sidecar setup claude --only; and by hand what it leaves\n",
                      self.sidecar("--check", "claude", status=1))
        self.sidecar("claude", "--only", "--yes", status=1)
        said = self.sidecar("--check", "claude", status=1)
        self.assertIn("Take them away by hand", said)
        self.assertNotIn("--only", said)
        self.assertIn("sidecar setup gemini --only\n", self.sidecar("--check", "gemini", status=1))

    def test_a_project_that_codex_does_not_trust_holds_nothing(self):
        self.sidecar("codex", "--only", "--yes")
        (self.home / ".codex/config.toml").write_text("")
        said = self.sidecar("--check", "codex", status=1)
        self.assertIn("features.shell_tool is not false", said)
        self.assertIn("is not read: this project is not trusted", said)

    def test_a_users_setting_holds_in_a_project_that_says_nothing(self):
        self.sidecar("gemini", "--only", "--user", "--yes")
        self.put(".gemini/settings.json", '{"tools": {"core": ["run_shell_command"]}}')
        self.assertIn("tools.core is not", self.sidecar("--check", "gemini", status=1))

    def test_agents_that_cannot_be_held_say_so(self):
        for agent in ("cursor", "vscode"):
            before = self.snapshot()
            said = self.sidecar(agent, "--only", "--yes", status=1)
            self.assertIn("cannot be held", said)
            self.assertEqual(self.snapshot(), before)
            self.assertIn("keeps its own shell", self.sidecar(agent, "--yes"))
            self.assertIn("cannot be held", self.sidecar("--check", agent, status=1))

    def test_a_broken_file_is_not_held(self):
        self.put(".claude/settings.json", "{")
        said = self.sidecar("--check", "claude", status=1)
        self.assertIn(".claude/settings.json: line 1", said)


class TestTalk(SetupTest):
    def test_dry_run_and_no_terminal_change_nothing(self):
        before = self.snapshot()
        said = self.sidecar("claude", "--only", "--dry-run")
        self.assertIn('+    "deny": ["Bash"', said)
        self.assertIn("--- /dev/null\n", said)
        self.assertIn("say --yes", self.sidecar("claude", status=1))
        self.assertEqual(self.snapshot(), before)

    def answer(self, text):
        """The exit status and what is shown when a person answers the question."""
        master, slave = pty.openpty()
        with subprocess.Popen([BIN, "setup", "gemini"], cwd=self.project, env=self.env, stdin=slave, stdout=slave,
                              stderr=slave) as process:
            os.close(slave)
            shown = b""
            while b"[y/N]" not in shown:
                self.assertTrue(select.select([master], [], [], PATIENCE)[0], shown)
                shown += os.read(master, 4096)
            os.write(master, text)
            status = process.wait(PATIENCE)
        os.close(master)
        return status, shown.decode()

    def test_it_asks(self):
        status, shown = self.answer(b"n\n")
        self.assertEqual(status, 1)
        self.assertIn('+  "mcpServers": {', shown)
        self.assertFalse((self.project / ".gemini").exists())
        self.assertEqual(self.answer(b"y\n")[0], 0)
        self.assertTrue((self.project / ".gemini/settings.json").exists())

    def test_it_asks_about_secrets(self):
        ignore = self.project / ".sidecarignore"
        (self.project / ".env").write_text("KEY=1\n")
        self.assertEqual(self.answer(b"y\nn\n")[0], 0)
        self.assertFalse(ignore.exists())
        self.assertEqual(self.answer(b"y\n")[0], 0, "gemini is set up already, and the question comes again")
        self.assertEqual(ignore.read_text(), ".env\n")
        self.assertNotIn(".sidecarignore", self.sidecar("gemini", "--yes"))
        ignore.write_text("*.pem")
        self.assertEqual(self.answer(b"y\n")[0], 0)
        self.assertEqual(ignore.read_text(), "*.pem\n.env\n")

    def test_the_list(self):
        (self.top / "bin").mkdir()
        (self.top / "bin/claude").symlink_to("/bin/true")
        self.env["PATH"] += f":{self.top}/bin"
        self.sidecar("claude", "--only", "--yes")
        self.sidecar("gemini", "--yes")
        self.sidecar("cursor", "--yes")
        lines = dict(line.split(maxsplit=1) for line in self.sidecar("--list").splitlines())
        self.assertEqual(list(lines), AGENTS)
        self.assertRegex(lines["claude"], r"Claude Code +installed +connected, held$")
        self.assertRegex(lines["gemini"], r"not installed +connected, not held$")
        self.assertRegex(lines["cursor"], r"connected, cannot be held$")
        self.assertRegex(lines["codex"], r"not connected$")

    def test_what_to_put_where_is_printed(self):
        before = self.snapshot()
        self.put(".gemini/settings.json", '{"mine": 1}')
        said = self.sidecar("--print")
        self.assertEqual(json.loads(said[said.index("{"):said.rindex("}\n\n") + 1]),
                         {"mcpServers": {"sidecar": {"command": "sidecar", "args": ["mcp"]}}})
        for agent in AGENTS:
            said = self.sidecar("--print", agent, *(["--only"] if agent in HELD else []))
            self.assertIn(str(self.project / FILES[agent][-1]) + ":\n\n", said)
            self.assertNotIn("mine", said)
        shutil.rmtree(self.project / ".gemini")
        self.assertEqual(self.snapshot(), before)

    def test_words_that_mean_nothing(self):
        for argv in (["emacs"], [], ["--list", "claude"], ["--check", "--undo", "claude"], ["--only", "--check", "claude"],
                     ["claude", "codex"]):
            self.sidecar(*argv, status=2)

    def test_the_program_is_named_so_that_the_agent_finds_it(self):
        self.sidecar("claude", "--yes")
        server = json.loads((self.project / ".mcp.json").read_text())["mcpServers"]["sidecar"]
        self.assertEqual(server, {"command": "sidecar", "args": ["mcp"], "alwaysLoad": True})
        self.sidecar("claude", "--undo", "--yes")
        self.env["PATH"] = "/usr/bin:/bin"
        self.sidecar("claude", "--yes")
        server = json.loads((self.project / ".mcp.json").read_text())["mcpServers"]["sidecar"]
        self.assertEqual(server["command"], os.path.realpath(BIN))

    def test_a_server_that_runs_a_sidecar_stays_as_it_is(self):
        text = '{"mcpServers": {"sidecar": {"command": "%s", "args": ["mcp", "--read-only"]}}}' % os.path.realpath(BIN)
        path = self.put(".gemini/settings.json", text)
        self.sidecar("gemini", "--yes")
        self.assertEqual(path.read_text(), text)
        path.write_text(text.replace(os.path.realpath(BIN), "/opt/sidecar"))
        self.assertIn("does not run the sidecar", self.sidecar("gemini", "--yes", status=1))

    def test_variables_that_move_the_configuration(self):
        self.env.update(CODEX_HOME=f"{self.top}/c", CLAUDE_CONFIG_DIR=f"{self.top}/d", XDG_CONFIG_HOME=f"{self.top}/x")
        for agent, name in (("codex", "c/config.toml"), ("claude", "d/settings.json"), ("claude", "d/.claude.json"),
                            ("opencode", "x/opencode/opencode.json")):
            self.sidecar(agent, "--only", "--user", "--yes")
            self.assertTrue((self.top / name).exists(), name)

    def test_the_written_hook_refuses(self):
        self.sidecar("claude", "--only", "--yes")
        hook = json.loads((self.project / ".claude/settings.json").read_text())["hooks"]["PreToolUse"][0]
        matcher = re.compile(hook["matcher"])
        for tool in ("Bash", "Read", "SomethingNew", "mcp__files__read", "TaskOutput", "AgentX"):
            self.assertTrue(matcher.search(tool), tool)
        for tool in ("mcp__sidecar__run_command", "Agent", "WebSearch"):
            self.assertFalse(matcher.search(tool), tool)
        done = subprocess.run(["sh", "-c", hook["hooks"][0]["command"]], capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"mcp__sidecar", done.stderr)


if __name__ == "__main__":
    unittest.main()
