"""The command line on a terminal: the line that shows how far it has come, colour, Ctrl-C."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from harness import BIN, SidecarTest
from test_cli import environment, sidecar

# Slow by design and within bounds: there are many ways to cut a line in four.
SLOW = r"(a+)(a+)\2\1[cd]"
LINE = "a" * 100 + "\n"


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, server, *argv, stdout=None, **env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if stdout:
                os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT), 1)
            os.execve(BIN, [BIN, *argv], environment(server, **{"TERM": "xterm", **env}))
        self.seen = b""

    def read(self):
        """False at the end."""
        try:
            piece = os.read(self.fd, 4096) if select.select([self.fd], [], [], 30)[0] else b""
        except OSError:
            piece = b""
        self.seen += piece
        return bool(piece)

    def wait_for(self, text):
        while text not in self.seen and self.read():
            pass
        return text in self.seen

    def end(self):
        """(exit status, all that was shown)."""
        while self.read():
            pass
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status), self.seen.decode()


class Progress(SidecarTest):
    @classmethod
    def setUpClass(cls):
        """Files in which SLOW takes a while on this machine."""
        super().setUpClass()
        lines, took = 1, 0
        while took < 1.5:
            for i in range(100):
                cls.server.put("slow/%d/a.txt" % i, LINE * lines)
            lines *= 2
            began = time.monotonic()
            cls.piped = sidecar("grep", SLOW, "slow", env=environment(cls.server, TERM="xterm"))
            took = time.monotonic() - began

    def test_a_pipe_gets_nothing_of_it(self):
        self.assertEqual(self.piped, (1, "", "sidecar: No matches found\n"))

    def test_a_search_says_how_many_files_it_has_seen(self):
        status, seen = Terminal(self.server, "grep", SLOW, "slow").end()
        self.assertEqual(status, 1)
        lines = re.findall(re.escape(SLOW) + r" … ([0-9,]+) files, [0-9]+\.[0-9] s", seen)
        self.assertTrue(lines, seen)
        counts = [int(n.replace(",", "")) for n in lines]
        self.assertEqual(counts, sorted(counts))
        self.assertTrue(seen.endswith("\r\x1b[Ksidecar: No matches found\r\n"), seen)

    def test_a_terminal_that_cannot_erase_is_spared(self):
        self.assertEqual(Terminal(self.server, "grep", SLOW, "slow", TERM="dumb").end()[1],
                         "sidecar: No matches found\r\n")

    def test_a_command_whose_output_goes_elsewhere_shows_its_progress(self):
        out = os.path.join(self.server.dir, "out")
        status, seen = Terminal(self.server, "run", "echo abc; sleep 1.5; echo abc", stdout=out).end()
        self.assertEqual(status, 0)
        self.assertRegex(seen, r"… 4 bytes, [0-9]+\.[0-9] s")
        self.assertTrue(seen.endswith("\r\x1b[K"), seen)
        with open(out, encoding="ascii") as f:
            self.assertEqual(f.read(), "abc\nabc\n")

    def test_who_asks_is_told_in_interim_answers(self):
        body = json.dumps({"pattern": SLOW, "path": "slow"})
        with self.server.connect() as s, s.makefile("r") as stream:
            s.sendall(("POST /grep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       "Content-Length: %d\r\nSidecar-Progress: files\r\n\r\n%s" % (len(body), body)).encode())
            for line in ("^HTTP/1.1 102 Processing$", "^Sidecar-Files: [0-9]+$", "^$"):
                self.assertRegex(stream.readline(), line)


class Colour(SidecarTest):
    def test_it_is_for_terminals_that_want_it(self):
        for env, wanted in (({}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False), ({"TERM": ""}, False)):
            self.server.put("c.txt", "one\n")
            seen = Terminal(self.server, "edit", "c.txt", "--old", "one", "--new", "two", **env).end()[1]
            self.assertEqual("\x1b[3" in seen, wanted, (env, seen))


class Input(SidecarTest):
    def test_one_ctrl_d_ends_what_is_typed(self):
        terminal = Terminal(self.server, "write", "typed.txt")
        self.assertTrue(terminal.wait_for(b"Ctrl-D"))
        os.write(terminal.fd, b"hello\n\x04")
        status, seen = terminal.end()
        self.assertEqual(status, 0, seen)
        self.assertEqual(self.server.get("typed.txt"), b"hello\n")

    def test_who_starts_mcp_by_hand_is_told_what_it_waits_for(self):
        terminal = Terminal(self.server, "mcp", "--workspace", self.server.workspace)
        self.assertTrue(terminal.wait_for(b"waiting for an MCP client's messages"))
        os.write(terminal.fd, b"\x04")
        self.assertEqual(terminal.end()[0], 0)


class Interrupt(SidecarTest):
    BEAT = "setsid sh -c 'while :; do echo >> beat; sleep 0.05; done' &\necho ready\nwait\n"

    def is_silent(self, server):
        """Does nobody write any more?"""
        before = -1
        for _ in range(60):
            now = os.path.getsize(server.path("beat")) if os.path.exists(server.path("beat")) else 0
            if now == before:
                return True
            before = now
            time.sleep(0.5)
        return False

    def begin(self, server):
        server.put("beat.sh", self.BEAT)
        terminal = Terminal(server, "run", "sh beat.sh")
        self.assertTrue(terminal.wait_for(b"ready"))
        return terminal

    def test_ctrl_c_ends_the_whole_tree_over_there(self):
        terminal = self.begin(self.server)
        os.write(terminal.fd, b"\x03")
        self.assertEqual(terminal.end()[0], 128 + signal.SIGINT)
        self.assertTrue(self.is_silent(self.server))

    def test_sigterm_does_as_well(self):
        terminal = self.begin(self.server)
        os.kill(terminal.pid, signal.SIGTERM)
        self.assertEqual(terminal.end()[0], 128 + signal.SIGTERM)
        self.assertTrue(self.is_silent(self.server))

    def test_the_second_ctrl_c_does_not_wait_for_a_server_that_is_stuck(self):
        server = self.start()
        terminal = self.begin(server)
        server.process.send_signal(signal.SIGSTOP)
        try:
            os.write(terminal.fd, b"\x03\x03")
            self.assertEqual(terminal.end()[0], 128 + signal.SIGINT)
        finally:
            server.process.send_signal(signal.SIGCONT)

    def test_a_server_that_does_not_answer_is_left_at_once(self):
        server = self.start()
        server.process.send_signal(signal.SIGSTOP)
        try:
            # Who is started in the background may have inherited that SIGINT is ignored.
            words = ["env", "--default-signal=INT", BIN, "grep", "--wait", "60", "x"]
            with subprocess.Popen(words, env=environment(server), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                time.sleep(0.2)
                process.send_signal(signal.SIGINT)
                self.assertIn(process.wait(30), (-signal.SIGINT, 128 + signal.SIGINT))
        finally:
            server.process.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    unittest.main()
