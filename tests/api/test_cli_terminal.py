"""The command line on a terminal: the line that shows how far it has come, colour, Ctrl-C."""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import unittest

from harness import BIN, PATIENCE, SidecarTest, post, until
from processes import MARK, wait_until_gone
from test_cli import environment, sidecar

# Slow by design and within bounds: there are many ways to cut a line in four.
SLOW = r"(a+)(a+)\2\1[cd]"
LINE = "a" * 100 + "\n"


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, server, *argv, stdout=None, columns=0, **env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if columns:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
            if stdout:
                os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT), 1)
            os.execve(BIN, [BIN, *argv], environment(server, **{"TERM": "xterm", **env}))
        self.seen = b""

    def read(self):
        """False at the end."""
        try:
            piece = os.read(self.fd, 4096) if select.select([self.fd], [], [], PATIENCE)[0] else b""
        except OSError:
            piece = b""
        self.seen += piece
        return bool(piece)

    def wait_for(self, text):
        while text not in self.seen and self.read():
            pass
        return text in self.seen

    def end(self):
        """(exit status, what stays): without lines that were erased, which come where something took long. `seen` has all."""
        while self.read():
            pass
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status), re.sub("(\r\x1b\\[K[^\r\n]*)+\r\x1b\\[K", "", self.seen.decode())


class Tables(SidecarTest):
    def shown(self, *argv, **more):
        terminal = Terminal(self.server, *argv, TZ="UTC-5", **more)
        status, text = terminal.end()
        self.assertEqual(status, 0, text)
        return text.replace("\r\n", "\n")

    def test_changes_fit_the_terminal(self):
        self.server.result("write", path="a", content="one\n")
        self.server.call("bash", command="rm a; : " + "x" * 200)
        change = self.server.request("GET", "/changes").json()["result"]["changes"][0]
        hour = (int(change["time"][11:13]) + 5) % 24
        text = self.shown("changes", columns=90)
        head, first, second = text.rstrip("\n").split("\n")
        self.assertRegex(head, "^\x1b\\[1mCHANGE  TIME +TOOL +FILES +SUBJECT\x1b\\[m?0?m?$")
        self.assertRegex(first, r" 1  \d\d-\d\d %02d:\d\d:\d\d  write +\x1b\[32m1 created" % hour)
        self.assertRegex(second, "\x1b\\[31m1 deleted")
        for columns in (90, 73, 60, 59, 50):
            for line in self.shown("changes", "--no-color", columns=columns).splitlines():
                self.assertLessEqual(len(line), columns)
                self.assertRegex(line, "CHANGE .*SUBJECT|1 created +a$|1 deleted? +rm a")
        self.assertNotIn("CHANGE ", sidecar("changes", server=self.server)[1])  # programs get lines
        self.assertIn("\x1b[31m-one", self.shown("diff", "2"))
        self.server.result("write", path="turned", content="a\u202eb\u2066c\u200fd\u009be\u00e9\u05d0\n")
        self.assertIn("+a\\u202eb\\u2066c\\u200fd\\x9be\u00e9\u05d0", self.shown("diff"))
        self.assertIn("\x1b[32mrestore", self.shown("undo", "2", "--dry-run"))
        self.assertRegex(self.shown("health"), "\n\n\x1b\\[1mlimits.*\n  bodyBytes +32 MB\n")


    def test_help_fits_the_terminal(self):
        for verb in ("serve", "grep"):
            text = self.shown("help", verb, columns=80)
            said = " ".join(text.split("Options:")[1].split())
            self.assertEqual(said, " ".join(sidecar("help", verb)[1].split("Options:")[1].split()))
            for line in text.split("Options:")[1].splitlines():
                if " " in line.strip():
                    self.assertLessEqual(len(line), 80, line)


