"""run_command: how a command's end is told, and both ends of its output."""
import os
import re
import shutil
import socket
import sys
import tempfile
import unittest

from harness import SandboxTest, SidecarTest, given_time, is_sanitized, needs_namespaces, until
from processes import has_become

FIELDS = {"stdout", "stderr", "exit_code", "signal", "timed_out", "truncated", "duration_ms", "usage", "survivors"}


class RunCommand(SidecarTest):
    def run_command(self, command, **arguments):
        return self.server.output("run_command", command=command, **arguments)

    def test_an_ordinary_end(self):
        out = self.run_command("echo out; echo err >&2")
        self.assertEqual(set(out), FIELDS)
        self.assertEqual((out["stdout"], out["stderr"], out["exit_code"]), ("out\n", "err\n", 0))
        self.assertEqual((out["signal"], out["timed_out"], out["truncated"], out["survivors"]), (None, False, False, []))
        self.assertEqual(set(out["usage"]), {"cpu_ms", "peak_memory_bytes", "oom_killed", "limit"})
        self.assertGreater(out["usage"]["peak_memory_bytes"], 0)

    def test_failing_is_no_failure_of_the_tool(self):
        self.assertEqual(self.run_command("exit 7")["exit_code"], 7)
        self.assertEqual(self.run_command("no-such-program-here")["exit_code"], 127)
        self.assertEqual(self.run_command("(((")["exit_code"] != 0, True)

    def test_signal(self):
        out = self.run_command("kill -9 $$")
        self.assertEqual((out["signal"], out["exit_code"], out["timed_out"]), ("SIGKILL", 137, False))

    def test_timeout(self):
        out = given_time(lambda out: out["stdout"], lambda ms: self.run_command("echo before; sleep 60", timeout_ms=ms))
        self.assertEqual((out["exit_code"], out["timed_out"], out["stdout"]), (None, True, "before\n"))
        self.assertEqual(out["usage"]["limit"], "timeout")
        self.assertIn("timeout_ms", out["hint"])
        self.assertGreaterEqual(out["duration_ms"], 300)

    def test_both_ends_are_kept(self):
        out = self.run_command("seq 100000")
        whole = "".join("%d\n" % i for i in range(1, 100001))
        head, omitted, tail = re.fullmatch(r"(.*?)\n?\[\.\.\. (\d+) bytes omitted \.\.\.\]\n(.*)", out["stdout"], re.S).groups()
        self.assertTrue(out["truncated"])
        self.assertTrue(whole.startswith(head) and whole.endswith(tail))
        self.assertAlmostEqual(len(head), 12800, delta=1)
        self.assertEqual(len(tail), 38400)
        # A newline that ended the head is part of the line that says so.
        self.assertIn(len(whole) - len(tail) - len(head) - int(omitted), (0, 1))

    def test_exactly_the_limit_is_whole(self):
        for size, cut in ((51200, False), (51201, True)):
            out = self.run_command("head -c %d /dev/zero | tr '\\0' x >&2" % size)
            self.assertEqual((out["truncated"], "omitted" in out["stderr"]), (cut, cut))
            if not cut:
                self.assertEqual(out["stderr"], "x" * size)

    def test_characters_stay_whole(self):
        for shift in range(4):
            out = self.run_command("printf %%%ds; yes '\u20ac\U0001f600' | tr -d '\\n' | head -c 210000" % shift if shift
                                   else "yes '\u20ac\U0001f600' | tr -d '\\n' | head -c 210000")
            self.assertNotIn("\ufffd", out["stdout"])

    def test_much_output_in_little_memory(self):
        before = self.server.rss()
        out = self.run_command("yes | head -c 300000000; echo end", timeout_ms=120000)
        self.assertTrue(out["stdout"].endswith("end\n"))
        self.assertIn("%d bytes omitted" % (300000004 - 51200), out["stdout"])
        if not is_sanitized():
            self.assertLess(self.server.rss() - before, 4 << 10)

    def test_bytes_that_are_no_text(self):
        self.assertEqual(self.run_command(r"printf 'a\377b\0c'")["stdout"], "a\ufffdbc")

    def test_argv_needs_no_shell(self):
        out = self.server.output("run_command", argv=["printf", "%s|", "a b", "$HOME", ";"])
        self.assertEqual(out["stdout"], "a b|$HOME|;|")
        self.assertEqual(self.server.output("run_command", command="", argv=["true"])["exit_code"], 0)
        self.assertEqual(self.server.failure("run_command", argv=["no-such-program-here"])[0], "SPAWN_FAILED")
        for wrong in ({"argv": []}, {"argv": [1]}, {"argv": "ls"}, {"argv": ["a\0b"]}, {"command": "ls", "argv": ["ls"]}, {}):
            self.assertEqual(self.server.failure("run_command", **wrong)[0], "INVALID_ARGUMENTS", wrong)

    def test_where_and_with_what(self):
        os.mkdir(self.server.path("sub"))
        self.assertEqual(self.run_command("pwd", cwd="sub")["stdout"], self.server.path("sub") + "\n")
        self.assertEqual(self.run_command("pwd")["stdout"], self.server.workspace + "\n")
        for env in (["A=1", "B=x=y"], {"A": "1", "B": "x=y"}):
            self.assertEqual(self.run_command("echo $A $B", env=env)["stdout"], "1 x=y\n")
        for env in (["novalue"], ["=x"], {"": "x"}, {"A": 1}, "A=1"):
            self.assertEqual(self.server.failure("run_command", command="true", env=env)[0], "INVALID_ARGUMENTS", env)
        self.server.put("file", "")
        for cwd, code in (("none", "FILE_NOT_FOUND"), ("file", "NOT_A_DIRECTORY"), ("file/x", "NOT_A_DIRECTORY"), ("/etc", "PATH_OUTSIDE_WORKSPACE"), ("..", "PATH_OUTSIDE_WORKSPACE")):
            self.assertEqual(self.server.failure("run_command", command="true", cwd=cwd)[0], code)

    def test_bad_commands(self):
        for command in ("", "  \n", "a\0b", "x" * (2 << 20)):
            self.assertEqual(self.server.failure("run_command", command=command)[0], "INVALID_ARGUMENTS", command[:9])
        self.assertIn("NUL", self.server.failure("run_command", command="a\0b")[1])

    def test_bad_timeouts(self):
        for timeout in (-1, 0, 1.5, 1e300, "soon", [], True):
            code, message = self.server.failure("run_command", command="true", timeout_ms=timeout)
            self.assertEqual(code, "INVALID_ARGUMENTS", timeout)
            self.assertIn("timeout_ms", message)

    def test_a_shell_that_is_not_there(self):
        code, message = self.server.failure("run_command", command="true", shell="/no/such/shell")
        self.assertEqual(code, "INVALID_ARGUMENTS")
        self.assertIn("shell", message)
        code, message = self.server.failure("run_command", argv=["/no/such/shell", "-c", "true"])
        self.assertEqual(code, "SPAWN_FAILED")
        self.assertEqual(message, "The program could not be started: /no/such/shell: no such file or directory")

    def test_survivors(self):
        out = self.run_command("sleep 1000 & %s; echo ok" % has_become("sleep"))
        self.assertEqual(out["stdout"], "ok\n")
        self.assertEqual([(s["command"], s["ports"]) for s in out["survivors"]], [("sleep 1000", [])])
        self.assertIn("background", out["hint"])
        self.server.output("job_stop", job_id=out["survivors"][0]["job_id"])

    def test_hanging_up_ends_it(self):
        body = b'{"command":"touch hung; sleep 300; touch late","timeout_ms":300000}'
        with self.server.connect() as s:
            s.sendall(b"POST /tools/run_command HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            until(lambda: os.path.exists(self.server.path("hung")), "the command runs")
            s.shutdown(socket.SHUT_RDWR)
        self.server.wait_for_log(lambda e: e.get("tool") == "run_command" and e.get("duration_ms", 0) < 60000 and
                                 e["request_id"] == max(x.get("request_id", 0) for x in self.server.log_lines()))
        self.assertFalse(os.path.exists(self.server.path("late")))


class Policy(SidecarTest):
    # Harmless even if they ran.
    BLOCKED = ["sudo -n true", "true; sudo -n true", "dd count=0", "bash -c 'curl file:///dev/null'", "echo $(wget)",
               "curl -s http://localhost:1/ file:///dev/null", "python3 -m http.server --bind 0.0.0.0 --no-such-option"]
    FINE = ["dd --version", "echo sudo", "echo 'rm -rf /'", "true | cat", "true && true"]

    def test_default(self):
        for command in self.BLOCKED:
            code, message = self.server.failure("run_command", command=command)
            self.assertEqual(code, "COMMAND_BLOCKED", command)
            self.assertIn('"', message)
        for command in self.FINE:
            self.assertEqual(self.server.output("run_command", command=command)["exit_code"], 0, command)
        self.assertEqual(self.server.failure("run_command", argv=["sudo", "-n", "true"])[0], "COMMAND_BLOCKED")

    def test_the_wire_has_none(self):
        answer = self.server.call("bash", command="dd count=0")
        self.assertIn(b'"type":"done"', answer.body)

    def test_strict_and_off(self):
        strict = self.start(env={"SIDECAR_COMMAND_POLICY": "strict"})
        self.assertEqual(strict.failure("run_command", command="true && true")[0], "COMMAND_BLOCKED")
        self.assertEqual(strict.output("run_command", command="echo a > b")["exit_code"], 0)
        off = self.start(env={"SIDECAR_COMMAND_POLICY": "off"})
        self.assertEqual(off.output("run_command", command="dd count=0")["exit_code"], 0)

    def test_own_rules(self):
        server = self.start(env={"SIDECAR_COMMAND_RULES": "!dd;whoami"})
        self.assertEqual(server.output("run_command", command="dd count=0")["exit_code"], 0)
        self.assertEqual(server.failure("run_command", command="whoami")[0], "COMMAND_BLOCKED")
        self.assertEqual(server.failure("run_command", command="sudo -n true")[0], "COMMAND_BLOCKED")

    # Each names what does not exist, or signals nothing, so that it is harmless even if it ran.
    KILLS = ["pkill -0 no-such-process-here", "killall -s 0 no-such-process-here", "kill -0 -1", "kill -0 0"]

    def test_nothing_is_ended_by_name(self):
        server = self.start(env={"SIDECAR_SANDBOX": "off"})
        for command in self.KILLS:
            code, message = server.failure("run_command", command=command)
            self.assertEqual(code, "COMMAND_BLOCKED", command)
            self.assertIn("job_stop", message)
        self.assertEqual(server.output("run_command", command="sleep 60 & kill -0 $!; kill $!")["exit_code"], 0)

    @needs_namespaces
    def test_in_namespaces_there_are_no_others(self):
        server = self.start(env={"SIDECAR_SANDBOX": "workspace"})
        self.assertEqual(server.output("run_command", command="kill -0 0")["exit_code"], 0)

    def test_the_loopback_can_be_asked(self):
        client = "import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[-1]).read())"
        self.server.put("curl", "#!%s\n%s\n" % (sys.executable, client), 0o755)
        script = "import http.server as h, sys; s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler);" \
                 "print(s.server_port, file=open('port', 'w'), flush=True); s.handle_request()"
        self.server.put("hello.txt", "hello from the workspace")
        self.server.output("run_command", command="", argv=[sys.executable, "-c", script], background=True)
        until(lambda: os.path.exists(self.server.path("port")) and self.server.get("port"), "the server listens")
        url = "http://127.0.0.1:%s/hello.txt" % self.server.get("port").decode().strip()
        self.assertEqual(self.server.failure("run_command", command="./curl -s " + url, env=["http_proxy=x"])[0],
                         "COMMAND_BLOCKED")
        self.assertEqual(self.server.output("run_command", command="./curl -s " + url)["stdout"],
                         "hello from the workspace")


class Sandbox(SandboxTest):
    def test_a_refused_write_is_named(self):
        outside = tempfile.mkdtemp(prefix="sidecar-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, outside, True)
        out = self.server.output("run_command", command="touch %s/f" % outside)
        self.assertNotEqual(out["exit_code"], 0)
        self.assertIn("sandbox refused", out["hint"])


if __name__ == "__main__":
    unittest.main()
