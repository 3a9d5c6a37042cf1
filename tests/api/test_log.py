"""The log: one JSON object a line, what happened and nothing that was said."""
import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import termios
import unittest

from harness import BIN, PATIENCE, SidecarTest, UnixConnection, environment, post, read_answer, until


class Log(SidecarTest):
    def calls(self, server, count):
        server.wait_for_log(lambda line: line.get("request_id") == count)
        return [line for line in server.log_lines() if "request_id" in line]

    def test_fields_of_a_call(self):
        server = self.start()
        server.put("f", "x")
        # On one connection, whose calls are logged in their order.
        with server.connect() as s, s.makefile("rb") as stream:
            for tool, arguments in (("read", {"path": "f", "sessionId": "sess-1"}), ("read", {"path": "absent", "sessionId": 's"\n\x01é'}),
                                    ("ls", {"sessionId": 5}), ("read", {"path": "../x"})):
                s.sendall(post("/" + tool, json.dumps(arguments)))
                read_answer(stream)
        lines = self.calls(server, 4)
        self.assertEqual([line["request_id"] for line in lines], [1, 2, 3, 4])
        for line in lines:
            for field in ("time", "level", "msg", "tool", "session", "duration_ms", "success", "code", "uid", "pid"):
                self.assertIn(field, line)
            self.assertEqual((line["uid"], line["pid"]), (os.geteuid(), os.getpid()))
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertGreaterEqual(line["duration_ms"], 0)
        self.assertEqual([(line["tool"], line["session"], line["success"], line["code"]) for line in lines], [
            ("read", "sess-1", True, ""), ("read", 's"\n\x01é', False, "FILE_NOT_FOUND"), ("ls", "", True, ""),
            ("read", "", False, "PATH_OUTSIDE_WORKSPACE")])

    def test_a_command_that_was_ended_is_no_success(self):
        server = self.start()
        server.call("bash", command="sleep 100", timeoutSeconds=0.1)
        server.observe("run_command", command="sleep 100", timeout_ms=100)
        server.call("bash", command="exit 3")
        self.assertEqual([(line["tool"], line["success"], line["code"]) for line in self.calls(server, 3)], [
            ("bash", False, "TIMED_OUT"), ("run_command", False, "TIMED_OUT"), ("bash", True, "")])

    def test_what_a_call_was_about_and_how_it_ended(self):
        state = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, state, True)
        server = self.start(env={"XDG_STATE_HOME": state})
        with server.connect() as s, s.makefile("rb") as stream:
            for tool, arguments in (("write", {"path": "a/b", "content": "x"}), ("grep", {"pattern": "a.c"}),
                                    ("tools/run_command", {"command": "exit 3"}),
                                    ("tools/run_command", {"command": "", "argv": ["sh", "-c", "kill -9 $$"]}),
                                    ("tools/run_command", {"command": "sleep 100", "timeout_ms": 50}),
                                    ("tools/no_such_tool", {"path": "p"}), ("read", {"path": "a/b"})):
                s.sendall(post("/" + tool, json.dumps(arguments)))
                read_answer(stream)
        lines = self.calls(server, 7)
        self.assertEqual([line["subject"] for line in lines],
                         ["a/b", "a.c", "exit 3", "sh -c kill -9 $$", "sleep 100", "p", "a/b"])
        self.assertEqual([line.get("exit_code") for line in lines], [None, None, 3, 137, -1, None, None])
        self.assertEqual([line["timed_out"] for line in lines], [False] * 4 + [True, False, False])
        self.assertEqual([line.get("change") for line in lines], [1] + [None] * 6)
        self.assertTrue(all(line["bytes"] > 0 for line in lines if line["success"]))

    def test_a_search_is_named_by_its_pattern(self):
        server = self.start()
        server.call("write", path="d/a.txt", content="x")
        server.call("grep", pattern="x", path="d")
        server.call("find", pattern="*.txt")
        self.assertEqual([line["subject"] for line in self.calls(server, 3)], ["d/a.txt", "x in d", "*.txt"])

    def test_a_path_is_named_as_it_lies_in_the_workspace(self):
        server = self.start()
        server.call("write", path="/etc/hosts", content="x")
        server.call("edit", path=os.path.join(server.workspace, "etc/../etc/hosts"), oldText="x", newText="y")
        server.call("grep", pattern="y", path="/etc")
        server.call("rename", **{"from": "/etc/hosts", "to": "/b"})
        server.call("patch", patch="--- /dev/null\n+++ /new\n@@ -0,0 +1 @@\n+x\n")
        server.call("read", path="../etc/hosts")
        server.observe("read_file", path="/etc/hosts")  # refused: as it was asked for
        expected = ["etc/hosts", "etc/hosts", "y in etc", "etc/hosts to b", "new", "../etc/hosts", "/etc/hosts"]
        self.assertEqual([line["subject"] for line in self.calls(server, 7)], expected)
        changes = server.request("GET", "/changes").json()["result"]["changes"]
        self.assertEqual([c["subject"] for c in changes], [expected[i] for i in (0, 1, 3, 4)])

    def test_a_subject_is_cut_and_has_no_secret(self):
        token = "ghp_" + "a1B2" * 9
        for flags in ([], ["--scrub", "off"]):
            server = self.start(flags=flags, env={"SIDECAR_AUTH_TOKEN": "T0KEN-OF-SERVER"})
            for command in ("echo " + token, "é" * 600, "x" * 490 + " " + token, ("y" * 495 + token) * 99, "echo T0KEN-OF-SERVER"):
                server.observe("run_command", command="true " + command)
            subjects = [line["subject"] for line in self.calls(server, 5)]
            self.assertEqual(subjects[0], "true echo [REDACTED:github-token]")
            self.assertEqual(subjects[1], "true " + "é" * 495)
            self.assertLessEqual(max(map(len, subjects)), 500)
            server.stop()
            for part in (token, token[:12], "T0KEN-OF"):
                self.assertNotIn(part, server.log())

    def test_every_line_is_json(self):
        server = self.start()
        for session in ("x" * 100, "y" * 100000, "\udcff", "\u2028"):
            server.call("ls", sessionId=session)
        server.stop()
        lines = [json.loads(line) for line in server.log().split("\n") if line]
        calls = [line for line in lines if line["msg"] == "call"]
        self.assertEqual([line.get("tool") for line in calls], ["ls"] * 4)  # a long session hides nothing

    def test_nothing_said_is_logged(self):
        server = self.start(env={"SIDECAR_AUTH_TOKEN": "T0KEN-OF-SERVER", "SIDECAR_LOG_LEVEL": "debug"})
        server.put("f", "CONTENT-OF-FILE")
        server.call("read", path="f", headers={"Authorization": "Bearer T0KEN-OF-SERVER"})
        server.call("read", path="f", headers={"Authorization": "Bearer T0KEN-GUESSED"})
        server.call("write", path="g", content="CONTENT-WRITTEN")
        server.call("edit", path="g", oldText="CONTENT-WRITTEN", newText="CONTENT-NEW")
        server.call("edit", path="g", oldText="CONTENT-WRONG", newText="")
        server.send(b"GET /health?SECRET-QUERY HTTP/1.1\r\nHost: x\r\nCookie: SECRET-COOKIE\r\nConnection: close\r\n\r\n")
        server.stop()
        for word in ("T0KEN", "CONTENT", "SECRET"):
            self.assertNotIn(word, server.log())

    def test_level(self):
        server = self.start(env={"SIDECAR_LOG_LEVEL": "warn"})
        server.call("ls")
        server.stop()
        self.assertNotIn('"level":"info"', server.log())

    def test_text_form(self):
        server = self.start(flags=["--log", "text"])
        server.call("ls", sessionId="\x1b[31mred")
        server.stop()
        self.assertIn(" info ", server.log())
        self.assertIn("tool=ls", server.log())
        self.assertNotIn("\x1b", server.log())

    def test_start_and_end_are_logged(self):
        server = self.start()
        server.stop()
        messages = [line["msg"] for line in server.log_lines()]
        self.assertIn("ready", messages[0])
        self.assertIn("stopping", messages)