class Progress(SidecarTest):
    lines = 1  # of each file

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make()

    @classmethod
    def make(cls):
        for i in range(100):
            cls.server.put("slow/%d/a.txt" % i, LINE * cls.lines)

    def until_slow(self, search):
        """What search() returns when the search took long enough to show something."""
        while not (seen := search()) and self.lines < 16 << 10:
            type(self).lines *= 2
            self.make()
        return seen

    def search(self):
        """The counts that a search on a terminal shows, and all that it shows; None when it was too quick."""
        terminal = Terminal(self.server, "grep", SLOW, "slow")
        self.assertEqual(terminal.end(), (1, "sidecar: No matches found\r\n"))
        seen = terminal.seen.decode()
        counts = re.findall(re.escape(SLOW) + r" … ([0-9,]+) files, [0-9]+\.[0-9] s", seen)
        return (counts, seen) if counts else None

    def test_a_search_shows_how_many_files_it_has_searched(self):
        counts, seen = self.until_slow(self.search)
        counts = [int(n.replace(",", "")) for n in counts]
        self.assertEqual(counts, sorted(counts))
        self.assertTrue(seen.endswith("\r\x1b[Ksidecar: No matches found\r\n"), seen)

    def test_a_dumb_terminal_and_a_pipe_get_no_progress(self):
        self.until_slow(self.search)
        self.assertEqual(Terminal(self.server, "grep", SLOW, "slow", TERM="dumb").end()[1],
                         "sidecar: No matches found\r\n")
        self.assertEqual(sidecar("grep", SLOW, "slow", env=environment(self.server, TERM="xterm")),
                         (1, "", "sidecar: No matches found\n"))

    def test_a_command_with_redirected_output_shows_progress(self):
        out = os.path.join(self.server.dir, "out")
        terminal = Terminal(self.server, "run", "echo abc; until [ -e go ]; do sleep 0.02; done; echo abc", stdout=out)
        self.assertTrue(terminal.wait_for(b"4 bytes, "))
        self.server.put("go", "")
        self.assertEqual(terminal.end(), (0, ""))
        self.assertRegex(terminal.seen.decode(), r"… 4 bytes, [0-9]+\.[0-9] s")
        with open(out, encoding="ascii") as f:
            self.assertEqual(f.read(), "abc\nabc\n")

    def test_a_silent_command_shows_progress(self):
        terminal = Terminal(self.server, "run", "echo begin; until [ -e went ]; do sleep 0.02; done; echo end")
        self.assertTrue(terminal.wait_for(b"begin; until [ -e went ]; do sleep"), terminal.seen)
        self.assertTrue(terminal.wait_for("… 6 bytes, ".encode()), terminal.seen)
        self.server.put("went", "")
        self.assertEqual(terminal.end(), (0, "begin\r\nend\r\n"))

    def test_progress_does_not_overwrite_a_line_that_has_begun(self):
        terminal = Terminal(self.server, "run", "printf 'half a line'; sleep 1.5; echo ' and the rest'")
        self.assertEqual(terminal.end()[0], 0)
        self.assertTrue(terminal.seen.endswith(b"half a line and the rest\r\n"), terminal.seen)

    def test_progress_comes_in_interim_answers(self):
        def search():
            with self.server.connect() as s, s.makefile("r") as stream:
                s.sendall(post("/grep", json.dumps({"pattern": SLOW, "path": "slow"}), "Sidecar-Progress: files\r\n"))
                lines = [stream.readline() for _ in range(3)]
            return lines if "200" not in lines[0] else None
        for line, wanted in zip(self.until_slow(search), ("^HTTP/1.1 102 Processing$", "^Sidecar-Files: [0-9]+$", "^$")):
            self.assertRegex(line, wanted)


class Colour(SidecarTest):
    def test_only_a_capable_terminal_gets_colour(self):
        for env, wanted in (({}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False), ({"TERM": ""}, False)):
            self.server.put("c.txt", "one\n")
            seen = Terminal(self.server, "edit", "c.txt", "--old", "one", "--new", "two", **env).end()[1]
            self.assertEqual("\x1b[3" in seen, wanted, (env, seen))
            patch = self.server.put("c.patch", "--- c.txt\n+++ c.txt\n@@ -1 +1 @@\n-two\n+one\n")
            seen = Terminal(self.server, "patch", patch, **env).end()[1]
            self.assertEqual("\x1b[32m+1 one" in seen, wanted, (env, seen))


