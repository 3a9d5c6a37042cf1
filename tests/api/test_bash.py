"""POST /bash: output as it comes, exit codes, timeouts, and nothing left behind."""
import base64
import json
import os
import socket
import unittest

from harness import SidecarTest, given_time, is_sanitized, post, until
from processes import MARK, alive, wait_until_gone


class Bash(SidecarTest):
    def run_bash(self, **arguments):
        answer = self.server.call("bash", **arguments)
        self.assertEqual(answer.status, 200, answer.body)
        events = [json.loads(line) for line in answer.body.decode().splitlines()]
        text = {"stdout": "", "stderr": ""}
        for e in events[:-1]:
            self.assertEqual(e["type"], "delta")
            text[e["stream"]] += e["data"]
        return text["stdout"], text["stderr"], events[-1]

    def test_exit_codes(self):
        for command, code in (("true", 0), ("false", 1), ("exit 77", 77), ("kill -TERM $$", 143), ("kill -9 $$", 137),
                              ("no_such_command_here", 127)):
            self.assertEqual(self.run_bash(command=command)[2], {"type": "done", "exitCode": code}, command)

    def test_working_directory_and_environment(self):
        os.makedirs(self.server.path("sub/dir"), exist_ok=True)
        out, _, _ = self.run_bash(command="pwd; echo $X; echo ${SIDECAR_AUTH_TOKEN-none}", cwd="sub/dir", env={"X": "é y"})
        self.assertEqual(out.splitlines(), [self.server.path("sub/dir"), "é y", "none"])
        self.assertEqual(self.run_bash(command="pwd")[0].strip(), self.server.workspace)

    def test_standard_input_is_empty_and_nothing_leaks(self):
        self.assertEqual(self.run_bash(command="cat; ls /proc/self/fd | wc -l")[0].strip(), "4")

    def test_standard_input_is_what_the_call_gives(self):
        self.assertEqual(self.run_bash(command="cat", stdin="a\nb\u00e9\0c")[0], "a\nb\u00e9\0c")
        self.assertEqual(self.run_bash(argv=["wc", "-c"], stdin="12345")[0].strip(), "5")
        self.assertEqual(self.run_bash(command="read a; read b; echo $b$a; cat", stdin="1\n2\n3\n")[0], "21\n3\n")
        self.assertEqual(self.run_bash(command="cat /dev/stdin; ls /proc/self/fd | wc -l", stdin="x ")[0].strip(), "x 4")
        self.assertEqual(self.run_bash(command="wc -c;" + "#" * 200000, stdin="x" * 70000)[0].strip(), "70000")
        for nothing in ("", None, 5, {}):
            self.assertEqual(self.run_bash(command="wc -c", stdin=nothing)[0].strip(), "0", nothing)

    def test_standard_input_may_be_base64(self):
        data = bytes(range(256)) * 100
        text = base64.b64encode(data).decode()
        self.assertEqual(self.run_bash(command="base64 -w0", stdin=text, stdinEncoding="base64")[0], text)
        answer = self.server.call("bash", command="cat", stdin="a*b", stdinEncoding="base64")
        self.assertEqual((answer.status, answer.json()["error"]), (400, "Missing or invalid stdin"))

    def test_standard_input_is_bounded(self):
        most = 16 << 20
        self.assertEqual(self.run_bash(command="wc -c", stdin="x" * most)[0].strip(), str(most))
        answer = self.server.call("bash", command="wc -c", stdin="x" * (most + 1))
        self.assertEqual((answer.status, answer.json()["code"]), (400, "INVALID_ARGUMENTS"))
        self.assertIn("write it to a file", answer.json()["error"])

    def test_standard_input_of_a_background_command(self):
        job = self.server.result("bash", command="cat; echo end", background=True, stdin="kept ")["jobId"]
        until(lambda: "end" in self.server.request("GET", "/jobs/" + job).json()["result"]["output"], "it has read all")
        self.assertEqual(self.server.request("GET", "/jobs/" + job).json()["result"]["output"], "kept end\n")

    def test_argv_runs_without_a_shell(self):
        self.assertEqual(self.run_bash(argv=["echo", "$HOME", ";", "*"])[0], "$HOME ; *\n")

    def test_a_columns_plain_means_what_it_means_to_the_shell(self):
        """It is started without one; a semicolon takes it through the shell."""
        program = self.server.path("no-interpreter")
        self.server.put("no-interpreter", "echo $0 $# $BASH_SUBSHELL\n")
        os.chmod(program, 0o755)
        for command in ("env", "/usr/bin/env", "ls -a /", "sh -c exit", "false", "./no-interpreter a b", "no-such-program x",
                        "./no-such-program", "/usr", "./", "true\n", "date --no-such-option"):
            for env in ({}, {"PATH": "no-such-directory"}, {"PATH": "/bin"}, {"BASH_ENV": program},
                        {"BASH_FUNC_env%%": "() { echo mine; }"}, {"SHELLOPTS": "xtrace"}):
                env = {"SHLVL": "7", **env}  # shells count differently when there is none
                with self.subTest(command, env=env):
                    plain, shell = (self.run_bash(command=c, env=env) for c in (command, command.strip() + ";"))
                    self.assertEqual(sorted(plain[0].splitlines()), sorted(shell[0].splitlines()))
                    self.assertEqual(plain[1:], shell[1:])

    def test_a_columns_plain_takes_no_shell(self):
        """Bash complains about a locale that is not there; most programs do not."""
        env = {"LC_ALL": "xx_XX.no-such-locale"}
        if "setlocale" not in self.run_bash(command="true;", env=env)[1]:
            self.skipTest("the shell here does not tell that it was there")
        self.assertEqual(self.run_bash(command="true", env=env), ("", "", {"type": "done", "exitCode": 0}))

    def test_long_scripts(self):
        for size in (100, 130000, 140000, 1 << 20):
            script = ("echo begin\n" + "#" * size)[:size - 9] + "\necho end"
            self.assertEqual(self.run_bash(command=script)[0], "begin\nend\n", size)
        for size in ((1 << 20) + 1, 2 << 20):
            answer = self.server.call("bash", command="#" * size)
            self.assertEqual((answer.status, answer.json()["code"]), (400, "INVALID_ARGUMENTS"))
            self.assertIn("write it to a file", answer.json()["error"])

    def test_bad_input(self):
        for arguments in ({}, {"command": ""}, {"command": "  "}, {"command": 5}, {"command": "a\0b"}, {"argv": []},
                          {"argv": ["a\0"]}, {"argv": [1]}):
            answer = self.server.call("bash", **arguments)
            self.assertEqual(answer.status, 400, arguments)
            self.assertRegex(answer.json()["error"], "^Missing or invalid (command|argv)$")
        answer = self.server.call("bash", command="true", argv=["false"])
        self.assertEqual((answer.status, answer.json()["code"]), (400, "INVALID_ARGUMENTS"))
        self.assertIn("not both", answer.json()["error"])
        self.server.put("file", "x")
        for cwd, code in (("missing", "FILE_NOT_FOUND"), ("file", "NOT_A_DIRECTORY"), ("../..", "PATH_OUTSIDE_WORKSPACE")):
            answer = self.server.call("bash", command="true", cwd=cwd)
            self.assertEqual((answer.status, answer.json()["code"]), (400, code))

    def test_a_command_that_is_no_text(self):
        for command in (b"echo \xff\xfe", b"echo \xc3", b"echo \xed\xa0\x80"):
            answer, _ = self.server.send(post("/bash", b'{"command":"%s"}' % command, "Connection: close\r\n"))
            self.assertEqual((answer.status, answer.json()["error"]), (400, "Invalid JSON body"), command)
        answer = self.server.request("POST", "/bash", b'{"command":"echo \\ud800"}', {"Content-Type": "application/json"})
        self.assertEqual(json.loads(answer.body.decode().splitlines()[0])["data"], "\ufffd\n")

    def test_a_shell_that_is_not_there(self):
        self.assertEqual(self.run_bash(command="echo $BASH_VERSION$0", shell="/no/such/shell")[2]["exitCode"], 0)
        self.assertEqual(self.run_bash(command="echo x", env={"SHELL": "/no/such/shell"})[0], "x\n")
        self.assertEqual(self.run_bash(command="/no/such/shell -c true")[2]["exitCode"], 127)
        _, _, last = self.run_bash(argv=["/no/such/shell", "-c", "true"])
        self.assertEqual((last["type"], last["code"]), ("error", "SPAWN_FAILED"))
        self.assertIn("could not be started", last["message"])

    def test_odd_timeouts(self):
        for timeout in (-1, 0, "1", None, 1e300, True, 0.4):
            self.assertEqual(self.run_bash(command="echo x", timeoutSeconds=timeout)[2]["exitCode"], 0, timeout)

    def test_a_split_character_is_put_together(self):
        out, _, _ = self.run_bash(command=r"printf '\303'; sleep 0.2; printf '\251'; printf '\360\237'; sleep 0.2; printf '\231\202'")
        self.assertEqual(out, "é🙂")
        self.assertEqual(self.run_bash(command=r"printf 'a\377b\303'")[0], "a\ufffdb\ufffd")

    def test_a_character_may_come_byte_by_byte_on_both_streams(self):
        """Each byte is a read of its own; the other stream writes between them."""
        for text in ("é🙂".encode(), b"\xe2\x82\xac.", b"\xf0\x9f\xc3\xa9", b"\xf0\x9f\x99", b"\xe0\x80\xed\xa0"):
            both = "; ".join(rf"printf '\{byte:o}'; printf '\{byte:o}' >&2; sleep 0.1" for byte in text)
            out, err, _ = self.run_bash(command=both)
            shown = text.decode(errors="replace")
            self.assertEqual((out, err), (shown, shown), text)

    def test_output_comes_as_it_is_made(self):
        body = json.dumps({"command": "echo first; until [ -e go ]; do sleep 0.02; done; echo second"})
        with self.server.connect() as s:
            s.sendall(post("/bash", body))
            got = b""
            while b"first" not in got:
                got += s.recv(4096)
            self.server.put("go", "")
            while b"second" not in got:
                got += s.recv(4096)

    def test_a_background_child_does_not_hold_the_answer(self):
        out, _, done = self.run_bash(command="sleep 600 & echo ok", env={MARK: "background"})
        self.assertEqual((out, done), ("ok\n", {"type": "done", "exitCode": 0}))

    def run_out(self, command, **arguments):
        """A command that says that it has started before its time is over."""
        return given_time(lambda got: got[0].startswith("start\n"), lambda ms: self.run_bash(
            command=command, timeoutSeconds=ms / 1000, **arguments))

    def test_timeout(self):
        out, _, done = self.run_out("echo start; sleep 60", env={MARK: "timeout"})
        self.assertEqual(done, {"type": "done", "exitCode": -1, "timedOut": True})
        self.assertEqual((out, alive("timeout")), ("start\n", []))

    def test_output_during_the_grace_time_is_kept(self):
        out, _, done = self.run_out("trap 'echo saved; exit 0' TERM; echo start; sleep 60 & wait")
        self.assertEqual((out, done), ("start\nsaved\n", {"type": "done", "exitCode": -1, "timedOut": True}))

    def start_command(self, server, mark, command="setsid sleep 60 & sleep 60"):
        body = json.dumps({"command": command, "env": {MARK: mark}})
        s = server.connect()
        s.sendall(post("/bash", body))
        until(lambda: len(alive(mark)) >= 2, "the command has children")
        return s

    def test_a_client_that_only_stops_sending_gets_its_answer(self):
        body = json.dumps({"command": "sleep 0.5; echo still here"})
        with self.server.connect() as s:
            s.sendall(post("/bash", body))
            s.shutdown(socket.SHUT_WR)
            got = b""
            while chunk := s.recv(4096):
                got += chunk
        self.assertIn(b"still here", got)
        self.assertIn(b'"done"', got)

    def test_too_many_commands(self):
        server = self.start(flags=["--max-commands", "1"])
        with self.start_command(server, "busy"):
            for arguments in ({}, {"background": True}):
                answer = server.call("bash", command="true", **arguments)
                self.assertEqual((answer.status, answer.json()["code"]), (503, "TOO_BUSY"), arguments)
            self.assertEqual(server.failure("run_command", command="true", background=True)[0], "TOO_BUSY")
            self.assertEqual(server.request("GET", "/jobs").json()["result"]["jobs"], [])
        wait_until_gone("busy")
        until(lambda: b'"exitCode":0' in server.call("bash", command="true").body, "there is room again")

    def test_much_output_costs_little_memory(self):
        server = self.start()
        server.call("bash", command="true")
        before = server.rss()
        answer = server.call("bash", command="yes 0123456789012345678901234567890 | head -c 50000000")
        self.assertGreater(len(answer.body), 50000000)
        if not is_sanitized():
            self.assertLess(server.rss() - before, 4096)


if __name__ == "__main__":
    unittest.main()
