"""The log: one JSON object a line, what happened and nothing that was said."""
import contextlib
import json
import os
import socket
import subprocess
import tempfile
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