def listens(path):
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        return True


class Terminal(SidecarTest):
    """On a terminal the log is for people."""

    def run_on_terminal(self, columns, **more):
        directory = tempfile.mkdtemp(prefix="sidecar-test-")
        self.addCleanup(shutil.rmtree, directory, True)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with open(ours, "rb", buffering=0) as terminal:
            process = subprocess.Popen(
                [BIN, "serve"], stderr=theirs, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                env={**environment(SOCKET_PATH=directory + "/s", WORKSPACE_ROOT=directory + "/ws", TERM="xterm"), **more})
            os.close(theirs)
            try:
                until(lambda: listens(directory + "/s"), "the server listens")
                connection = UnixConnection(directory + "/s")
                for url, arguments in (("/ls", {}), ("/tools/run_command", {"command": "exit 3 # \x1b[31m " + "表" * 200}),
                                       ("/read", {"path": "../out"}), ("/tools/run_command", {"command": "sleep 9", "timeout_ms": 50})):
                    connection.request("POST", url, json.dumps(arguments), {"Content-Type": "application/json"})
                    connection.getresponse().read()
            finally:
                process.terminate()
                process.wait()
            shown = b""
            with contextlib.suppress(OSError):
                while piece := terminal.read(4096):
                    shown += piece
        return shown.decode().replace("\r\n", "\n").split("\n"), directory

    def test_a_banner_and_a_line_a_call(self):
        lines, directory = self.run_on_terminal(100)
        text = "\n".join(lines)
        self.assertRegex(lines[0], r"sidecar \d")
        self.assertIn(directory + "/ws", lines[1])
        self.assertIn("sidecar ls --socket %s/s" % directory, text)
        self.assertRegex(text, r"commands   ")
        calls = [line for line in lines if re.search(" ms$| s$", line)]
        for call, words in zip(calls, ("ls .*ok", "run_command .*exit 3", "read .*refused", "run_command .*timed out")):
            self.assertRegex(call, words)
        self.assertNotIn("\x1b[31m ", text)  # what a client sends does not colour our terminal
        self.assertIn("\x1b[31mexit 3", text)
        self.assertNotIn("{", text)

    def test_narrow_and_without_colour(self):
        for columns in (40, 70):
            lines, _ = self.run_on_terminal(columns, NO_COLOR="1")
            self.assertNotIn("\x1b", "\n".join(lines))
            for line in (line for line in lines if re.search(" ms$", line)):
                wide = sum(2 if ord(c) > 0x2fff else 1 for c in line)
                self.assertLess(wide, columns, line)

    def test_json_on_a_terminal(self):
        lines, _ = self.run_on_terminal(80, SIDECAR_LOG="json")
        self.assertTrue(all(json.loads(line) for line in lines if line))


