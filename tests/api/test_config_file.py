"""Settings from files: precedence, mistakes, trust, and where each value comes from."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import BIN, Sidecar, environment

# content, part of the message
WRONG = [
    ('{"workspce": "/x"}', 'there is no setting "workspce"; did you mean "workspace"?'),
    ('{"zzzzzzzzz": 1}', 'there is no setting "zzzzzzzzz"'),
    ('{"workspace": 3}', '"workspace" must be a string, not a number'),
    ('{"read-only": "yes"}', '"read-only" must be true or false, not a string'),
    ('{"max-commands": "8"}', '"max-commands" must be a whole number, not a string'),
    ('{"max-commands": 1.5}', '"max-commands" must be a whole number'),
    ('{"max-commands": 100000000}', '"max-commands" must be a number from 1 to'),
    ('{"sandbox": "maybe"}', '"sandbox" must be one of off, workspace, strict, auto'),
    ('{"socket-mode": "999"}', '"socket-mode" must be an octal mode'),
    ('{"tcp": "nowhere"}', '"tcp" must be HOST:PORT'),
    ('{"workspace": "/a\\u0000b"}', '"workspace" must not hold NUL bytes'),
    ('[]', "must hold an object, not an array"),
    ('{', "config.json, line 1: "),
    ('{"grace": 1, "grace": 2}', '"grace" is set twice'),
    ('{"workspace": "' + "x" * 70000 + '"}', "larger than"),
]


class ConfigFile(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, self.dir)
        os.mkdir(os.path.join(self.dir, "sidecar"))
        self.path = os.path.join(self.dir, "sidecar", "config.json")

    def put(self, content, mode=0o600):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(content if isinstance(content, str) else json.dumps(content))
        os.chmod(self.path, mode)

    def config(self, *flags, **env):
        done = subprocess.run([BIN, "config", *flags], env=environment(**{"XDG_CONFIG_HOME": self.dir, **env}),
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def origins(self, *flags, **env):
        status, out, err = self.config("--json", "--show-origin", *flags, **env)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def test_flag_environment_file_default(self):
        self.put({"workspace": "/file", "max-commands": 3, "read-only": True, "socket-mode": "0600"})
        got = self.origins("--grace", "7", SIDECAR_MAX_COMMANDS="5")
        self.assertEqual(got["workspace"], {"value": "/file", "origin": self.path})
        self.assertEqual(got["read-only"], {"value": True, "origin": self.path})
        self.assertEqual(got["socket-mode"], {"value": "0600", "origin": self.path})
        self.assertEqual(got["max-commands"], {"value": 5, "origin": "environment SIDECAR_MAX_COMMANDS"})
        self.assertEqual(got["grace"], {"value": 7, "origin": "flag --grace"})
        self.assertEqual(got["sandbox"], {"value": "auto", "origin": "default"})
        self.assertEqual(self.origins("--max-commands=9", SIDECAR_MAX_COMMANDS="5")["max-commands"]["value"], 9)

    def test_what_is_printed_can_be_read_again(self):
        self.put({"tcp": "127.0.0.1:8080", "workspace": "/w", "scrub-patterns": "a\nb", "read-only": True})
        status, first, err = self.config("--json")
        self.assertEqual(status, 0, err)
        self.put(first)
        self.assertEqual(self.config("--json")[1], first)
        self.assertEqual(json.loads(first)["tcp"], "127.0.0.1:8080")

    def test_home_when_there_is_no_xdg(self):
        os.rename(os.path.join(self.dir, "sidecar"), os.path.join(self.dir, ".config"))
        os.mkdir(os.path.join(self.dir, "x"))
        os.rename(os.path.join(self.dir, ".config"), os.path.join(self.dir, "x", "sidecar"))
        os.rename(os.path.join(self.dir, "x"), os.path.join(self.dir, ".config"))
        self.path = os.path.join(self.dir, ".config", "sidecar", "config.json")
        self.put({"workspace": "/home-file"})
        self.assertEqual(self.origins(XDG_CONFIG_HOME="", HOME=self.dir)["workspace"]["origin"], self.path)

    def test_mistakes_are_named(self):
        for content, says in WRONG:
            with self.subTest(content=content[:40]):
                self.put(content)
                status, _, err = self.config()
                self.assertEqual(status, 2, err)
                self.assertIn(says, err)
                self.assertIn(self.path, err)

    def test_files_of_others_are_refused(self):
        self.put({}, 0o666)
        status, _, err = self.config()
        self.assertEqual(status, 2)
        self.assertIn("chmod o-w", err)
        self.put({"workspace": "/x"}, 0o644)
        self.assertEqual(self.config()[0], 0)
        if os.geteuid() == 0:
            os.chown(self.path, 12345, 12345)
            # Root reads it as root: neither its own nor root's.
            self.assertIn("belongs to another user", self.config()[2])

    def test_a_token_needs_a_private_file_and_is_never_printed(self):
        self.put({"token": "correct-horse-battery"}, 0o644)
        self.assertIn("chmod o-r", self.config()[2])
        self.put({"token": "correct-horse-battery"}, 0o600)
        for flags in ((), ("--show-origin",), ("--json",), ("--json", "--show-origin")):
            status, out, err = self.config(*flags)
            self.assertEqual(status, 0)
            self.assertNotIn("battery", out + err)
        self.assertEqual(self.origins()["token"], {"value": "set", "origin": self.path})

    def test_a_file_that_tools_can_write_is_no_authority(self):
        self.put({"sandbox": "off"})
        status, _, err = self.config("--workspace", self.dir)
        self.assertEqual(status, 1)
        self.assertIn("move it out of the workspace", err)
        done = subprocess.run([BIN, "serve", "--workspace", self.dir, "--socket", self.dir + "/s"], check=False,
                              env=environment(XDG_CONFIG_HOME=self.dir), capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("lies where tools may write", done.stderr)

    def test_server_and_client_find_each_other_by_the_file(self):
        server = Sidecar(env={"XDG_CONFIG_HOME": self.dir})
        self.addCleanup(server.close)
        self.put({"socket": server.socket})
        server.put("a", "found\n")
        done = subprocess.run([BIN, "read", "a"], env=environment(XDG_CONFIG_HOME=self.dir, SIDECAR_SANDBOX="nonsense"),
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "found\n", ""))


if __name__ == "__main__":
    unittest.main()