class Looks(SidecarTest):
    """What a person sees."""

    RED, PATH, NUMBER, PLAIN = "\x1b[1;31m", "\x1b[35m", "\x1b[32m", "\x1b[m"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.put("a.c", "one\ntwo one\nthree\n")
        cls.server.put("sub/b.c", "stone one\n")

    def show(self, *argv, **env):
        return Terminal(self.server, *argv, **env).end()[1].replace("\r\n", "\n")

    def test_matches_have_headings_numbers_and_colours(self):
        red = self.RED + "one" + self.PLAIN
        number = [self.NUMBER + str(i) + self.PLAIN for i in range(4)]
        a, b = (self.PATH + name + self.PLAIN + "\n" for name in ("a.c", "sub/b.c"))
        self.assertEqual(self.show("grep", "one"), a + number[1] + ":" + red + "\n" + number[2] + ":two " + red + "\n\n" +
                         b + number[1] + ":st" + red + " " + red + "\n")
        self.assertEqual(self.show("grep", "-w", "one", "sub/b.c"), number[1] + ":stone " + red + "\n")
        self.assertEqual(self.show("grep", "-C1", "three", "a.c"),
                         number[2] + "-two one\n" + number[3] + ":" + red.replace("one", "three") + "\n\x1b[32m4\x1b[m-\n")
        self.assertEqual(self.show("grep", "-l", "one"), a + b)

    def test_matches_without_colour(self):
        for argv, env in ((["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
            self.assertEqual(self.show("grep", *argv, "one", **env), "a.c\n1:one\n2:two one\n\nsub/b.c\n1:stone one\n")
        self.assertEqual(self.show("grep", "--no-color", "--no-heading", "-N", "stone"), "sub/b.c:stone one\n")

    def test_only_what_matches_is_coloured(self):
        self.server.put("colour.txt", "aaa ^a foobar\n")
        for pattern, wanted in (("^a", "[a]aa ^a foobar"), (r"\bbar|foo", "aaa ^a [foo]bar"), ("a*", "[aaa] ^[a] foob[a]r"),
                                ("(?<=foo)bar", "aaa ^a foobar")):
            seen = self.show("grep", "-N", pattern, "colour.txt").rstrip("\n")
            self.assertEqual(seen.replace(self.RED, "[").replace(self.PLAIN, "]"), wanted)

    def test_names_and_jobs_cannot_write_to_the_terminal(self):
        evil = "evil\x1b]0;title\x07"
        self.server.put("odd/" + evil, "needle\n")
        for argv in (["ls", "odd"], ["find", "evil*", "odd"], ["grep", "needle", "odd"], ["grep", "-l", "needle", "odd"],
                     ["read", evil + "x"], ["jobs", "stop", evil]):
            seen = self.show(*argv, "--no-color")
            self.assertIn("evil\\x1b]0;title\\x07", seen, argv)
            self.assertNotRegex(seen, "[\x00-\x09\x0b-\x1f]", argv)
        job = self.server.result("bash", command="true " + evil + "\n" + "x" * 300, background=True)["jobId"]
        seen = self.show("jobs")
        self.assertIn("true evil\\x1b]0;title\\x07\\nxxx", seen)
        self.assertNotRegex(seen, "[\x00-\x09\x0b-\x1f]")
        self.assertEqual(sidecar("jobs", "-q", server=self.server)[1], job + "\n")

    def test_contents_cannot_write_to_the_terminal(self):
        """OSC 52 sets the clipboard. On a terminal it can be seen, in a pipe it is what it was."""
        evil = "needle\tx\x1b]52;c;ZXZpbA==\x07\x9b2J"
        state = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, state, True)
        server = self.start(env={"XDG_STATE_HOME": state})
        server.put("a.txt", "a\r\nb\r\n")
        for argv in (["write", "evil.txt", "--content", evil + "\n"], ["edit", "a.txt", "--old", "a", "--new", evil], ["diff"],
                     ["read", "evil.txt"], ["read", "-n", "evil.txt"], ["grep", "needle"], ["grep", "-A1", "2J"]):
            status, seen = Terminal(server, *argv).end()
            self.assertEqual(status, 0, (argv, seen))
            self.assertNotRegex(re.sub("\x1b\\[[0-9;]*m", "", seen), "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]", argv)
            if argv[0] != "write":
                self.assertIn("\\x1b]52;c;ZXZpbA==\\x07\\x9b", seen.replace("\x1b[m", "").replace("\x1b[1;31m", ""), argv)
        for argv in (["diff"], ["read", "evil.txt"], ["grep", "needle"]):
            self.assertIn(evil, sidecar(*argv, server=server)[1], argv)
        self.assertEqual(Terminal(server, "read", "evil.txt").end()[1], "needle\tx\\x1b]52;c;ZXZpbA==\\x07\\x9b2J\r\n")

    def test_the_list_of_jobs_fits_the_terminal(self):
        server = self.start()
        server.result("bash", command="true " + "x" * 250, background=True)
        terminal = Terminal(server, "jobs", columns=60)
        self.assertEqual([len(line) for line in terminal.end()[1].split("\r\n")], [37, 60, 0])


class Input(SidecarTest):
    def test_one_ctrl_d_ends_the_input(self):
        terminal = Terminal(self.server, "write", "typed.txt")
        self.assertTrue(terminal.wait_for(b"Ctrl-D"))
        os.write(terminal.fd, b"hello\n\x04")
        status, seen = terminal.end()
        self.assertEqual(status, 0, seen)
        self.assertEqual(self.server.get("typed.txt"), b"hello\n")

    def test_mcp_on_a_terminal_says_what_it_waits_for(self):
        terminal = Terminal(self.server, "mcp", "--workspace", self.server.workspace)
        self.assertTrue(terminal.wait_for(b"waiting for an MCP client's messages"))
        os.write(terminal.fd, b"\x04")
        self.assertEqual(terminal.end()[0], 0)


class Interrupt(SidecarTest):
    def begin(self, server, mark):
        server.put("tree.sh", "export %s=%s\nsetsid sh -c 'while :; do sleep 600; done' &\necho ready\nwait\n" % (MARK, mark))
        terminal = Terminal(server, "run", "sh tree.sh")
        self.assertTrue(terminal.wait_for(b"ready"))
        return terminal

    def test_ctrl_c_ends_the_whole_process_tree(self):
        terminal = self.begin(self.server, "ctrl-c")
        os.write(terminal.fd, b"\x03")
        self.assertEqual(terminal.end()[0], 128 + signal.SIGINT)
        wait_until_gone("ctrl-c")

    def test_ctrl_c_leaves_a_clean_prompt(self):
        # A progress that has begun meanwhile is erased with the ^C after it.
        for command, left in (("printf ready; sleep 60", ("ready^C\r\n",)),
                              ("echo ready; sleep 60", ("ready\r\n^C\r\n", "ready\r\n"))):
            terminal = Terminal(self.server, "run", command)
            self.assertTrue(terminal.wait_for(b"ready"))
            os.write(terminal.fd, b"\x03")
            status, seen = terminal.end()
            self.assertEqual(status, 128 + signal.SIGINT)
            self.assertIn(seen, left)
        # The line of the progress is erased, and the cursor stays at its start.
        terminal = Terminal(self.server, "run", "sleep 60")
        self.assertTrue(terminal.wait_for("sleep 60 … ".encode()))
        os.write(terminal.fd, b"\x03")
        self.assertEqual(terminal.end(), (128 + signal.SIGINT, ""))

    def test_the_first_ctrl_c_tells_a_server_s_user_of_the_second(self):
        server = self.start()
        env = {"SOCKET_PATH": server.socket + "2", "WORKSPACE_ROOT": server.workspace}
        terminal = Terminal(None, "serve", **env)
        self.assertTrue(terminal.wait_for(b"listens on"))
        with subprocess.Popen([BIN, "run", "echo on; sleep 60"], env=environment(**env), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:
            self.assertEqual(client.stdout.readline(), b"on\n")
            os.write(terminal.fd, b"\x03")
            self.assertTrue(terminal.wait_for(b"a second Ctrl-C or signal ends them at once"), terminal.seen)
            self.assertIsNone(client.poll())
            os.write(terminal.fd, b"\x03")
            self.assertEqual(terminal.end()[0], 0)
            self.assertEqual(client.wait(PATIENCE), 3)

    def test_sigterm_ends_the_whole_process_tree(self):
        terminal = self.begin(self.server, "sigterm")
        os.kill(terminal.pid, signal.SIGTERM)
        self.assertEqual(terminal.end()[0], 128 + signal.SIGTERM)
        wait_until_gone("sigterm")

    def test_a_second_ctrl_c_does_not_wait_for_a_stuck_server(self):
        server = self.start()
        terminal = self.begin(server, "stuck")
        server.process.send_signal(signal.SIGSTOP)
        try:
            os.write(terminal.fd, b"\x03\x03")
            self.assertEqual(terminal.end()[0], 128 + signal.SIGINT)
        finally:
            server.process.send_signal(signal.SIGCONT)

    def test_ctrl_c_leaves_a_server_that_does_not_answer(self):
        server = self.start()
        server.process.send_signal(signal.SIGSTOP)
        try:
            # Who is started in the background may have inherited that SIGINT is ignored.
            words = ["env", "--default-signal=INT", BIN, "grep", "--wait", "60", "x"]
            with subprocess.Popen(words, env=environment(server), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                fds = "/proc/%d/fd" % process.pid
                until(lambda: any(os.readlink(fd.path).startswith("socket:") for fd in os.scandir(fds)), "it connects")
                process.send_signal(signal.SIGINT)
                self.assertIn(process.wait(PATIENCE), (-signal.SIGINT, 128 + signal.SIGINT))
        finally:
            server.process.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    unittest.main()
