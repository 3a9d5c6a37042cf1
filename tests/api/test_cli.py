"""The command line: what goes in, what comes out, and how it ends."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import harness
from harness import BIN, PATIENCE, ROOT, SandboxTest, SidecarTest


def environment(server=None, **more):
    env = harness.environment(XDG_CONFIG_HOME="/nonexistent", **({"SOCKET_PATH": server.socket} if server else {}))
    del env["TERM"]
    return {**env, **more}


def sidecar(*argv, server=None, stdin="", env=None):
    """(exit status, stdout, stderr)."""
    done = subprocess.run([BIN, *argv], input=stdin.encode(), capture_output=True, check=False, timeout=PATIENCE,
                          env=env or environment(server))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


MAIN = "int main(void)\n{\n\treturn 0;\n}\n"

# argv, stdin, exit status, stdout, a part of stderr
VERBS = [
    (["read", "main.c"], "", 0, MAIN, ""),
    (["read", "-o", "2", "-n", "1", "main.c"], "", 0, "{\n", ""),
    (["read", "--offset=2", "--limit=1", "main.c"], "", 0, "{\n", ""),
    (["read", "nope"], "", 1, "", "File not found: nope"),
    (["read", "-q", "nope"], "", 1, "", ""),
    (["read", "../../etc/passwd"], "", 4, "", "outside"),
    (["read", "--json", "nope"], "", 1,
     '{"error":{"code":"FILE_NOT_FOUND","message":"File not found: nope"}}\n', "nope"),
    (["read", "--json", "-n", "1", "main.c"], "", 0,
     '{"content":"int main(void)","totalLines":5,"hasMore":true}\n', ""),
    (["read", "--", "main.c"], "", 0, MAIN, ""),
    (["write", "w.txt"], "from stdin\n", 0, "", "wrote 11 bytes to"),
    (["read", "w.txt"], "", 0, "from stdin\n", ""),
    (["write", "-q", "w.txt", "--content", ""], "", 0, "", ""),
    (["write", "w.txt", "--content", "a", "--from", "-"], "", 2, "", "cannot be used together"),
    (["write", "--json", "w.txt", "--from", "-"], "abc", 0, None, ""),
    (["edit", "w.txt", "--old", "b", "--new", "B"], "", 0, "-1 abc\n+1 aBc\n", ""),
    (["edit", "w.txt", "--old", "B", "--new-file", "-"], "x\ny", 0, "-1 aBc\n+1 ax\n+2 yc\n", ""),
    (["edit", "w.txt", "--old", "zz", "--new", "y"], "", 1, "", "sidecar: "),
    (["edit", "w.txt", "--old", "zz"], "", 2, "", "--new"),
    (["ls"], "", 0, "main.c\nsub/\nw.txt\n", ""),
    (["run", "mkdir none"], "", 0, "", ""),
    (["ls", "none"], "", 0, "", ""),
    (["ls", "--json", "none"], "", 0, '{"names":[],"truncated":false}\n', ""),
    (["run", "rmdir none"], "", 0, "", ""),
    (["ls", "--limit", "2"], "", 0, "main.c\nsub/\n", "there are more"),
    (["ls", "--json", "--limit", "2"], "", 0, '{"names":["main.c","sub/"],"truncated":true}\n', "there are more"),
    (["ls", "--json", "--limit", "3"], "", 0, '{"names":["main.c","sub/","w.txt"],"truncated":false}\n', ""),
    (["ls", "--json", "sub"], "", 0, '{"names":["x.py"],"truncated":false}\n', ""),
    (["find", "*.py"], "", 0, "sub/x.py\n", ""),
    (["find", "--json", "*.py"], "", 0, '{"paths":["sub/x.py"],"truncated":false}\n', ""),
    (["find", "*.py", "sub"], "", 0, "sub/x.py\n", ""),
    (["find", "--json", "*.py", "./sub//"], "", 0, '{"paths":["./sub/x.py"],"truncated":false}\n', ""),
    (["find", "*.py", "."], "", 0, "sub/x.py\n", ""),
    (["find", "*.none"], "", 1, "", "sidecar: No files found\n"),
    (["find", "--json", "*.none"], "", 1, '{"paths":[],"truncated":false}\n', ""),
    (["grep", "-n", "1", "a"], "", 0, "main.c:1: int main(void)\n", "[1 matches limit reached."),
    (["grep", "RETURN"], "", 1, "", "No matches"),
    (["grep", "-i", "RETURN"], "", 0, "main.c:3: \treturn 0;\n", ""),
    (["grep", "-F", "main(", "main.c"], "", 0, None, ""),
    (["grep", "pass", "sub"], "", 0, "sub/x.py:1: pass\n", ""),
    (["grep", "-C", "1", "pass", "sub/"], "", 0, "sub/x.py:1: pass\nsub/x.py-2- \n", ""),
    (["grep", "pass", "sub/x.py"], "", 0, "sub/x.py:1: pass\n", ""),
    (["grep", "pass", "/"], "", 0, "sub/x.py:1: pass\n", ""),
    (["grep", "--json", "pass", "sub"], "", 0,
     '{"content":"sub/x.py:1: pass","matched":true,"truncated":false}\n', ""),
    (["grep", "--json", "zzz"], "", 1, '{"content":"","matched":false,"truncated":false}\n', ""),
    (["grep", "("], "", 1, "", "sidecar: on the command line that is -F, --literal\n"),
    (["run", "echo", "a b", "$HOME"], "", 0, "a b $HOME\n", ""),
    (["run", "echo $((1+1)); exit 7"], "", 7, "2\n", ""),
    (["run", "ls", "-1", "sub"], "", 0, "x.py\n", ""),
    (["run", "-e", "A=1", "-e", "B=2", "-C", "sub", "echo $A$B; basename $PWD"], "", 0, "12\nsub\n", ""),
    (["run", "echo out; echo err >&2"], "", 0, "out\n", "err\n"),
    (["run", "--timeout", "0.2", "sleep 60"], "", 124, "", "timed out"),
    (["run", "--json", "echo a; exit 3"], "", 3,
     '{"type":"delta","stream":"stdout","data":"a\\n"}\n{"type":"done","exitCode":3,"timedOut":false}\n', ""),
    (["run", "kill -9 $$"], "", 137, "", ""),
    (["call", "read_file", "path=main.c", "end_line:=1"], "", 0, None, ""),
    (["call", "list_directory", "-"], '{"path":"sub"}', 0, None, ""),
    (["call", "run_command", '{"command":"sudo reboot"}'], "", 4, None, ""),
    (["call", "read_file", "path=nope"], "", 1, None, ""),
    (["call", "read_fiel"], "", 2, "", 'did you mean "read_file"'),
    (["call", "read_file", "nonsense"], "", 2, "", "neither JSON"),
    (["jobs"], "", 0, "", ""),
    (["jobs", "start", "echo x; sleep 0.1; echo y; exit 4"], "", 0, "1\n", ""),
    (["jobs", "output", "--follow", "1"], "", 4, "x\ny\n", ""),
    (["jobs", "wait", "1"], "", 4, "", ""),
    (["jobs"], "", 0, "1     exited 4    echo x; sleep 0.1; echo y; exit 4\n", ""),
    (["jobs", "stop", "77"], "", 1, "", "no job 77"),
    (["jobs", "stop"], "", 2, "", "Missing argument: sidecar jobs stop ID"),
    (["jobs", "stop", "../health"], "", 2, "", '"../health" is not the number of a job'),
    (["jobs", "start", "sleep 60"], "", 0, "2\n", ""),
    (["jobs", "stop", "2"], "", 0, "", ""),
    (["jobs", "wait", "2"], "", 143, "", "the job was stopped"),
    (["jobs"], "", 0, "1     exited 4    echo x; sleep 0.1; echo y; exit 4\n2     stopped     sleep 60\n", ""),
    (["jobs", "dance"], "", 2, "", "not one of"),
    (["health", "--quiet"], "", 0, "", ""),
]

# argv, exit status, a part of stdout, a part of stderr; no server is needed
ALONE = [
    ([], 2, "", "Usage"),
    (["--help"], 0, "Examples:", ""),
    (["help"], 0, "Commands:", ""),
    (["help", "grep"], 0, "Examples:\n  sidecar grep", ""),
    (["grep", "--help"], 0, "--ignore-case", ""),
    (["serve", "-h"], 0, "--workspace DIR", ""),
    (["help", "gerp"], 2, "", 'did you mean "grep"'),
    (["help", "zzzzzzzz"], 2, "", 'Try "sidecar --help"'),
    (["gerp"], 2, "", 'did you mean "grep"'),
    (["zzzzzzzz"], 2, "", 'unknown command "zzzzzzzz"'),
    (["version"], 0, "sidecar ", ""),
    (["--version"], 0, "sidecar ", ""),
    (["read"], 2, "", "sidecar read PATH"),
    (["read", "a", "b"], 2, "", 'Unexpected argument "b"'),
    (["read", "--ofset", "3", "a"], 2, "", "did you mean --offset?"),
    (["read", "--token=x", "a"], 2, "", "--token-file"),
    (["read", "-Z", "a"], 2, "", "Unknown option -Z"),
    (["read", "--offset"], 2, "", "--offset needs a value"),
    (["read", "--offset", "-3", "a"], 2, "", "--offset must be"),
    (["read", "--json=1", "a"], 2, "", "takes no value"),
    (["read", "--socket", "/nonexistent/s", "a"], 3, "", "unix:/nonexistent/s"),
    (["read", "--socket", "/nonexistent/s", "a"], 3, "", "is a server running?"),
    (["--socket", "x", "ls"], 2, "", "the command comes first"),
    (["read", "--url", "ftp://x", "a"], 2, "", "--url must be"),
    (["read", "--url", "unix:/nonexistent/s", "a"], 3, "", "unix:/nonexistent/s"),
    (["read", "--url", "http://127.0.0.1:1", "a"], 3, "", "127.0.0.1:1"),
    (["read", "--url", "x", "--socket", "y", "a"], 2, "", "cannot be used together"),
    (["serve", "--workspcae", "/x"], 2, "", "did you mean --workspace?"),
    (["serve", "stray"], 2, "", "stray"),
    (["config", "--token", "x"], 2, "", "use SIDECAR_AUTH_TOKEN, or --token-file"),
    (["tools", "--format", "nope"], 2, "", "one of ollama"),
    (["tools", "--json"], 0, '[{"type":"function"', ""),
    (["tools", "--json", "--markdown"], 2, "", "cannot be used with"),
    (["tools", "--mdoc"], 0, ".It Ic read_file", ""),
    (["completion", "tcsh"], 2, "", "bash, zsh and fish"),
]


class Verbs(SidecarTest):
    def test_each_command_prints_and_exits_as_listed(self):
        server = self.start()
        server.put("main.c", MAIN)
        server.put("sub/x.py", "pass\n")
        for argv, stdin, status, out, err in VERBS:
            with self.subTest(argv=argv):
                got = sidecar(*argv, server=server, stdin=stdin)
                self.assertEqual(got[0], status, got)
                if out is not None:
                    self.assertEqual(got[1], out, got)
                self.assertIn(err, got[2])
                if not err:
                    self.assertEqual(got[2], "")
                if "--json" in argv:
                    for line in got[1].splitlines():
                        json.loads(line)

    def test_a_dash_is_stdin(self):
        for words, text in ((["write", "dash"], "one"), (["write", "dash", "-"], "two"), (["write", "dash", "--from", "-"], "3")):
            self.assertEqual(sidecar(*words, server=self.server, stdin=text)[0], 0)
            self.assertEqual(self.server.get("dash"), text.encode())
        for words in (["write", "dash", "text"], ["write", "dash", "-", "--content", "x"]):
            self.assertEqual(sidecar(*words, server=self.server, stdin="x")[0], 2)

    def test_a_large_file_comes_whole(self):
        text = "".join("line %d\n" % i for i in range(30000))
        self.server.put("large.txt", text)
        self.assertEqual(sidecar("read", "large.txt", server=self.server), (0, text, ""))
        part = "".join("line %d\n" % i for i in range(1899, 7899))
        self.assertEqual(sidecar("read", "-o", "1900", "-n", "6000", "large.txt", server=self.server)[1], part)

    def test_a_line_that_is_too_long_is_reported(self):
        self.server.put("long.txt", "short\n" + "x" * 200000 + "\nshort\n")
        status, out, err = sidecar("read", "long.txt", server=self.server)
        self.assertEqual((status, out), (1, "short\n"))
        self.assertIn("line 2 is too long", err)

    def test_health_shows_the_workspace(self):
        status, out, _ = sidecar("health", server=self.server)
        self.assertEqual(status, 0)
        self.assertIn(self.server.workspace, out)
        self.assertTrue(json.loads(sidecar("health", "--json", server=self.server)[1])["ok"])

    def test_a_closed_pipe_ends_it_without_a_message(self):
        self.server.put("many.txt", "line\n" * 100000)
        for argv in (["read", "many.txt"], ["run", "yes"]):
            with self.subTest(argv=argv), subprocess.Popen(
                    [BIN, *argv], env=environment(self.server), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    stdin=subprocess.DEVNULL, restore_signals=False) as process:
                process.stdout.readline()
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
                self.assertIn(process.wait(PATIENCE), (141, -signal.SIGPIPE))


class Locked(SidecarTest):
    env = {"SIDECAR_AUTH_TOKEN": "correct-horse-battery", "SIDECAR_REQUIRE_AUTH": "1", "SIDECAR_READ_ONLY": "1"}

    def test_a_token_comes_from_file_or_environment(self):
        self.server.put("a", "x\n")
        self.assertEqual(sidecar("read", "a", server=self.server)[0], 4)
        token = os.path.join(self.server.dir, "token")
        with open(token, "w", encoding="ascii") as f:
            f.write("correct-horse-battery\n")
        self.assertEqual(sidecar("read", "a", "--token-file", token, server=self.server), (0, "x\n", ""))
        env = environment(self.server, SIDECAR_AUTH_TOKEN="correct-horse-battery")
        self.assertEqual(sidecar("read", "a", env=env)[0], 0)
        self.assertEqual(sidecar("write", "a", "--content", "y", env=env)[0], 4)


class Sandboxed(SandboxTest):
    def test_health_lists_each_protection(self):
        out = sidecar("health", server=self.server)[1]
        for p in self.server.request("GET", "/health").json()["sandbox"]["protections"]:
            self.assertNotIn(p["name"], ("write-outside", "namespaces"))  # would read as if it were allowed
            said = ("in force" if p["inForce"] else "not in force") + (" (%s)" % p["note"] if "note" in p else "")
            self.assertRegex(out, r"(?m)^sandbox\.%s +%s$" % (p["name"], re.escape(said)))


class Alone(unittest.TestCase):
    def test_without_a_server(self):
        for argv, status, out, err in ALONE:
            with self.subTest(argv=argv):
                got = sidecar(*argv)
                self.assertEqual(got[0], status, got)
                self.assertIn(out, got[1])
                self.assertIn(err, got[2])

    def test_help_shows_only_what_applies(self):
        shown = sidecar("mcp", "--help")[1]
        for flag in ("--socket", "--tcp", "--token-file", "--require-auth", "--allowed-uids", "--surface", "--grace"):
            self.assertNotIn(flag, shown)
            self.assertIn(flag, sidecar("serve", "--help")[1])
        for verb in re.findall(r"^  ([a-z]+) ", sidecar("help")[1].split("Commands:")[1], re.M):
            self.assertTrue(sidecar("help", verb)[1].startswith("Examples:\n  "), verb)

    def test_completion_is_well_formed(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell=shell):
                status, script, _ = sidecar("completion", shell)
                self.assertEqual(status, 0)
                for word in ("serve", "grep", "ignore-case", "sandbox", "read_file"):
                    self.assertIn(word, script)
                if not shutil.which(shell):
                    self.skipTest(shell + " is not installed")
                done = subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True, capture_output=True,
                                      check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_manuals_are_up_to_date(self):
        done = subprocess.run([ROOT / "scripts" / "manuals", "--check"], env={**os.environ, "SIDECAR_BIN": BIN},
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_manuals_are_well_formed(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        for page in ("sidecar.1", "sidecar.conf.5"):
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", ROOT / "man" / page], text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