class StalledReader(unittest.TestCase):
    def test_nobody_reads_stderr(self):
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as d:
            out, into = os.pipe()
            process = subprocess.Popen(
                [BIN, "serve"], stderr=into, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                env=environment(SOCKET_PATH=d + "/s", WORKSPACE_ROOT=d + "/ws"))
            os.close(into)
            try:
                until(lambda: listens(d + "/s"), "the server listens")
                connection = UnixConnection(d + "/s")
                for _ in range(3000):  # some 600 KB of log: more than pipe and backlog hold
                    connection.request("POST", "/ls", json.dumps({"sessionId": "s" * 150}), {"Content-Type": "application/json"})
                    self.assertEqual(connection.getresponse().read()[:10], b'{"ok":true')
                connection.close()
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0)
                self.assertFalse(os.path.exists(d + "/s"))
            finally:
                process.kill()
                process.wait()
                os.close(out)

    def test_closed_stderr(self):
        with tempfile.TemporaryDirectory(prefix="sidecar-test-") as d:
            process = subprocess.Popen(
                ["sh", "-c", 'exec "$0" serve 2>&- >&- <&-', BIN],
                env=environment(SOCKET_PATH=d + "/s", WORKSPACE_ROOT=d + "/ws"))
            try:
                until(lambda: listens(d + "/s"), "the server listens")
                connection = UnixConnection(d + "/s")
                for i in range(10):
                    body = json.dumps({"path": "f%d" % i, "content": "only this"})
                    connection.request("POST", "/write", body, {"Content-Type": "application/json"})
                    self.assertEqual(connection.getresponse().read()[:10], b'{"ok":true')
                connection.close()
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0)
                # The log must not have found its way into what was opened under its number.
                for i in range(10):
                    with open(d + "/ws/f%d" % i, encoding="ascii") as f:
                        self.assertEqual(f.read(), "only this")
            finally:
                process.kill()
                process.wait()


if __name__ == "__main__":
    unittest.main()
